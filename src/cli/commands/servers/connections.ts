import { route } from "#cli/line/command.ts";
import { accessOf } from "#cli/records/find.ts";
import { remoteCommand, removeCommand } from "#cli/calls/remote-command.ts";
import { allConnections, CONNECTION, connectionsOf, findServer, type ConnectionRecord } from "./find.ts";
import { SHARE_OPTIONS } from "./options.ts";
import { flexible, formatted, minute, optional } from "#cli/terminal/table.ts";

export const listConnections = remoteCommand(
  {
    summary: "List your connections and those shared with you; admins see all of them.",
    arguments: { "[server]": "only connections to this server: its name, URL or srv_…" },
    examples: ["kb servers connections", "kb servers connections notes"],
    exitCodes: [3],
    fields: [route("get", "/api/mcp-servers/{id}/connections", "connections")],
  },
  async ({ api, output, args }) => {
    const { server } = args;
    const connections =
      server === undefined ? await allConnections(api) : await connectionsOf(api, await findServer(api, server));
    output.list(
      "connections",
      connections,
      {
        id: "id",
        name: flexible("name"),
        account: optional(flexible(({ account }) => account?.label)),
        owner: flexible(({ owner, isMine }) => (isMine ? "you" : owner.name || "former member")),
        state: "status",
        "visible to": ({ access }) => access.visibility,
        "last used": optional(formatted(minute, "lastUsedAt")),
        why: optional(flexible("statusReason")),
      },
      "You have no connections. Connect an app with kb servers connect SERVER.",
    );
  },
);

/** `kb servers access CONNECTION`: shows or sets who sees the content that is read through the connection. */
export const setConnectionAccess = remoteCommand(
  {
    summary: "Show or set who can see what a connection reads. Its owner can set this; admins can only reduce access.",
    of: CONNECTION,
    options: SHARE_OPTIONS,
    examples: ["kb servers access notes --group Design", "kb servers access notes --access private"],
    call: route("patch", "/api/mcp-servers/{id}/connections/{connectionId}/access", "connection"),
  },
  async ({ api, output, found, options, send }) => {
    const body = await accessOf(api, options);
    const print = ({ connection }: { connection: ConnectionRecord }): void =>
      output.record([
        ["connection", `${connection.name} (${connection.id})`],
        ["owner", connection.owner.name || "former member"],
        ["visible to", connection.access.visibility],
        ["members", connection.access.memberIds],
        ["groups", connection.access.groupIds],
      ]);
    if (body === undefined) return output.result({ connection: found }, print);
    output.result(await send({ body }), (answer) => {
      print(answer);
      for (const warning of answer.warnings ?? []) output.talk(`Warning: ${warning}`);
    });
  },
);

export const disconnect = removeCommand("/api/mcp-servers/{id}/connections/{connectionId}", {
  summary: "Disconnect an app: the connection's tokens are revoked, and what was read through it is deleted.",
  of: CONNECTION,
  examples: ["kb servers disconnect notes --yes"],
  question: (found) => `Disconnect ${withOwner(found)}? What was read through it is deleted.`,
  done: (found) =>
    `Disconnected ${withOwner(found)}. What was read through it is hidden now and deleted in the background.`,
});

function withOwner({ name, owner, isMine }: ConnectionRecord): string {
  return isMine ? name : `${name} of ${owner.name || "a former member"}`;
}
