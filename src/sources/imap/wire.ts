import { unavailable } from "#sources/errors.ts";
import type { Duplex } from "node:stream";
import { ApiError } from "#api/errors.ts";

/** A token of a response: an atom, a string of bytes (quoted or literal), NIL, or a list of tokens. */
export type Token = string | Buffer | null | Token[];

export interface Answer {
  /** `*`, `+`, or the tag of a command. */
  tag: string;
  /** The first line as text, without the tag. */
  text: string;
  tokens(): Token[];
}

export interface WireLimits {
  /** The most bytes of a string. */
  maxLiteral: number;
  /** The most bytes of all responses to one command. */
  maxBytes: number;
}

interface Segment {
  text: string;
  literal?: Buffer;
}

/** The most responses to one command. */
const MAX_ANSWERS = 50_000;
const MAX_DEPTH = 24;
/**
 * The most tokens of one response. Each address of a message takes some ten tokens, and a message can have thousands of
 * addresses.
 */
const MAX_TOKENS = 500_000;
const IDLE_MS = 30_000;

/** Reads the responses of a server one by one. A size that the server announces is refused if it exceeds the limits. */
export function makeReader(socket: Duplex, host: string) {
  // A socket without an encoding yields Buffers.
  const pieces = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let pending: Buffer = Buffer.alloc(0);
  let left = 0;
  let answers = 0;

  async function more(): Promise<Buffer> {
    const timer = setTimeout(() => void socket.destroy(new Error("silent")), IDLE_MS);
    try {
      const { done, value } = await pieces.next();
      if (done === true) throw broken(host);
      left -= value.length;
      if (left < 0) throw tooMuch(host);
      return value;
    } finally {
      clearTimeout(timer);
    }
  }

  async function line(): Promise<string> {
    const parts: Buffer[] = [];
    for (;;) {
      const end = pending.indexOf(0x0a);
      if (end !== -1) {
        parts.push(pending.subarray(0, end));
        pending = pending.subarray(end + 1);
        return Buffer.concat(parts).toString("latin1").replace(/\r$/, "");
      }
      parts.push(pending);
      pending = await more();
    }
  }

  async function literal(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      if (pending.length === 0) pending = await more();
      const part = pending.subarray(0, missing);
      pending = pending.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    return Buffer.concat(parts);
  }

  return {
    /** Sets the byte limit before each command. */
    allow({ maxBytes }: WireLimits) {
      left = maxBytes;
      answers = 0;
    },
    async next({ maxLiteral }: WireLimits): Promise<Answer> {
      if (++answers > MAX_ANSWERS) throw tooMuch(host);
      const segments: Segment[] = [];
      for (;;) {
        const text = await line();
        const size = /\{(\d{1,10})\+?\}$/.exec(text);
        if (size === null) {
          segments.push({ text });
          break;
        }
        const length = Number(size[1]);
        if (length > maxLiteral) throw tooMuch(host);
        segments.push({ text: text.slice(0, size.index), literal: await literal(length) });
      }
      const first = segments[0]?.text ?? "";
      const space = first.indexOf(" ");
      const tag = space === -1 ? first : first.slice(0, space);
      const [head, ...rest] = segments;
      const after = { ...head, text: space === -1 ? "" : first.slice(space + 1) };
      return { tag, text: after.text, tokens: () => parse([after, ...rest], host) };
    },
  };
}

/** Parses a response. @throws ApiError `source_unavailable` if it isn't a response of IMAP */
function parse(segments: readonly Segment[], host: string): Token[] {
  const top: Token[] = [];
  const open: Token[][] = [top];
  let tokens = 0;
  const add = (token: Token) => {
    if (++tokens > MAX_TOKENS) throw tooMuch(host);
    open.at(-1)?.push(token);
  };
  for (const { text, literal } of segments) {
    for (let at = 0; at < text.length;) {
      const c = text[at];
      if (c === " ") at += 1;
      else if (c === "(") {
        if (open.length > MAX_DEPTH) throw tooMuch(host);
        const list: Token[] = [];
        add(list);
        open.push(list);
        at += 1;
      } else if (c === ")") {
        if (open.length > 1) open.pop();
        at += 1;
      } else if (c === '"') {
        const quoted = QUOTED.exec(((QUOTED.lastIndex = at), text));
        if (quoted === null) throw unavailable(`${host} isn't answering as an IMAP server.`);
        add(Buffer.from((quoted[1] ?? "").replace(/\\(.)/gs, "$1"), "latin1"));
        at += quoted[0].length;
      } else {
        const atom = ATOM.exec(((ATOM.lastIndex = at), text))?.[0] ?? c ?? "";
        add(atom === "NIL" ? null : atom);
        at += atom.length;
      }
    }
    if (literal !== undefined) add(literal);
  }
  return top;
}

const QUOTED = /"([^"\\]*(?:\\.[^"\\]*)*)"/sy;
const ATOM = /[^ ()"]+/y;

export function broken(host: string, cause?: unknown): ApiError {
  return new ApiError("source_unavailable", { message: `The connection to ${host} broke.`, cause });
}

function tooMuch(host: string): ApiError {
  return unavailable(`${host} sent a larger response than kb reads.`);
}
