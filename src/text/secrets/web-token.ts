/** Finds where a JSON Web Token ends: header, payload and signature in base64url, with a dot between. */
export type WebTokenFinder = (after: number) => number | undefined;

const MIN_LETTERS = 10;
const MAX_LETTERS = 8000;
const MIN_SIGNATURE = 16;
const MAX_SIGNATURE = 2000;
const HEAD = "eyJ";

/**
 * Finds tokens in one text. A run of letters has the same end for all tokens that may begin in it, so each run is scanned once. Scanning from each
 * beginning took 10 s per MB for 8,000 letters of `-eyJ-eyJ`. Call it with ascending positions.
 */
export function makeWebTokenFinder(text: string): WebTokenFinder {
  const endOfHeader = makeRunEnds(text);
  const endOfPayload = makeRunEnds(text);
  const endOfSignature = makeRunEnds(text);

  function nextPart(end: number): number | undefined {
    return text.startsWith(`.${HEAD}`, end) ? end + 1 + HEAD.length : undefined;
  }

  return (after) => {
    const header = endOfHeader(after);
    const payloadStart = isBetween(header - after, MIN_LETTERS, MAX_LETTERS) ? nextPart(header) : undefined;
    if (payloadStart === undefined) return undefined;
    const payload = endOfPayload(payloadStart);
    if (!isBetween(payload - payloadStart, MIN_LETTERS, MAX_LETTERS) || text[payload] !== ".") return undefined;
    const signature = endOfSignature(payload + 1);
    if (signature - payload - 1 < MIN_SIGNATURE) return undefined;
    return Math.min(signature, payload + 1 + MAX_SIGNATURE);
  };
}

/** Finds the end of the run of base64url around a position; a `_` may be escaped. Each run is scanned once. */
function makeRunEnds(text: string): (from: number) => number {
  let [start, end] = [0, -1];
  return (from) => {
    if (from >= start && from <= end) return end;
    start = from;
    end = from;
    while (isLetter(text.charCodeAt(end)) || (text[end] === "\\" && text[end + 1] === "_")) end++;
    return end;
  };
}

function isLetter(unit: number): boolean {
  return (
    (unit >= 0x61 && unit <= 0x7a) ||
    (unit >= 0x41 && unit <= 0x5a) ||
    (unit >= 0x30 && unit <= 0x39) ||
    unit === 0x2d ||
    unit === 0x5f
  );
}

function isBetween(chars: number, min: number, max: number): boolean {
  return chars >= min && chars <= max;
}
