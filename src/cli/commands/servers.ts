import type { Noun } from "#cli/line/command.ts";
import { agreeToTools } from "./servers/agree.ts";
import { addServer, removeServer, updateServer } from "./servers/change.ts";
import { connectApp } from "./servers/connect.ts";
import { disconnect, listConnections, setConnectionAccess } from "./servers/connections.ts";
import { listTools, mapTool, previewTool, unmapTool } from "./servers/map.ts";
import { listApps, listServers, showHealth, showServer, testServer } from "./servers/show.ts";

export const servers: Noun = {
  summary: "Other MCP servers, their apps, and people's connections to them.",
  verbs: {
    list: listServers,
    add: addServer,
    show: showServer,
    test: testServer,
    health: showHealth,
    update: updateServer,
    remove: removeServer,
    apps: listApps,
    connect: connectApp,
    connections: listConnections,
    access: setConnectionAccess,
    agree: agreeToTools,
    disconnect,
    tools: listTools,
    preview: previewTool,
    map: mapTool,
    unmap: unmapTool,
  },
};
