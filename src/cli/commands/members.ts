import { fieldsOf, type Noun } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import { findMember } from "#cli/find.ts";
import { listCommand, remoteCommand } from "#cli/remote-command.ts";
import { minute } from "#cli/table.ts";

const listMembers = listCommand({
  summary: "List the members of the workspace.",
  examples: ["kb members list"],
  path: "/api/workspace/members",
  key: "members",
  empty: "Nobody.",
  columns: {
    id: (member) => member.userId,
    name: { value: (member) => member.name, isFlexible: true },
    email: { value: (member) => member.email, isFlexible: true },
    role: (member) => member.role,
    joined: (member) => member.joinedAt.slice(0, 10),
  },
});

const changeRole = remoteCommand(
  {
    summary: "Change a member's role (owner).",
    arguments: [
      { name: "member", summary: "email or usr_…", required: true },
      { name: "role", summary: "the new role", required: true, choices: ["owner", "admin", "member"] },
    ],
    examples: ["kb members role bo@example.com admin"],
    exitCodes: [3, 5],
    fields: [fieldsOf("patch", "/api/workspace/members/{id}", "member")],
  },
  async ({ api, output, args }) => {
    const member = await findMember(api, args.member);
    const answer = await api.patch("/api/workspace/members/{id}", {
      params: { path: { id: member.userId } },
      body: { role: args.role },
    });
    output.result(answer, () => output.talk(`${answer.member.email} is ${answer.member.role} now.`));
  },
);

const removeMember = remoteCommand(
  {
    summary: "Remove a member; all their sessions and tokens end.",
    arguments: [{ name: "member", summary: "email or usr_…", required: true }],
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb members remove bo@example.com --yes"],
    exitCodes: [3, 5],
  },
  async ({ api, output, args, options, deps }) => {
    const member = await findMember(api, args.member);
    await confirmed(
      options,
      deps,
      `Remove ${member.email} from the workspace and revoke all their sessions and tokens?`,
    );
    await api.delete("/api/workspace/members/{id}", { params: { path: { id: member.userId } } });
    output.talk(`Removed ${member.email}. All their credentials stopped working.`);
  },
);

/** `kb members reset-password MEMBER`: stdout has only the link, unless it was mailed. */
const resetPassword = remoteCommand(
  {
    summary:
      "Create a password reset link for a member: emailed to them (admin), or shown to you to hand over (owner).",
    arguments: [{ name: "member", summary: "email or usr_…", required: true }],
    examples: ["kb members reset-password bo@example.com"],
    exitCodes: [3],
    fields: [fieldsOf("post", "/api/workspace/members/{id}/password-reset")],
  },
  async ({ api, output, args }) => {
    const member = await findMember(api, args.member);
    const answer = await api.post("/api/workspace/members/{id}/password-reset", {
      params: { path: { id: member.userId } },
    });
    output.result(answer, () => {
      const until = minute(answer.expiresAt);
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
