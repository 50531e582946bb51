import type { BodyOf } from "#api/client.ts";
import type { Group } from "#api/workspace.ts";
import { connect, isEmpty, type Api } from "#cli/api.ts";
import { argument, flagOption, listOption, textOption, type CommandInput } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import type { Deps } from "#cli/deps.ts";
import { usageFailure } from "#cli/failure.ts";
import { findGroup, groupIdsOf, memberIdsOf } from "#cli/find.ts";
import { openingsOf } from "#cli/openings.ts";
import { makeOutput, plural, type Output } from "#cli/output.ts";

/** `kb groups list` */
export async function listGroups(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const groups = await api.list("/api/groups", "groups");
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result({ groups, nextCursor: null }, () =>
    output.table(
      groups,
      [
        { title: "id", value: (group) => group.id },
        { title: "name", value: (group) => group.name, isFlexible: true },
        { title: "members", value: (group) => group.memberIds.length },
        { title: "groups", value: (group) => group.groupIds.length },
        { title: "closed", value: (group) => (group.isClosed ? "yes" : "") },
        { title: "created", value: (group) => group.createdAt.slice(0, 10) },
      ],
      "There are no groups. Create one with kb groups create NAME.",
    ),
  );
}

/** `kb groups show GROUP` */
export async function showGroup(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const { id } = await findGroup(api, argument(input, 0));
  // Lists leave out what others opened.
  const group = await findGroup(api, id);
  const output = makeOutput(input, deps, api.settings.defaults);
  if (output.format === "json") return output.result({ group }, () => undefined);
  await printGroup(api, group, output);
}

/** `kb groups create NAME` */
export async function createGroup(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const answer = await api.post("/api/groups", {
    body: {
      name: argument(input, 0),
      memberIds: await memberIdsOf(api, listOption(input, "member")),
      groupIds: await groupIdsOf(api, listOption(input, "group")),
      isClosed: flagOption(input, "closed") ? true : undefined,
    },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => {
    output.line(answer.group.id);
    output.talk(`Group "${answer.group.name}" has ${plural(answer.group.memberIds.length, "member")}.`);
  });
}

/** `kb groups update GROUP` */
export async function updateGroup(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const group = await findGroup(api, argument(input, 0));
  const owner = textOption(input, "owner");
  if (flagOption(input, "closed") && flagOption(input, "open")) throw usageFailure("Give --closed or --open.");
  const body: BodyOf<"patch", "/api/groups/{id}"> = {
    name: textOption(input, "name"),
    memberIds: changed(
      group.memberIds,
      await memberIdsOf(api, listOption(input, "addMember")),
      await memberIdsOf(api, listOption(input, "removeMember")),
    ),
    groupIds: changed(
      group.groupIds,
      await groupIdsOf(api, listOption(input, "addGroup")),
      await groupIdsOf(api, listOption(input, "removeGroup")),
    ),
    isClosed: flagOption(input, "closed") ? true : flagOption(input, "open") ? false : undefined,
    ownerId: owner === undefined ? undefined : (await memberIdsOf(api, [owner]))[0],
  };
  if (isEmpty(body)) throw usageFailure("Nothing to change.", "kb groups update --help");
  const answer = await api.patch("/api/groups/{id}", { params: { path: { id: group.id } }, body });
  const output = makeOutput(input, deps, api.settings.defaults);
  if (output.format === "json") return output.result(answer, () => undefined);
  await printGroup(api, answer.group, output);
}

/** `kb groups remove GROUP` */
export async function removeGroup(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const group = await findGroup(api, argument(input, 0));
  await confirmed(
    input,
    deps,
    `Remove group "${group.name}"? Its members lose access to what only this group can see.`,
  );
  await api.delete("/api/groups/{id}", { params: { path: { id: group.id } } });
  makeOutput(input, deps).talk(`Removed group "${group.name}".`);
}

/** The list with these added and those removed; undefined when nothing was asked for. */
function changed(ids: readonly string[], add: readonly string[], remove: readonly string[]): string[] | undefined {
  if (add.length === 0 && remove.length === 0) return undefined;
  return [...new Set([...ids, ...add])].filter((id) => !remove.includes(id));
}

/** With names in place of ids: a group is about people. */
async function printGroup(api: Api, group: Group, output: Output): Promise<void> {
  const members = await api.list("/api/workspace/members", "members");
  const groups = group.groupIds.length === 0 ? [] : await api.list("/api/groups", "groups");
  output.record([
    ["id", group.id],
    ["name", group.name],
    ["owner", members.find((member) => member.userId === group.ownerId)?.email ?? group.ownerId ?? "nobody: they left"],
    ["closed", group.isClosed ? "yes: only its owner can change it" : "no: every admin can change it"],
    ["members", group.memberIds.map((id) => members.find((member) => member.userId === id)?.email ?? id)],
    ["groups", group.groupIds.map((id) => groups.find((item) => item.id === id)?.name ?? id)],
    ["created", group.createdAt.slice(0, 10)],
    ...openingsOf(group),
  ]);
}
