import { Transform } from "node:stream";
import type { Exchange } from "./exchange.ts";
import type { Pace } from "./pace.ts";

/** Events of a response that cost nothing: one is the response itself, and some servers send an empty event first. */
const FREE_EVENTS = 4;
/** In a notification stream, this many bytes count as one more event. */
const EVENT_BYTES = 2_048;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Passes on a stream of events at its session's pace, and reads no faster. The library needs 0.2 to 0.4 ms for a notification, so 3,400 of them
 * before one response block this thread for a second.
 *
 * @param floodMs  how long a notification stream may exceed the pace before the exchange fails with `too_many`
 */
export function pacedEvents({
  exchange,
  pace,
  isEndless,
  floodMs,
}: {
  exchange: Exchange;
  pace: Pace;
  isEndless: boolean;
  floodMs: number;
}): Transform {
  const endsIn = makeEventEnds();
  let free = isEndless ? 0 : FREE_EVENTS;

  async function waitFor(bytes: number, isEnd: boolean): Promise<void> {
    const isFree = isEnd && free > 0;
    if (isFree) free--;
    const cost = (isEnd && !isFree ? 1 : 0) + (isEndless ? bytes / EVENT_BYTES : 0);
    if (cost > 0) await pace.take(cost, exchange.signal);
    if (isEndless && pace.busyMs() > floodMs) throw exchange.fail({ code: "too_many" });
  }

  async function passOn(piece: Uint8Array, push: (piece: Uint8Array) => void): Promise<void> {
    let start = 0;
    for (const end of endsIn(piece)) {
      await waitFor(end - start, true);
      push(piece.subarray(start, end));
      start = end;
    }
    if (start === piece.length) return;
    await waitFor(piece.length - start, false);
    push(piece.subarray(start));
  }

  return new Transform({
    transform(piece: Uint8Array, _encoding, end) {
      passOn(piece, (part) => this.push(part)).then(() => end(), end);
    },
  });
}

/** Finds where events end in the chunks of a stream: at each empty line that follows a line with content. */
function makeEventEnds(): (piece: Uint8Array) => number[] {
  let isLineEmpty = true;
  let hasLine = false;
  let isAfterReturn = false;
  return (piece) => {
    const ends: number[] = [];
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at];
      const isSecondHalf = byte === LINE_FEED && isAfterReturn;
      isAfterReturn = byte === CARRIAGE_RETURN;
      if (isSecondHalf) continue;
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) isLineEmpty = false;
      else if (!isLineEmpty) [isLineEmpty, hasLine] = [true, true];
      else if (hasLine) {
        hasLine = false;
        ends.push(at + 1);
      }
    }
    return ends;
  };
}
