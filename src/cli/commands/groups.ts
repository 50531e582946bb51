import { plural } from "#api/plural.ts";
import type { Group } from "#api/workspace.ts";
import type { Api } from "#cli/calls/api.ts";
import { type Noun, route, several } from "#cli/line/command.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { findGroup, GROUP, groupIdsOf, memberIdOf, memberIdsOf } from "#cli/records/find.ts";
import { openingsOf } from "#cli/records/openings.ts";
import type { Output } from "#cli/terminal/output.ts";
import { listCommand, remoteCommand, removeCommand } from "#cli/calls/remote-command.ts";
import { day, flexible, formatted } from "#cli/terminal/table.ts";
import { changes } from "#cli/line/values.ts";

/** Adds and removes entries; undefined when no change was requested. */
function edited(ids: readonly string[], add: readonly string[], remove: readonly string[]): string[] | undefined {
  if (add.length === 0 && remove.length === 0) return undefined;
  return [...new Set([...ids, ...add])].filter((id) => !remove.includes(id));
}

/** Prints names instead of ids, because a group is about people. */
async function printGroup(api: Api, group: Group, output: Output): Promise<void> {
  const members = await api.list("/api/workspace/members", "members");
  const groups = group.groupIds.length === 0 ? [] : await api.list("/api/groups", "groups");
  const emailOf = (id: string | null) => members.find(({ userId }) => userId === id)?.email ?? id;
  output.record([
    ["id", group.id],
    ["name", group.name],
    ["owner", emailOf(group.ownerId) ?? "no one: they left"],
    ["closed", group.isClosed ? "yes: only its owner can change it" : "no: every admin can change it"],
    ["members", group.memberIds.map(emailOf)],
    ["groups", group.groupIds.map((id) => groups.find((item) => item.id === id)?.name ?? id)],
    ["created", day(group.createdAt)],
    ...openingsOf(group),
  ]);
}

export const groups: Noun = {
  summary: "Groups of members, to control who can see what.",
  verbs: {
    list: listCommand("/api/groups", "groups", {
      summary: "List the groups of the workspace.",
      examples: ["kb groups list"],
      empty: "There are no groups. Create one with kb groups create NAME.",
      columns: {
        id: "id",
        name: flexible("name"),
        members: ({ memberIds }) => memberIds.length,
        groups: ({ groupIds }) => groupIds.length,
        closed: ({ isClosed }) => (isClosed ? "yes" : ""),
        created: formatted(day, "createdAt"),
      },
    }),
    show: remoteCommand(
      {
        summary: "Show who is in a group.",
        of: GROUP,
        examples: ["kb groups show Design"],
        call: route("get", "/api/groups/{id}", "group"),
      },
      async ({ api, output, found }) => {
        // Lists omit `openedByOthers`, so the group is read again.
        const group = await findGroup(api, found.id);
        if (output.format === "json") return output.result({ group }, () => undefined);
        await printGroup(api, group, output);
      },
    ),
    create: remoteCommand(
      {
        summary: "Create a group that you own (admins only).",
        arguments: { "<name>": "its name" },
        options: {
          "--member <member>": several("a member: email or usr_…; may be repeated"),
          "--group <group>": several("a nested group; may be repeated"),
          "--closed": "let only you, its owner, change it",
        },
        examples: ["kb groups create Design --member bo@example.com"],
        exitCodes: [3, 5],
        call: route("post", "/api/groups", "group"),
      },
      async ({ api, output, args, options, send }) => {
        const answer = await send({
          body: {
            name: args.name,
            memberIds: await memberIdsOf(api, options.member),
            groupIds: await groupIdsOf(api, options.group),
            isClosed: options.closed || undefined,
          },
        });
        output.result(answer, ({ group }) => {
          output.line(group.id);
          return `Group "${group.name}" has ${plural(group.memberIds.length, "member")}.`;
        });
      },
    ),
    update: remoteCommand(
      {
        summary: "Change a group's name, members or owner. Its owner can do this, and any admin if the group is open.",
        of: GROUP,
        options: {
          "--name <name>": "the group's new name",
          "--add-member <member>": several("email or usr_…; may be repeated"),
          "--remove-member <member>": several("email or usr_…; may be repeated"),
          "--add-group <group>": several("name or grp_…; may be repeated"),
          "--remove-group <group>": several("name or grp_…; may be repeated"),
          "--closed": "let only its owner change it; only the owner can set this",
          "--open": "let every admin change it; only its owner can set this",
          "--owner <member>": "transfer it to this member: email or usr_…; only its owner can do this",
        },
        examples: ["kb groups update Design --add-member bo@example.com"],
        exitCodes: [5],
        call: route("patch", "/api/groups/{id}", "group"),
      },
      async ({ api, output, options, found, send }) => {
        const { name, addMember, removeMember, addGroup, removeGroup, closed, open, owner } = options;
        if (closed && open) throw usageFailure("Give --closed or --open.");
        const { memberIds, groupIds } = found;
        const answer = await send({
          body: changes("kb groups update --help", {
            name,
            memberIds: edited(memberIds, await memberIdsOf(api, addMember), await memberIdsOf(api, removeMember)),
            groupIds: edited(groupIds, await groupIdsOf(api, addGroup), await groupIdsOf(api, removeGroup)),
            isClosed: closed || open ? closed : undefined,
            ownerId: await memberIdOf(api, owner),
          }),
        });
        if (output.format === "json") return output.result(answer, () => undefined);
        await printGroup(api, answer.group, output);
      },
    ),
    remove: removeCommand("/api/groups/{id}", {
      summary:
        "Remove a group; its members lose access to what only the group can see. Its owner can do this, and any admin if the group is open.",
      of: GROUP,
      examples: ["kb groups remove Design --yes"],
      question: ({ name }) => `Remove group "${name}"? Its members lose access to what only this group can see.`,
      done: ({ name }) => `Removed group "${name}".`,
    }),
  },
};
