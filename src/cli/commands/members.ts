import { type Noun, oneOf, route } from "#cli/line/command.ts";
import { MEMBER } from "#cli/records/find.ts";
import { callCommand, listCommand, remoteCommand, removeCommand } from "#cli/calls/remote-command.ts";
import { day, flexible, formatted, minute } from "#cli/terminal/table.ts";

export const members: Noun = {
  summary: "People of the workspace.",
  verbs: {
    list: listCommand("/api/workspace/members", "members", {
      summary: "List the members of the workspace.",
      examples: ["kb members list"],
      empty: "Nobody.",
      columns: {
        id: "userId",
        name: flexible("name"),
        email: flexible("email"),
        role: "role",
        joined: formatted(day, "joinedAt"),
      },
    }),
    role: remoteCommand(
      {
        summary: "Change a member's role (owners only).",
        of: MEMBER,
        arguments: { "<role>": oneOf(["owner", "admin", "member"], "the new role") },
        examples: ["kb members role bo@example.com admin"],
        exitCodes: [5],
        call: route("patch", "/api/workspace/members/{id}", "member"),
      },
      async ({ output, args: { role }, send }) =>
        output.result(await send({ body: { role } }), ({ member }) => `${member.email} is ${member.role} now.`),
    ),
    remove: removeCommand("/api/workspace/members/{id}", {
      summary: "Remove a member; all their sessions and tokens end.",
      of: MEMBER,
      examples: ["kb members remove bo@example.com --yes"],
      exitCodes: [5],
      question: ({ email }) => `Remove ${email} from the workspace and revoke all their sessions and tokens?`,
      done: ({ email }) => `Removed ${email}. All their credentials stopped working.`,
    }),
    /** `kb members reset-password MEMBER`: prints only the link on stdout, unless it was emailed. */
    "reset-password": callCommand(
      "post",
      "/api/workspace/members/{id}/password-reset",
      {
        summary:
          "Create a password reset link for a member. The server emails it to them; without email, it is shown to you, and only an owner can create it.",
        of: MEMBER,
        examples: ["kb members reset-password bo@example.com"],
      },
      ({ url, expiresAt }, { output, found: { email } }) => {
        const until = minute(expiresAt);
        if (url === null) return `Sent a password reset link to ${email}. It is valid until ${until} UTC.`;
        output.line(url);
        return `Give this link to ${email} and no one else. It sets a new password and is valid until ${until} UTC.`;
      },
    ),
  },
};
