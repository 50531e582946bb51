import { describeOpening } from "#api/opening-words.ts";
import type { Opening } from "#api/openings.ts";
import { shortTime } from "#cli/terminal/table.ts";

/** Formats changes by others that gave more people access to a connector or group, as pairs for a record. Only its owner gets them. */
export function openingsOf({
  id,
  openedByOthers,
}: {
  id: string;
  openedByOthers?: readonly Opening[] | undefined;
}): [string, string][] {
  return (openedByOthers ?? []).map((opening) => [
    "opened by others",
    `${shortTime(opening.at)} ${describeOpening(opening, id)}`,
  ]);
}
