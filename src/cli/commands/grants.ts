import { fieldsOf, type Noun } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import { remoteCommand } from "#cli/remote-command.ts";

const listGrants = remoteCommand(
  {
    summary: "List the OAuth clients that you allowed.",
    examples: ["kb grants list"],
    fields: [fieldsOf("get", "/api/grants", "grants")],
  },
  async ({ api, output }) => {
    const grants = await api.list("/api/grants", "grants");
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
  },
);

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
