import { closest } from "#core/edit-distance.ts";

/** The number of characters that are compared. No argument's name is half as long. */
const LOOKED_AT_CHARS = 100;

/**
 * Returns the known argument whose name starts with this name, contains it or is contained in it; else the closest one
 * by spelling.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const asked = name
    .slice(0, LOOKED_AT_CHARS)
    .toLowerCase()
    .replace(/[^a-z]/g, "");
  if (asked.length < 3) return undefined;
  const alike = known.find((one) => {
    const own = one.toLowerCase();
    return own.startsWith(asked.slice(0, 4)) || asked.includes(own) || own.includes(asked);
  });
  return alike ?? closest(asked, known, Math.floor(asked.length / 3));
}
