/**
 * Returns values of a JSON text as they were written. `JSON.parse` turns 9223372036854775807 into 9223372036854776000,
 * and a response with another id than the request's reaches no one. All texts here are ones that `JSON.parse` accepted.
 */

/**
 * Returns the text of an object's member; undefined when there is no member of that name. If the name occurs twice, the
 * last member wins, as for `JSON.parse`.
 */
export function memberText(object: string, name: string): string | undefined {
  for (const segment of segmentsOf(object).toReversed()) {
    const key = segment.trim();
    const end = endOfString(key, 0) + 1;
    if (key.startsWith('"') && JSON.parse(key.slice(0, end)) === name)
      return key.slice(key.indexOf(":", end) + 1).trim();
  }
  return undefined;
}

/** Returns the texts of an array's elements. */
export function elementTexts(list: string): string[] {
  return segmentsOf(list).map((segment) => segment.trim());
}

/**
 * Returns the text of a member whose value was read as `value`. If a number can't represent its digits, returns them as
 * they were written.
 */
export function exactText(value: string | number, object: string, name: string): string {
  const isExact = typeof value === "string" || Number.isSafeInteger(value);
  return (isExact ? undefined : memberText(object, name)) ?? JSON.stringify(value);
}

/** Returns a JSON-RPC message with this id (JSON text) and the members of `rest`, which must have at least one. */
export function rpcText(id: string, rest: object): string {
  return `{"jsonrpc":"2.0","id":${id},${JSON.stringify(rest).slice(1)}`;
}

/** Returns the texts between the commas of the outermost bracket. */
function segmentsOf(json: string): string[] {
  const segments: string[] = [];
  let [depth, start] = [0, 0];
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case '"':
        at = endOfString(json, at);
        break;
      case "{":
      case "[":
        if (++depth === 1) start = at + 1;
        break;
      case "}":
      case "]":
        if (--depth === 0) segments.push(json.slice(start, at));
        break;
      case ",":
        if (depth !== 1) break;
        segments.push(json.slice(start, at));
        start = at + 1;
        break;
    }
  }
  return segments;
}

/** Returns the position of the quote that ends the string, or the end of the text. */
export function endOfString(text: string, opening: number): number {
  let at = opening + 1;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at;
    at += unit === BACKSLASH ? 2 : 1;
  }
  return at;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
