/** Limits of a JSON text, or of a stream of events that each contain one. */
export interface GuardLimits {
  depth: number;
  values: number;
  /** Number of events in a stream. */
  events: number;
  /** Size of one event in bytes. */
  eventBytes: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Checks the bytes of JSON before a parser does, because 24 MB of opening brackets, or of empty objects, need 40 times as much memory as values.
 * Returns, for each chunk as it arrives, the exceeded limit or undefined.
 */
export function makeJsonGuard(
  isStream: boolean,
  limits: GuardLimits,
): (piece: Uint8Array) => "deep" | "many" | "large" | undefined {
  let depth = 0;
  let values = 0;
  let events = 0;
  let eventBytes = 0;
  let isInString = false;
  let isEscaped = false;
  let isLineEmpty = true;
  let isAfterReturn = false;

  function endLine(): boolean {
    isInString = false;
    isEscaped = false;
    const endsEvent = isLineEmpty;
    isLineEmpty = true;
    if (!endsEvent) return true;
    depth = 0;
    values = 0;
    if (eventBytes > 2) events++;
    eventBytes = 0;
    return events <= limits.events;
  }

  return (piece) => {
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at];
      if (isStream) {
        if (++eventBytes > limits.eventBytes) return "large";
        if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
          // A CR and the LF after it are one line break.
          const isSecondHalf = byte === LINE_FEED && isAfterReturn;
          isAfterReturn = byte === CARRIAGE_RETURN;
          if (!isSecondHalf && !endLine()) return "many";
          continue;
        }
        isAfterReturn = false;
        isLineEmpty = false;
      }
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInString = false;
        continue;
      }
      if (byte === QUOTE) isInString = true;
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        values++;
        if (++depth > limits.depth) return "deep";
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--;
      else if (byte === COMMA) values++;
      else continue;
      if (values > limits.values) return "many";
    }
    return undefined;
  };
}
