import type { Invitation, LocalRoot, Member } from "#api/workspace.ts";
import { resolve } from "node:path";
import { connect, listAll, segment, type Api } from "#cli/api.ts";
import { argument, textOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure } from "#cli/failure.ts";
import { makeOutput } from "#cli/output.ts";
import { nearest } from "#cli/values.ts";
import { confirmed } from "./connectors.ts";

const MEMBERS = "/api/workspace/members";
const INVITATIONS = "/api/workspace/invitations";
const ROOTS = "/api/local-roots";

/** `kb members list` */
export async function listMembers(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const members = await listAll<Member>(api, MEMBERS, "members");
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

/** `kb members update MEMBER --role ROLE` */
export async function updateMember(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const member = await findMember(api, argument(input, 0));
  const body = { role: textOption(input, "role") };
  const answer = await api.call<{ member: Member }>("PATCH", `${MEMBERS}/${segment(member.userId)}`, { body });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => output.talk(`${answer.member.email} is ${answer.member.role} now.`));
}

/** `kb members remove MEMBER` */
export async function removeMember(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const member = await findMember(api, argument(input, 0));
  await confirmed(input, deps, `Remove ${member.email} and revoke every session and token of theirs?`);
  await api.send("DELETE", `${MEMBERS}/${segment(member.userId)}`);
  makeOutput(input, deps).talk(`${member.email} is removed; nothing of theirs opens anything any more.`);
}

/** `kb invitations list` */
export async function listInvitations(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const invitations = await listAll<Invitation>(api, INVITATIONS, "invitations");
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

/** `kb invitations add EMAIL`: the link is the only data on stdout. */
export async function addInvitation(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const body = { email: argument(input, 0), role: textOption(input, "role") ?? "member" };
  const answer = await api.call<{ invitation: Invitation; url: string }>("POST", INVITATIONS, { body });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => {
    output.line(answer.url);
    output.talk(
      `Send this link to ${answer.invitation.email}; it is shown this once. They can use: kb login --invitation URL`,
    );
  });
}

/** `kb invitations remove ID` */
export async function removeInvitation(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  await api.send("DELETE", `${INVITATIONS}/${segment(argument(input, 0))}`);
  makeOutput(input, deps).talk("The invitation is withdrawn; its link is dead.");
}

/** `kb roots list` */
export async function listRoots(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const answer = await api.call<{ roots: LocalRoot[] }>("GET", ROOTS);
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () =>
    output.table(
      answer.roots,
      [
        { title: "id", value: (root) => root.id ?? "from the settings" },
        { title: "path", value: (root) => root.path, isFlexible: true },
        { title: "since", value: (root) => root.createdAt?.slice(0, 10) ?? "" },
      ],
      "No folder of this machine may be read. kb roots add PATH allows one.",
    ),
  );
}

/** `kb roots add PATH` */
export async function addRoot(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const body = { path: resolve(deps.cwd, argument(input, 0)) };
  const answer = await api.call<{ root: LocalRoot }>("POST", ROOTS, { body });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => output.talk(`Connectors may read ${answer.root.path} now.`));
}

/** `kb roots remove PATH|ID` */
export async function removeRoot(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const word = argument(input, 0);
  const { roots } = await api.call<{ roots: LocalRoot[] }>("GET", ROOTS);
  const found = roots.find((root) => root.id === word || root.path === word || root.path === resolve(deps.cwd, word));
  if (found === undefined) throw notFound(`No allowed folder is "${word}".`, "kb roots list");
  if (found.id === null)
    throw notFound(`${found.path} comes from the server's settings (KB_LOCAL_ROOTS).`, "Change it there.");
  await api.send("DELETE", `${ROOTS}/${segment(found.id)}`);
  makeOutput(input, deps).talk(`Connectors may no longer read ${found.path}.`);
}

async function findMember(api: Api, word: string): Promise<Member> {
  const members = await listAll<Member>(api, MEMBERS, "members");
  const found = members.find((member) => member.userId === word || member.email.toLowerCase() === word.toLowerCase());
  if (found !== undefined) return found;
  const near = nearest(
    word,
    members.map((member) => member.email),
  );
  throw notFound(`Nobody here is "${word}".${near === undefined ? "" : ` Did you mean ${near}?`}`, "kb members list");
}

function notFound(message: string, hint: string): CliFailure {
  return new CliFailure({ code: "not_found", exit: EXIT.notFound, message, hint });
}
