import { describeOpening } from "#api/opening-words.ts";
import type { Opening } from "#api/openings.ts";
import { shortTime } from "#cli/terminal/table.ts";

/** Changes by others that opened a connector or group, as pairs for a record; only its owner gets it. */
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
