import { connect } from "#cli/api.ts";
import { command, fieldsOf, type Noun } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import { findMember } from "#cli/find.ts";
import { makeOutput } from "#cli/output.ts";

const listMembers = command(
  {
    summary: "List the members of the workspace.",
    examples: ["kb members list"],
    exitCodes: [4, 7],
    fields: [fieldsOf("get", "/api/workspace/members", "members")],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const members = await api.list("/api/workspace/members", "members");
    const output = makeOutput(input, deps, api.settings.defaults);
    output.result({ members, nextCursor: null }, () =>
      output.table(
        members,
        [
          { title: "id", value: (member) => member.userId },
          { title: "name", value: (member) => member.name, isFlexible: true },
          { title: "email", value: (member) => member.email, isFlexible: true },
          { title: "role", value: (member) => member.role },
          { title: "joined", value: (member) => member.joinedAt.slice(0, 10) },
        ],
        "Nobody.",
      ),
    );
  },
);

const changeRole = command(
  {
    summary: "Change a member's role (owner).",
    arguments: [
      { name: "member", summary: "email or usr_…", required: true },
      { name: "role", summary: "the new role", required: true, choices: ["owner", "admin", "member"] },
    ],
    examples: ["kb members role bo@example.com admin"],
    exitCodes: [3, 4, 5, 7],
    fields: [fieldsOf("patch", "/api/workspace/members/{id}", "member")],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const member = await findMember(api, input.args.member);
    const answer = await api.patch("/api/workspace/members/{id}", {
      params: { path: { id: member.userId } },
      body: { role: input.args.role },
    });
    const output = makeOutput(input, deps, api.settings.defaults);
    output.result(answer, () => output.talk(`${answer.member.email} is ${answer.member.role} now.`));
  },
);

const removeMember = command(
  {
    summary: "Remove a member; all their sessions and tokens end.",
    arguments: [{ name: "member", summary: "email or usr_…", required: true }],
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb members remove bo@example.com --yes"],
    exitCodes: [3, 4, 5, 7],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const member = await findMember(api, input.args.member);
    await confirmed(input, deps, `Remove ${member.email} from the workspace and revoke all their sessions and tokens?`);
    await api.delete("/api/workspace/members/{id}", { params: { path: { id: member.userId } } });
    makeOutput(input, deps).talk(`Removed ${member.email}. All their credentials stopped working.`);
  },
);

/** `kb members reset-password MEMBER`: stdout has only the link, unless it was mailed. */
const resetPassword = command(
  {
    summary:
      "Create a password reset link for a member: emailed to them (admin), or shown to you to hand over (owner).",
    arguments: [{ name: "member", summary: "email or usr_…", required: true }],
    examples: ["kb members reset-password bo@example.com"],
    exitCodes: [3, 4, 7],
    fields: [fieldsOf("post", "/api/workspace/members/{id}/password-reset")],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const member = await findMember(api, input.args.member);
    const answer = await api.post("/api/workspace/members/{id}/password-reset", {
      params: { path: { id: member.userId } },
    });
    const output = makeOutput(input, deps, api.settings.defaults);
    output.result(answer, () => {
      const until = answer.expiresAt.slice(0, 16).replace("T", " ");
      if (answer.url === null) {
        output.talk(`Sent a password reset link to ${member.email}. It is valid until ${until} UTC.`);
        return;
      }
      output.line(answer.url);
      output.talk(
        `Give this link to ${member.email} and no one else. It sets a new password and is valid until ${until} UTC.`,
      );
    });
  },
);

export const members: Noun = {
  summary: "People of the workspace.",
  verbs: {
    list: listMembers,
    role: changeRole,
    remove: removeMember,
    "reset-password": resetPassword,
  },
};
