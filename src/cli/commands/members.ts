import type { Member } from "#api/workspace.ts";
import { connect } from "#cli/api.ts";
import { argument, type CommandInput } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import type { Deps } from "#cli/deps.ts";
import { usageFailure } from "#cli/failure.ts";
import { findMember } from "#cli/find.ts";
import { makeOutput } from "#cli/output.ts";

const ROLES: readonly Member["role"][] = ["owner", "admin", "member"];

/** `kb members list` */
export async function listMembers(input: CommandInput, deps: Deps): Promise<void> {
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
}

/** `kb members role MEMBER ROLE` */
export async function changeRole(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const member = await findMember(api, argument(input, 0));
  const word = argument(input, 1);
  const role = ROLES.find((one) => one === word);
  if (role === undefined) throw usageFailure(`"${word}" is not a role.`, `One of ${ROLES.join(", ")}.`);
  const answer = await api.patch("/api/workspace/members/{id}", {
    params: { path: { id: member.userId } },
    body: { role },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => output.talk(`${answer.member.email} is ${answer.member.role} now.`));
}

/** `kb members remove MEMBER` */
export async function removeMember(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const member = await findMember(api, argument(input, 0));
  await confirmed(input, deps, `Remove ${member.email} from the workspace and revoke all their sessions and tokens?`);
  await api.delete("/api/workspace/members/{id}", { params: { path: { id: member.userId } } });
  makeOutput(input, deps).talk(`Removed ${member.email}. All their credentials stopped working.`);
}

/** `kb members reset-password MEMBER`: the link, unless it was mailed, is the only data on stdout. */
export async function resetPassword(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const member = await findMember(api, argument(input, 0));
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
      `Give this link to ${member.email} and nobody else. It sets a new password and is valid until ${until} UTC.`,
    );
  });
}
