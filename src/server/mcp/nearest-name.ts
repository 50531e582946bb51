import { closest } from "#core/edit-distance.ts";

/** No argument's name is half as long. */
const LOOKED_AT_CHARS = 100;

/** The argument whose name begins as this one does, or holds it; else the one that a slip of the keys makes of it. */
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
