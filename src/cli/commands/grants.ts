import { connect } from "#cli/api.ts";
import { command, fieldsOf, type Noun } from "#cli/command.ts";
import { makeOutput } from "#cli/output.ts";
import { confirmed } from "#cli/confirm.ts";

const listGrants = command(
  {
    summary: "List the OAuth clients that you allowed.",
    examples: ["kb grants list"],
    exitCodes: [4, 7],
    fields: [fieldsOf("get", "/api/grants", "grants")],
    isRemote: true,
  },
  async (input, deps) => {
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
  },
);

const revokeGrant = command(
  {
    summary: "Revoke a client's access; its tokens stop working at once.",
    arguments: [{ name: "id", summary: "gra_…", required: true }],
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb grants revoke gra_2345abcd2345abcd --yes"],
    exitCodes: [3, 4, 7],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const id = input.args.id;
    await confirmed(input, deps, `Revoke access of this client (${id})? Its tokens stop working at once.`);
    await api.delete("/api/grants/{id}", { params: { path: { id } } });
    makeOutput(input, deps).talk("Access revoked. The client's tokens no longer work.");
  },
);

export const grants: Noun = {
  summary: "OAuth clients that you allowed.",
  verbs: {
    list: listGrants,
    revoke: revokeGrant,
  },
};
