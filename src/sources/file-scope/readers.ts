import { z } from "zod";
import { formatPrincipal, type Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";

const Reader = z.string().regex(/^(workspace|grp_[a-z0-9]+)$/, "Give workspace, or the ID of a group (grp_…).");

/**
 * Builds the `readers` key of a config: who may read the items of a source that mirrors no permissions. `what` is the
 * name of its items.
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

/**
 * Returns the group that every item names. Its members are reported separately, so that a change of the readers is a
 * single change.
 */
export function readersGroup(connectorId: string): Principal {
  return formatPrincipal({ type: "source_group", connectorId, id: "readers" });
}

/** Returns the principals in the config. */
function readersOf({ readers }: { readers: readonly string[] }): Principal[] {
  return readers.map((reader) =>
    reader === "workspace" ? "workspace" : formatPrincipal({ type: "group", groupId: reader }),
  );
}

/** Returns the principals in the config, as members of the items' group. */
export function namedReaders(
  config: { readers: readonly string[] },
  connectorId: string,
): { group: Principal; members: Principal[] } {
  return { group: readersGroup(connectorId), members: readersOf(config) };
}

/**
 * Reports the group of the items with its members in every run. The config lists the members, so no request is needed.
 */
export async function* reportReaders(
  ctx: SourceContext<{ readers: readonly string[] }>,
): ReturnType<NonNullable<Source["syncIdentities"]>> {
  yield { t: "group", ...namedReaders(ctx.config, ctx.connector.id) };
  yield { t: "end", listing: "complete" };
}
