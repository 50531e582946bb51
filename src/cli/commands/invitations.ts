import type { BodyOf } from "#api/client.ts";
import { connect } from "#cli/api.ts";
import { argument, wordOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { makeOutput } from "#cli/output.ts";

/** `kb invitations list` */
export async function listInvitations(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const invitations = await api.list("/api/workspace/invitations", "invitations");
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result({ invitations, nextCursor: null }, () =>
    output.table(
      invitations,
      [
        { title: "id", value: (item) => item.id },
        { title: "email", value: (item) => item.email, isFlexible: true },
        { title: "role", value: (item) => item.role },
        { title: "expires", value: (item) => item.expiresAt.slice(0, 10) },
        { title: "accepted", value: (item) => item.acceptedAt?.slice(0, 10) ?? "" },
      ],
      "No invitation.",
    ),
  );
}

/** `kb invitations add EMAIL`: the link, unless it was mailed, is the only data on stdout. */
export async function addInvitation(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const role: BodyOf<"post", "/api/workspace/invitations">["role"] | undefined = wordOption(input, "role");
  const answer = await api.post("/api/workspace/invitations", {
    body: { email: argument(input, 0), role: role ?? "member" },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
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
}

/** `kb invitations remove ID` */
export async function removeInvitation(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  await api.delete("/api/workspace/invitations/{id}", { params: { path: { id: argument(input, 0) } } });
  makeOutput(input, deps).talk("Invitation withdrawn. Its link no longer works.");
}
