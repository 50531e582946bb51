import type { FileAccess } from "#api/files.ts";
import { route, type Noun } from "#cli/line/command.ts";
import { ITEM, memberIdOf } from "#cli/records/find.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";
import { flexible } from "#cli/terminal/table.ts";

const REASONS: Record<FileAccess["reason"], string> = {
  allowed: "every access list below lets them in",
  not_a_member: "they are not in this workspace",
  removed: "the item is removed",
  access_unknown: "the source did not say who can read it, so no one can",
  connector_deleting: "its connector is being deleted",
  permissions_too_old: "its permissions have not been confirmed for too long",
  list_unmet: "an access list below does not let them in",
};

export const access: Noun = {
  summary: "Who can see what, and why.",
  verbs: {
    /** `kb access explain ITEM`: shows the chain that grants or denies access, with the names of people. */
    explain: remoteCommand(
      {
        summary: "Explain why someone can or can't see an item.",
        of: ITEM,
        options: { "--user <member>": "explain it for another member: id, email or name (admins only)" },
        examples: ["kb access explain kbi_2345abcd2345abcd"],
        call: route("get", "/api/connectors/files/{fileId}/access"),
      },
      async ({ api, output, options, send }) => {
        const access = await send({ query: { userId: await memberIdOf(api, options.user) } });
        const isForPerson = output.format === "table";
        // The kind in forms such as `user:usr_…` is kept; only the id is replaced with the name.
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
            {
              "list from": "origin",
              met: ({ isMet }) => (isMet ? "yes" : "no"),
              names: "size",
              through: flexible(({ chain }) => chain?.map(named).join(" > ") ?? ""),
              principals: flexible(({ principals }) => principals?.map(named) ?? ""),
            },
            "No access list applies.",
          );
        });
      },
    ),
  },
};
