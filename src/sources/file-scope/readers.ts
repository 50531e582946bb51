import { z } from "zod";
import { formatPrincipal, type Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";

const Reader = z.string().regex(/^(workspace|grp_[a-z0-9]+)$/, "Give workspace, or the ID of a group (grp_…).");

/**
 * The `readers` of a config: who may read the items of a source that mirrors no permissions. `what` names its items.
 */
export function readersKey(what: string) {
  return z
    .array(Reader)
    .min(1)
    .max(100)
    .default(["workspace"])
    .meta({
      title: "Readers",
      description: `Who can read the ${what}: workspace, or IDs of groups (grp_…). The connector's visibility limits it further.`,
    });
}

/** The one group that every item names: its members are reported separately, so that other readers are one change. */
export function readersGroup(connectorId: string): Principal {
  return formatPrincipal({ type: "source_group", connectorId, id: "readers" });
}

/** The principals in the config. */
function readersOf({ readers }: { readers: readonly string[] }): Principal[] {
  return readers.map((reader) =>
    reader === "workspace" ? "workspace" : formatPrincipal({ type: "group", groupId: reader }),
  );
}

/** The principals in the config, as members of the one group. */
export function namedReaders(
  config: { readers: readonly string[] },
  connectorId: string,
): { group: Principal; members: Principal[] } {
  return { group: readersGroup(connectorId), members: readersOf(config) };
}

/** The config lists the members of the one group: it is reported in full in every run, without a request. */
export async function* reportReaders(
  ctx: SourceContext<{ readers: readonly string[] }>,
): ReturnType<NonNullable<Source["syncIdentities"]>> {
  yield { t: "group", ...namedReaders(ctx.config, ctx.connector.id) };
  yield { t: "end", listing: "complete" };
}
