import { connect } from "#cli/api.ts";
import { argument, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { makeOutput } from "#cli/output.ts";
import { confirmed } from "#cli/confirm.ts";

/** `kb grants list` */
export async function listGrants(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const grants = await api.list("/api/grants", "grants");
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result({ grants, nextCursor: null }, () =>
    output.table(
      grants,
      [
        { title: "id", value: (grant) => grant.id },
        { title: "client", value: (grant) => grant.clientName, isFlexible: true },
        { title: "place", value: (grant) => grant.place, isFlexible: true },
        { title: "scopes", value: (grant) => grant.scopes },
        { title: "since", value: (grant) => grant.createdAt.slice(0, 10) },
        { title: "last used", value: (grant) => grant.lastUsedAt?.slice(0, 10) ?? "never" },
        { title: "until", value: (grant) => grant.expiresAt.slice(0, 10) },
      ],
      "You allowed no clients.",
    ),
  );
}

/** `kb grants revoke ID` */
export async function revokeGrant(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const id = argument(input, 0);
  await confirmed(input, deps, `Revoke access of this client (${id})? Its tokens stop working at once.`);
  await api.delete("/api/grants/{id}", { params: { path: { id } } });
  makeOutput(input, deps).talk("Access revoked. The client's tokens no longer work.");
}
