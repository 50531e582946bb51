import type { BodyOf } from "#api/client.ts";
import { fieldsOf, type Noun } from "#cli/command.ts";
import { listCommand, remoteCommand } from "#cli/remote-command.ts";

const listInvitations = listCommand({
  summary: "List invitations.",
  examples: ["kb invitations list"],
  path: "/api/workspace/invitations",
  key: "invitations",
  empty: "No invitation.",
  columns: {
    id: (item) => item.id,
    email: { value: (item) => item.email, isFlexible: true },
    role: (item) => item.role,
    expires: (item) => item.expiresAt.slice(0, 10),
    accepted: (item) => item.acceptedAt?.slice(0, 10) ?? "",
  },
});

/** `kb invitations add EMAIL`: stdout has only the link, unless it was mailed. */
const addInvitation = remoteCommand(
  {
    summary: "Invite someone; the link is emailed if the server sends email, otherwise it is printed once.",
    arguments: [{ name: "email", summary: "whom", required: true }],
    options: [{ flags: "--role <role>", summary: "their role (default: member)", choices: ["admin", "member"] }],
    examples: ["kb invitations add bo@example.com"],
    exitCodes: [5],
    fields: [
      fieldsOf("post", "/api/workspace/invitations", "invitation"),
      fieldsOf("post", "/api/workspace/invitations"),
    ],
  },
  async ({ api, output, args, options }) => {
    const role: BodyOf<"post", "/api/workspace/invitations">["role"] | undefined = options.role;
    const answer = await api.post("/api/workspace/invitations", {
      body: { email: args.email, role: role ?? "member" },
    });
    output.result(answer, () => {
      if (answer.url === null) {
        output.talk(`Sent an invitation to ${answer.invitation.email}.`);
        return;
      }
      output.line(answer.url);
      output.talk(
        `Send this link to ${answer.invitation.email}; it is shown only once. To join from a terminal: kb login --invitation URL`,
      );
    });
  },
);

const removeInvitation = remoteCommand(
  {
    summary: "Withdraw an invitation.",
    arguments: [{ name: "id", summary: "inv_…", required: true }],
    examples: ["kb invitations remove inv_2345abcd2345abcd"],
    exitCodes: [3],
  },
  async ({ api, output, args }) => {
    await api.delete("/api/workspace/invitations/{id}", { params: { path: { id: args.id } } });
    output.talk("Invitation withdrawn. Its link no longer works.");
  },
);

export const invitations: Noun = {
  summary: "Invitations to the workspace.",
  verbs: {
    list: listInvitations,
    add: addInvitation,
    remove: removeInvitation,
  },
};
