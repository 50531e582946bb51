import { type Noun, oneOf, route } from "#cli/line/command.ts";
import { listCommand, onlyById, remoteCommand, removeCommand } from "#cli/calls/remote-command.ts";
import { day, flexible, formatted } from "#cli/terminal/table.ts";

export const invitations: Noun = {
  summary: "Invitations to the workspace.",
  verbs: {
    list: listCommand("/api/workspace/invitations", "invitations", {
      summary: "List invitations.",
      examples: ["kb invitations list"],
      empty: "No invitation.",
      columns: {
        id: "id",
        email: flexible("email"),
        role: "role",
        expires: formatted(day, "expiresAt"),
        accepted: formatted(day, "acceptedAt"),
      },
    }),
    /** `kb invitations add EMAIL`: prints only the link on stdout, unless it was emailed. */
    add: remoteCommand(
      {
        summary: "Invite someone; the link is emailed if the server sends email, otherwise it is printed once.",
        arguments: { "<email>": "whom" },
        options: { "--role <role>": oneOf(["admin", "member"], "their role (default: member)") },
        examples: ["kb invitations add bo@example.com"],
        exitCodes: [5],
        call: route("post", "/api/workspace/invitations"),
        fields: [
          route("post", "/api/workspace/invitations", "invitation"),
          route("post", "/api/workspace/invitations"),
        ],
      },
      async ({ output, args: { email }, options: { role = "member" }, send }) =>
        output.result(await send({ body: { email, role } }), ({ url, invitation }) => {
          if (url === null) return `Sent an invitation to ${invitation.email}.`;
          output.line(url);
          return `Send this link to ${invitation.email}; it is shown only once. To join from a terminal: kb login --invitation URL`;
        }),
    ),
    remove: removeCommand("/api/workspace/invitations/{id}", {
      summary: "Withdraw an invitation.",
      of: onlyById("inv_…"),
      examples: ["kb invitations remove inv_2345abcd2345abcd"],
      done: () => "Invitation withdrawn. Its link no longer works.",
    }),
  },
};
