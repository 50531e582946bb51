import { fieldsOf } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import { accessOf } from "#cli/find.ts";
import { remoteCommand } from "#cli/remote-command.ts";
import { allConnections, connectionsOf, findConnection, findServer, type ConnectionRecord } from "./find.ts";
import { SHARE_OPTIONS } from "./options.ts";
import { flexible, minute } from "#cli/table.ts";

const CONNECTION = [{ name: "connection", summary: "its name or cnx_…", required: true }] as const;

export const listConnections = remoteCommand(
  {
    summary: "List your connections and those shared with you; admins see all of them.",
    arguments: [{ name: "server", summary: "only of this server: its name, URL or srv_…" }],
    examples: ["kb servers connections", "kb servers connections notes"],
    exitCodes: [2, 3],
    fields: [fieldsOf("get", "/api/mcp-servers/{id}/connections", "connections")],
  },
  async ({ api, output, args }) => {
    const { server } = args;
    const connections =
      server === undefined ? await allConnections(api) : await connectionsOf(api, await findServer(api, server));
    output.result({ connections, nextCursor: null }, () =>
      output.table(
        connections,
        {
          id: ({ id }) => id,
          name: flexible(({ name }) => name),
          account: { value: ({ account }) => account?.label ?? "", isFlexible: true, isOptional: true },
          owner: flexible(({ owner, isMine }) => (isMine ? "you" : owner.name || "former member")),
          state: ({ status }) => status,
          "visible to": ({ access }) => access.visibility,
          "last used": {
            value: ({ lastUsedAt }) => minute(lastUsedAt),
            isOptional: true,
          },
          why: { value: ({ statusReason }) => statusReason ?? "", isFlexible: true, isOptional: true },
        },
        "You have no connections. Connect an app with kb servers connect SERVER.",
      ),
    );
  },
);

/** `kb servers access CONNECTION`: shows who sees the content read through it, or sets it. */
export const setConnectionAccess = remoteCommand(
  {
    summary: "Show or set who sees what is read through a connection (its owner; admins can only narrow it).",
    arguments: CONNECTION,
    options: SHARE_OPTIONS,
    examples: ["kb servers access notes --group Design", "kb servers access notes --access private"],
    exitCodes: [2, 3],
    fields: [fieldsOf("patch", "/api/mcp-servers/{id}/connections/{connectionId}/access", "connection")],
  },
  async ({ api, output, args, options }) => {
    const found = await findConnection(api, args.connection);
    const access = await accessOf(api, options);
    const print = (connection: ConnectionRecord): void =>
      output.record([
        ["connection", `${connection.name} (${connection.id})`],
        ["owner", connection.owner.name || "former member"],
        ["visible to", connection.access.visibility],
        ["members", connection.access.memberIds],
        ["groups", connection.access.groupIds],
      ]);
    if (access === undefined) return output.result({ connection: found }, () => print(found));
    const answer = await api.patch("/api/mcp-servers/{id}/connections/{connectionId}/access", {
      params: { path: { id: found.serverId, connectionId: found.id } },
      body: access,
    });
    output.result(answer, () => {
      print(answer.connection);
      for (const warning of answer.warnings ?? []) output.talk(`Warning: ${warning}`);
    });
  },
);

export const disconnect = remoteCommand(
  {
    summary: "Disconnect: tokens are revoked, and what was read through the connection is deleted.",
    arguments: CONNECTION,
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb servers disconnect notes --yes"],
    exitCodes: [2, 3],
  },
  async ({ api, output, args, options, deps }) => {
    const { id, serverId, name, owner, isMine } = await findConnection(api, args.connection);
    const whose = isMine ? "" : ` of ${owner.name || "a former member"}`;
    await confirmed(options, deps, `Disconnect ${name}${whose}? What was read through it is deleted.`);
    await api.delete("/api/mcp-servers/{id}/connections/{connectionId}", {
      params: { path: { id: serverId, connectionId: id } },
    });
    output.talk(`Disconnected ${name}${whose}. What was read through it is hidden now and deleted in the background.`);
  },
);
