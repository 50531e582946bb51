import type { Connector } from "./connector-records.ts";
import { plural } from "./plural.ts";

/** Describes what happens to items that an older reader has read; undefined if there are none, or if the server is too old to report them. */
export function describeReadAgain({
  isPushed,
  counts: { toReadAgain = 0 },
}: Pick<Connector, "isPushed"> & { counts: Partial<Pick<Connector["counts"], "toReadAgain">> }): string | undefined {
  if (toReadAgain === 0) return undefined;
  const items = plural(toReadAgain, "item");
  if (isPushed)
    return `This version of kb reads ${items} better than the version they were pushed to. Push them again.`;
  return `Reading items again that an earlier version of kb read: ${items} left. Until then, searches find their earlier text.`;
}
