import { unavailable } from "#sources/errors.ts";
import { ApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SourceSocket } from "#sources/http-contract.ts";
import { halfRead } from "#sources/listed.ts";
import type { ImapConfig } from "./config.ts";
import { type Answer, broken, makeReader, type Token, type WireLimits } from "./wire.ts";

/** The result of a command. */
interface Ended {
  status: "OK" | "NO" | "BAD";
  /** The response code in capitals; empty if there is none. */
  code: string;
}

export interface Selected {
  uidValidity: number;
  exists: number;
}

export interface Listed {
  /** The name as the server writes it. */
  name: string;
  delimiter: string;
  /** The attributes in lower case. */
  attributes: ReadonlySet<string>;
}

export interface Fetched {
  uid: number;
  /** The values, by their names in capitals. */
  values: ReadonlyMap<string, Token>;
}

/**
 * A signed-in connection. It only reads: folders are opened read-only with EXAMINE, and no message is marked as seen.
 */
export interface ImapSession {
  readonly capabilities: ReadonlySet<string>;
  list(): Promise<Listed[]>;
  /** Opens a folder; undefined if the server doesn't open it. */
  examine(name: string): Promise<Selected | undefined>;
  /** Searches the folder that was opened last. */
  search(criteria: string): Promise<number[]>;
  /**
   * Returns one entry for each message that was reported with its number. An entry contains all of the message's
   * values, which a server may send in several responses.
   */
  fetch(uids: string, items: string, limits?: Partial<WireLimits>): Promise<Fetched[]>;
  close(): void;
}

const LIMITS: WireLimits = { maxLiteral: 256 * 1024, maxBytes: 64 * 1024 * 1024 };
/** Limits for a search, which allow two million numbers. */
const SEARCHING: WireLimits = { maxLiteral: 0, maxBytes: 16 * 1024 * 1024 };
const MAX_FOLDERS = 10_000;
/** The time limit for one command with all its responses. */
const COMMAND_MS = 600_000;

/**
 * Opens a connection and signs in.
 * @throws ApiError `source_unauthorized`, `source_rate_limited`, `source_unavailable`, `address_not_allowed`
 */
export async function openSession(
  { config, connect }: Pick<SourceContext<ImapConfig>, "config" | "connect">,
  signal: AbortSignal,
): Promise<ImapSession> {
  const { host } = config;
  if (connect === undefined) throw new Error("There is no way to a mail server here.");
  const socket = await connect(host, config.port, config.tls, signal);
  // The reader gets the error.
  socket.on("error", () => undefined);
  try {
    return await signIn(socket, host, signal);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function signIn(socket: SourceSocket, host: string, signal: AbortSignal): Promise<ImapSession> {
  const reader = makeReader(socket, host);
  let commands = 0;
  /** The number of messages in the folder that was opened last. */
  let messages = 0;

  async function searchFor(criteria: string): Promise<number[] | undefined> {
    let found: number[] | undefined;
    const ended = await run(`UID SEARCH ${criteria}`, undefined, {
      limits: SEARCHING,
      onAnswer({ text }) {
        if (!/^SEARCH\b/i.test(text)) return;
        found ??= [];
        for (const [digits] of text.slice("SEARCH".length).matchAll(/(?<= )[1-9]\d{0,9}(?= |$)/g))
          found.push(Number(digits));
      },
    });
    requireOk(ended, host);
    return found;
  }

  /** Sends a command and passes on the untagged responses. The tagged response ends the command. */
  async function ask(
    send: (tag: string) => Promise<void> | void,
    {
      onAnswer,
      onGoOn,
      limits = LIMITS,
    }: { onAnswer?: (answer: Answer) => void; onGoOn?: () => Promise<void> | void; limits?: WireLimits } = {},
  ): Promise<Ended> {
    const tag = `k${++commands}`;
    reader.allow(limits);
    const deadline = setTimeout(() => void socket.destroy(new Error("too slow")), COMMAND_MS);
    try {
      await send(tag);
      for (;;) {
        const answer = await reader.next(limits);
        if (answer.tag === tag) return endOf(answer, host);
        if (answer.tag === "+") await onGoOn?.();
        else if (/^BYE\b/i.test(answer.text)) throw broken(host);
        else if (answer.tag === "*") onAnswer?.(answer);
        else throw unavailable(`${host} isn't answering as an IMAP server.`);
      }
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      throw error instanceof ApiError ? error : broken(host, error);
    } finally {
      clearTimeout(deadline);
    }
  }

  /**
   * Runs a command. A name that can't be written as a quoted string is sent as a literal, so that nothing in it is ever
   * read as a command.
   */
  function run(command: string, name: string | undefined, options: Parameters<typeof ask>[1] = {}): Promise<Ended> {
    const isPlain = name === undefined || /^[\x20-\x7e]*$/.test(name);
    const bytes = Buffer.from(name ?? "", "latin1");
    const argument = name === undefined ? "" : isPlain ? ` "${name.replace(/["\\]/g, "\\$&")}"` : ` {${bytes.length}}`;
    const onGoOn = isPlain ? undefined : () => void socket.write(Buffer.concat([bytes, Buffer.from("\r\n")]));
    return ask((tag) => void socket.write(`${tag} ${command}${argument}\r\n`), {
      ...options,
      ...(onGoOn && { onGoOn }),
    });
  }

  async function capabilitiesOf(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    await run("CAPABILITY", undefined, {
      onAnswer({ text }) {
        const [kind = "", ...names] = text.toUpperCase().split(" ");
        if (kind === "CAPABILITY") for (const name of names) found.add(name);
      },
    });
    return found;
  }

  reader.allow(LIMITS);
  const greeting = await reader.next(LIMITS).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error instanceof ApiError ? error : broken(host, error);
  });
  if (!/^OK\b/i.test(greeting.text) || greeting.tag !== "*") {
    throw unavailable(`${host} isn't answering as an IMAP server.`);
  }
  const before = await capabilitiesOf();
  const login = await signInBy(socket, before, ask, host);
  if (login.status !== "OK") throw refusedLogin(login, host);
  const capabilities = await capabilitiesOf();

  return {
    capabilities,
    async list() {
      const found: Listed[] = [];
      const isExtended = capabilities.has("LIST-EXTENDED") && capabilities.has("SPECIAL-USE");
      const ended = await run(`LIST "" "*"${isExtended ? " RETURN (SPECIAL-USE)" : ""}`, undefined, {
        onAnswer(answer) {
          const [kind, attributes, delimiter, name] = answer.tokens();
          if (kind !== "LIST" || !Array.isArray(attributes) || name === undefined || name === null) return;
          found.push({
            name: textOf(name),
            delimiter: delimiter instanceof Buffer ? textOf(delimiter) : "",
            attributes: new Set(attributes.map((each) => textOf(each).toLowerCase())),
          });
          if (found.length > MAX_FOLDERS) throw unavailable(`${host} has more than ${MAX_FOLDERS} folders.`);
        },
      });
      requireOk(ended, host);
      return found;
    },
    async examine(name) {
      let uidValidity: number | undefined;
      let exists = 0;
      const ended = await run("EXAMINE", name, {
        onAnswer({ text }) {
          uidValidity = numberIn(/^OK \[UIDVALIDITY (\d{1,10})\]/i, text) ?? uidValidity;
          exists = numberIn(/^(\d{1,10}) EXISTS$/i, text) ?? exists;
        },
      });
      messages = exists;
      return ended.status === "OK" && uidValidity !== undefined ? { uidValidity, exists } : undefined;
    },
    async search(criteria) {
      const found = await searchFor(criteria);
      // Some servers send no response if they find nothing. In a folder with messages, a missing response is accepted
      // only if the server answers a search for all messages.
      if (found === undefined && messages > 0 && (await searchFor("ALL")) === undefined) {
        throw ofFolder(`${host} doesn't answer a search.`);
      }
      return [...new Set(found)].sort((a, b) => a - b);
    },
    async fetch(uids, items, limits = {}) {
      const found = new Map<number, Map<string, Token>>();
      const ended = await run(`UID FETCH ${uids} ${items}`, undefined, {
        limits: { ...LIMITS, ...limits },
        onAnswer(answer) {
          const [, kind, list] = /^\d+ FETCH\b/i.test(answer.text) ? answer.tokens() : [];
          if (kind === undefined || !Array.isArray(list)) return;
          const values = new Map<string, Token>();
          for (let i = 0; i + 1 < list.length; i += 2)
            values.set(textOf(list[i] ?? "").toUpperCase(), list[i + 1] ?? null);
          const uid = Number(values.get("UID"));
          // A server may send flags for any message at any time.
          if (Number.isInteger(uid) && uid > 0) found.set(uid, new Map([...(found.get(uid) ?? []), ...values]));
        },
      });
      requireOk(ended, host);
      return [...found].map(([uid, values]) => ({ uid, values }));
    },
    close() {
      socket.end(`k${++commands} LOGOUT\r\n`, () => socket.destroy());
    },
  };
}

type Ask = (
  send: (tag: string) => Promise<void> | void,
  options?: { onGoOn?: () => Promise<void> | void },
) => Promise<Ended>;

/** Signs in. The connection itself writes the credential. */
function signInBy(socket: SourceSocket, capabilities: ReadonlySet<string>, ask: Ask, host: string): Promise<Ended> {
  if (capabilities.has("AUTH=PLAIN")) {
    if (capabilities.has("SASL-IR")) return ask((tag) => socket.authenticate("plain", `${tag} AUTHENTICATE PLAIN `));
    return ask((tag) => void socket.write(`${tag} AUTHENTICATE PLAIN\r\n`), {
      onGoOn: () => socket.authenticate("plain"),
    });
  }
  if (!capabilities.has("LOGINDISABLED")) return ask((tag) => socket.authenticate("login", `${tag} LOGIN `));
  throw new ApiError("source_unavailable", {
    message: `${host} doesn't accept passwords.`,
    hint: "Check whether IMAP with passwords is turned on for the mailbox. Microsoft 365 has turned it off.",
  });
}

function endOf({ text }: Answer, host: string): Ended {
  const [, status, code = ""] = /^(OK|NO|BAD)\b(?: \[([A-Za-z-]{1,40})[ \]])?/i.exec(text) ?? [];
  if (status === undefined) throw unavailable(`${host} isn't answering as an IMAP server.`);
  const isBusy = (code === "" || /^alert$/i.test(code)) && /too many|try again|temporar|rate limit|throttl/i.test(text);
  // The server's own text is never repeated.
  return {
    status: status.toUpperCase() as Ended["status"],
    code: isBusy ? "LIMIT" : code.toUpperCase(),
  };
}

function refusedLogin({ status, code }: Ended, host: string): ApiError {
  if (code === "LIMIT" || code === "INUSE") {
    const retryAfterMs = 60_000;
    return new ApiError("source_rate_limited", {
      message: `${host} is refusing all sign-ins right now.`,
      retryAfterMs,
    });
  }
  if (status === "BAD" || TEMPORARY.has(code)) {
    return unavailable(`${host} can't sign anyone in right now (${code || status}).`);
  }
  return new ApiError("source_unauthorized", {
    message: `${host} does not accept this user name and password.`,
    hint: "Check them. Gmail, iCloud, Fastmail and Yahoo need an app password.",
    field: "credentials",
  });
}

const TEMPORARY: ReadonlySet<string> = new Set(["UNAVAILABLE", "SERVERBUG", "CONTACTADMIN", "OVERQUOTA"]);

function requireOk({ status, code }: Ended, host: string): void {
  if (status === "OK") return;
  if (code === "LIMIT") {
    throw new ApiError("source_rate_limited", { message: `${host} answers too many requests.`, retryAfterMs: 60_000 });
  }
  throw ofFolder(`${host} refused an IMAP command (${code || status}).`);
}

/** Builds the error for the open folder when the connection itself works. */
export function ofFolder(message: string): ApiError {
  return halfRead(message);
}

function numberIn(pattern: RegExp, text: string): number | undefined {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns the unchanged bytes, with one character for each byte. */
export function textOf(token: Token): string {
  return token instanceof Buffer ? token.toString("latin1") : typeof token === "string" ? token : "";
}
