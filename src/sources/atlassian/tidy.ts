import { isWhite } from "#api/pictures.ts";
import { textOf } from "#api/visible.ts";

const LINE_FEED = 0x0a;

/**
 * Removes white space at line ends, and all but one of consecutive empty lines. Takes one pass, regardless of the
 * number of lines. Source: S67.
 */
export function tidy(text: string): string {
  const units = new Uint16Array(text.length);
  let [length, breaks] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === LINE_FEED) {
      while (length > 0 && units[length - 1] !== LINE_FEED && isWhite(units[length - 1] ?? 0)) length--;
      if (breaks++ < 2) units[length++] = unit;
      continue;
    }
    units[length++] = unit;
    if (!isWhite(unit)) breaks = 0;
  }
  return textOf(units.subarray(0, length)).trim();
}
