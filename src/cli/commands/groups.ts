import type { BodyOf } from "#api/client.ts";
import { plural } from "#api/plural.ts";
import type { Group } from "#api/workspace.ts";
import { isEmpty, type Api } from "#cli/api.ts";
import { fieldsOf, type Noun } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import { usageFailure } from "#cli/failure.ts";
import { findGroup, groupIdsOf, memberIdsOf } from "#cli/find.ts";
import { openingsOf } from "#cli/openings.ts";
import type { Output } from "#cli/output.ts";
import { listCommand, remoteCommand } from "#cli/remote-command.ts";

const listGroups = listCommand({
  summary: "List the groups of the workspace.",
  examples: ["kb groups list"],
  path: "/api/groups",
  key: "groups",
  empty: "There are no groups. Create one with kb groups create NAME.",
  columns: {
    id: (group) => group.id,
    name: { value: (group) => group.name, isFlexible: true },
    members: (group) => group.memberIds.length,
    groups: (group) => group.groupIds.length,
    closed: (group) => (group.isClosed ? "yes" : ""),
    created: (group) => group.createdAt.slice(0, 10),
  },
});

const showGroup = remoteCommand(
  {
    summary: "Show who is in a group.",
    arguments: [{ name: "group", summary: "name or grp_…", required: true }],
    examples: ["kb groups show Design"],
    exitCodes: [3],
    fields: [fieldsOf("get", "/api/groups/{id}", "group")],
  },
  async ({ api, output, args }) => {
    const { id } = await findGroup(api, args.group);
    // Lists omit what others opened.
    const group = await findGroup(api, id);
    if (output.format === "json") return output.result({ group }, () => undefined);
    await printGroup(api, group, output);
  },
);

const createGroup = remoteCommand(
  {
    summary: "Make a group of your own (admin).",
    arguments: [{ name: "name", summary: "its name", required: true }],
    options: [
      { flags: "--member <member>", summary: "a member: email or usr_…; may be repeated", repeatable: true },
      { flags: "--group <group>", summary: "a nested group; may be repeated", repeatable: true },
      { flags: "--closed", summary: "only you, its owner, can change it" },
    ],
    examples: ["kb groups create Design --member bo@example.com"],
    exitCodes: [3, 5],
    fields: [fieldsOf("post", "/api/groups", "group")],
  },
  async ({ api, output, args, options }) => {
    const answer = await api.post("/api/groups", {
      body: {
        name: args.name,
        memberIds: await memberIdsOf(api, options.member),
        groupIds: await groupIdsOf(api, options.group),
        isClosed: options.closed ? true : undefined,
      },
    });
    output.result(answer, () => {
      output.line(answer.group.id);
      output.talk(`Group "${answer.group.name}" has ${plural(answer.group.memberIds.length, "member")}.`);
    });
  },
);

const updateGroup = remoteCommand(
  {
    summary: "Change a group's name, members or owner (its owner; an admin while it is open).",
    arguments: [{ name: "group", summary: "name or grp_…", required: true }],
    options: [
      { flags: "--name <name>", summary: "its new name" },
      { flags: "--add-member <member>", summary: "email or usr_…; may be repeated", repeatable: true },
      { flags: "--remove-member <member>", summary: "email or usr_…; may be repeated", repeatable: true },
      { flags: "--add-group <group>", summary: "name or grp_…; may be repeated", repeatable: true },
      { flags: "--remove-group <group>", summary: "name or grp_…; may be repeated", repeatable: true },
      { flags: "--closed", summary: "let only its owner change it (its owner)" },
      { flags: "--open", summary: "let every admin change it (its owner)" },
      { flags: "--owner <member>", summary: "transfer it to: email or usr_… (its owner)" },
    ],
    examples: ["kb groups update Design --add-member bo@example.com"],
    exitCodes: [3, 5],
    fields: [fieldsOf("patch", "/api/groups/{id}", "group")],
  },
  async ({ api, output, args, options }) => {
    const group = await findGroup(api, args.group);
    const owner = options.owner;
    if (options.closed && options.open) throw usageFailure("Give --closed or --open.");
    const body: BodyOf<"patch", "/api/groups/{id}"> = {
      name: options.name,
      memberIds: changed(
        group.memberIds,
        await memberIdsOf(api, options.addMember),
        await memberIdsOf(api, options.removeMember),
      ),
      groupIds: changed(
        group.groupIds,
        await groupIdsOf(api, options.addGroup),
        await groupIdsOf(api, options.removeGroup),
      ),
      isClosed: options.closed ? true : options.open ? false : undefined,
      ownerId: owner === undefined ? undefined : (await memberIdsOf(api, [owner]))[0],
    };
    if (isEmpty(body)) throw usageFailure("Nothing to change.", "kb groups update --help");
    const answer = await api.patch("/api/groups/{id}", { params: { path: { id: group.id } }, body });
    if (output.format === "json") return output.result(answer, () => undefined);
    await printGroup(api, answer.group, output);
  },
);

const removeGroup = remoteCommand(
  {
    summary:
      "Remove a group; its members lose access to what only the group can see (its owner; an admin while it is open).",
    arguments: [{ name: "group", summary: "name or grp_…", required: true }],
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb groups remove Design --yes"],
    exitCodes: [3],
  },
  async ({ api, output, args, options, deps }) => {
    const group = await findGroup(api, args.group);
    await confirmed(
      options,
      deps,
      `Remove group "${group.name}"? Its members lose access to what only this group can see.`,
    );
    await api.delete("/api/groups/{id}", { params: { path: { id: group.id } } });
    output.talk(`Removed group "${group.name}".`);
  },
);

/** Adds and removes entries; undefined when no change was requested. */
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
    ["owner", members.find((member) => member.userId === group.ownerId)?.email ?? group.ownerId ?? "no one: they left"],
    ["closed", group.isClosed ? "yes: only its owner can change it" : "no: every admin can change it"],
    ["members", group.memberIds.map((id) => members.find((member) => member.userId === id)?.email ?? id)],
    ["groups", group.groupIds.map((id) => groups.find((item) => item.id === id)?.name ?? id)],
    ["created", group.createdAt.slice(0, 10)],
    ...openingsOf(group),
  ]);
}

export const groups: Noun = {
  summary: "Groups of members, to control who can see what.",
  verbs: {
    list: listGroups,
    show: showGroup,
    create: createGroup,
    update: updateGroup,
    remove: removeGroup,
  },
};
