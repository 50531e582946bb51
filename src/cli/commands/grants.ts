import type { Noun } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import { listCommand, remoteCommand } from "#cli/remote-command.ts";

const listGrants = listCommand({
  summary: "List the OAuth clients that you allowed.",
  examples: ["kb grants list"],
  path: "/api/grants",
  key: "grants",
  empty: "You allowed no clients.",
  columns: {
    id: (grant) => grant.id,
    client: { value: (grant) => grant.clientName, isFlexible: true },
    place: { value: (grant) => grant.place, isFlexible: true },
    scopes: (grant) => grant.scopes,
    since: (grant) => grant.createdAt.slice(0, 10),
    "last used": (grant) => grant.lastUsedAt?.slice(0, 10) ?? "never",
    until: (grant) => grant.expiresAt.slice(0, 10),
  },
});

const revokeGrant = remoteCommand(
  {
    summary: "Revoke a client's access; its tokens stop working at once.",
    arguments: [{ name: "id", summary: "gra_…", required: true }],
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb grants revoke gra_2345abcd2345abcd --yes"],
    exitCodes: [3],
  },
  async ({ api, output, args, options, deps }) => {
    const id = args.id;
    await confirmed(options, deps, `Revoke access of this client (${id})? Its tokens stop working at once.`);
    await api.delete("/api/grants/{id}", { params: { path: { id } } });
    output.talk("Access revoked. The client's tokens no longer work.");
  },
);

export const grants: Noun = {
  summary: "OAuth clients that you allowed.",
  verbs: {
    list: listGrants,
    revoke: revokeGrant,
  },
};
