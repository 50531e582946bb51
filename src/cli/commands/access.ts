import type { FileAccess } from "#api/files.ts";
import { connect } from "#cli/api.ts";
import { argument, textOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { memberIdsOf } from "#cli/find.ts";
import { makeOutput } from "#cli/output.ts";

/** `kb access explain ITEM`: the chain that grants or refuses, with names where a person reads it. */
export async function explainAccess(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const user = textOption(input, "user");
  const userId = user === undefined ? undefined : (await memberIdsOf(api, [user]))[0];
  const access = await api.get("/api/connectors/files/{fileId}/access", {
    params: { path: { fileId: argument(input, 0) }, query: { userId } },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  const isForPerson = output.format === "table";
  // `user:usr_…` and the like stay what they are; only the id gives way to the name.
  const named = (text: string): string =>
    isForPerson ? text.replace(/\b(?:usr|grp|con)_[a-z0-9]+/g, (id) => access.names[id] ?? id) : text;
  output.result(access, () => {
    output.record([
      ["item", access.title ?? access.kbId],
      ["user", named(access.userId)],
      ["can read it", access.isAllowed ? "yes" : "no"],
      ["because", isForPerson ? REASONS[access.reason] : access.reason.replaceAll("_", " ")],
      ["connector", named(access.connectorId)],
    ]);
    output.table(
      access.lists,
      [
        { title: "list from", value: (list) => list.origin },
        { title: "met", value: (list) => (list.isMet ? "yes" : "no") },
        { title: "names", value: (list) => list.size },
        { title: "through", value: (list) => list.chain?.map(named).join(" > ") ?? "", isFlexible: true },
        { title: "principals", value: (list) => list.principals?.map(named) ?? "", isFlexible: true },
      ],
      "No access list applies.",
    );
  });
}

const REASONS: Record<FileAccess["reason"], string> = {
  allowed: "every access list below lets them in",
  not_a_member: "they are not in this workspace",
  removed: "the item is removed",
  access_unknown: "the source did not say who can read it, so nobody can",
  connector_deleting: "its connector is being deleted",
  permissions_too_old: "its permissions have not been confirmed for too long",
  list_unmet: "an access list below does not let them in",
};
