import { unavailable, notFound, shown } from "#sources/errors.ts";
import { ApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import type { ImapConfig } from "./config.ts";
import { parseId } from "./folders.ts";
import { type ImapSession, openSession } from "./session.ts";

type Context = SourceContext<ImapConfig>;

/** A connection that reads messages one after another. */
interface Reading {
  session?: Promise<ImapSession>;
  folder?: string;
  uidValidity?: number;
  /** Resolves when the previous request has finished. */
  turn: Promise<unknown>;
  idle?: NodeJS.Timeout;
}

/**
 * The time for which an idle connection stays open between two messages. No server closes a connection within half an
 * hour.
 */
const IDLE_MS = 5_000;

/**
 * Makes a reader of messages that uses one connection for all calls of one run. Contexts of one run have the same
 * connector object. Another run, which can have other credentials, has another one.
 */
export function makeMailReader() {
  const readings = new WeakMap<object, Reading>();

  async function read(ctx: Context, { externalId, from }: Part, reading: Reading): Promise<Buffer> {
    const place = parseId(externalId);
    if (place === undefined) throw noMessage(externalId);
    clearTimeout(reading.idle);
    try {
      // The session outlives the call that opens it.
      reading.session ??= openSession(ctx, new AbortController().signal);
      const session = await orAborted(reading.session, ctx.signal);
      if (reading.folder !== place.folder) {
        delete reading.folder;
        const opened = await orAborted(session.examine(place.folder), ctx.signal);
        if (opened === undefined) {
          throw unavailable(`${ctx.config.host} can't open this folder now.`);
        }
        reading.folder = place.folder;
        reading.uidValidity = opened.uidValidity;
      }
      if (reading.uidValidity !== place.uidValidity) throw noMessage(externalId);
      const limits = { maxLiteral: PART_BYTES, maxBytes: PART_BYTES + 1024 * 1024 };
      const items = `(UID BODY.PEEK[]<${from}.${PART_BYTES}>)`;
      const found = await orAborted(session.fetch(String(place.uid), items, limits), ctx.signal);
      const values = found.find(({ uid }) => uid === place.uid)?.values ?? new Map();
      const body = [...values].find(([name]) => name.startsWith("BODY["))?.[1];
      if (!(body instanceof Buffer)) throw noMessage(externalId);
      if (from + body.length > maxFileBytes(ctx.config))
        throw new ApiError("payload_too_large", { message: "The message is larger than the connector's limit." });
      return body;
    } catch (error) {
      const isOfMessage =
        error instanceof ApiError && (error.code === "source_not_found" || error.code === "payload_too_large");
      if (!isOfMessage) end(reading);
      throw error;
    } finally {
      reading.idle = setTimeout(() => end(reading), IDLE_MS);
      reading.idle.unref();
    }
  }

  function readPart(ctx: Context, part: Part): Promise<Buffer> {
    const reading = readings.get(ctx.connector) ?? { turn: Promise.resolve() };
    readings.set(ctx.connector, reading);
    const result = reading.turn.then(() => read(ctx, part, reading));
    reading.turn = result.catch(() => undefined);
    return result;
  }

  async function* goOn(ctx: Context, externalId: string, first: Buffer): AsyncGenerator<Buffer, void> {
    yield first;
    for (let from = first.length; ;) {
      const part = await readPart(ctx, { externalId, from });
      if (part.length > 0) yield part;
      from += part.length;
      if (part.length < PART_BYTES) return;
    }
  }

  /**
   * Returns the message in one piece, or in several pieces if it is large, which is safe because a message never
   * changes.
   */
  return async (ctx: Context, externalId: string): Promise<{ bytes: Buffer } | { stream: AsyncIterable<Buffer> }> => {
    const first = await readPart(ctx, { externalId, from: 0 });
    return first.length < PART_BYTES ? { bytes: first } : { stream: goOn(ctx, externalId, first) };
  };
}

/** The number of bytes of a message in one request. */
const PART_BYTES = 4 * 1024 * 1024;

interface Part {
  externalId: string;
  /** The position of the first byte. */
  from: number;
}

function end(reading: Reading): void {
  clearTimeout(reading.idle);
  void reading.session?.then((session) => session.close()).catch(() => undefined);
  delete reading.session;
  delete reading.folder;
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function noMessage(externalId: string): ApiError {
  return notFound(`This mailbox has no message ${shown(externalId)}.`);
}
