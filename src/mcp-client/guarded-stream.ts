import type { IncomingMessage } from "node:http";
import { pipeline, Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { McpCaps } from "./caps.ts";
import type { Exchange } from "./exchange.ts";
import { makeJsonGuard } from "./json-guard.ts";
import type { Pace } from "./pace.ts";
import { pacedEvents } from "./paced-events.ts";

/**
 * Makes a response body safe to read: decompresses it, enforces the byte caps, and checks it before a parser sees it. Exceeding a cap fails the
 * exchange, which ends the connection. If there is a pace, events arrive at that pace.
 *
 * @param maxBytes  limit for the body, both as received and decompressed; with `isEndless`, limit for one event
 */
export function guardedBody(
  message: IncomingMessage,
  {
    exchange,
    caps,
    maxBytes,
    isEndless,
    pace,
  }: { exchange: Exchange; caps: McpCaps; maxBytes: number; isEndless: boolean; pace?: Pace },
): ReadableStream<Uint8Array> {
  const isStream = mediaType(message) === "text/event-stream";
  const judge = makeJsonGuard(isStream, {
    depth: caps.depth,
    values: caps.values,
    events: isEndless ? Infinity : caps.events,
    eventBytes: maxBytes,
  });
  const count = (isEnough: (bytes: number) => boolean) =>
    new Transform({
      transform(piece: Uint8Array, _encoding, done) {
        if (isEnough(piece.length)) done(null, piece);
        else done(exchange.fail({ code: "too_large" }));
      },
    });
  const guard = new Transform({
    transform(piece: Uint8Array, _encoding, done) {
      const fault = judge(piece);
      if (fault === undefined) done(null, piece);
      else
        done(exchange.fail({ code: fault === "large" ? "too_large" : fault === "many" ? "too_many" : "bad_answer" }));
    },
  });
  const inflater = inflaterOf(message);
  // The limit is checked twice: for the bytes received over the network, and after decompression. The pace limits an endless stream.
  const stages = [
    message,
    ...(isEndless ? [] : [count(upTo(maxBytes))]),
    ...(inflater ? [inflater] : []),
    ...(inflater && !isEndless ? [count(upTo(maxBytes))] : []),
    guard,
    ...(pace && (isStream || isEndless) ? [pacedEvents({ exchange, pace, isEndless, floodMs: caps.floodMs })] : []),
  ];
  // The last stage is the stream that is read.
  const last = stages.at(-1) ?? guard;
  pipeline(stages, (error) => {
    if (error && exchange.problem === undefined && !exchange.signal.aborted) {
      exchange.fail({ code: inflater && isInflating(error) ? "bad_answer" : "unreachable", cause: error });
    }
  });
  // Node's own bridge between both kinds of streams. It has the type `any`, although the guard passes only bytes.
  return Readable.toWeb(last) as ReadableStream<Uint8Array>;
}

/** Returns the media type without its parameters. */
export function mediaType(message: IncomingMessage): string {
  return (message.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function upTo(maxBytes: number): (bytes: number) => boolean {
  let total = 0;
  return (bytes) => (total += bytes) <= maxBytes;
}

function inflaterOf(message: IncomingMessage): Transform | undefined {
  switch ((message.headers["content-encoding"] ?? "identity").trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return undefined;
  }
}

function isInflating(error: NodeJS.ErrnoException): boolean {
  return /^(Z_|ERR__ERROR_|ERR_BROTLI)/.test(error.code ?? "");
}
