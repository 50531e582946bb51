/** Every command of `kb`, and the order of its help. */
import { withVerbAliases } from "#cli/names.ts";
import type { Catalogue } from "#cli/parse.ts";
import { ACCESS_COMMANDS, ENTITY_COMMANDS, FILE_COMMANDS, SEARCH_COMMANDS } from "./reading.ts";
import { CONNECTOR_COMMANDS, PUSH_COMMANDS } from "./connectors.ts";
import { ADMIN_COMMANDS, HOST_COMMANDS, MCP_COMMANDS, API_COMMANDS } from "./host.ts";
import {
  AUDIT_COMMANDS,
  GROUP_COMMANDS,
  INVITATION_COMMANDS,
  MEMBER_COMMANDS,
  ROOT_COMMANDS,
  WORKSPACE_COMMANDS,
} from "./workspace.ts";
import { AUTH_COMMANDS, SESSION_COMMANDS, TOKEN_COMMANDS } from "./session.ts";

export const CATALOGUE: Catalogue = {
  sections: [
    { title: "Start", names: ["quickstart", "serve", "stop"] },
    { title: "Sign in", names: ["login", "logout", "whoami", "auth", "context", "profile"] },
    { title: "Find", names: ["search", "files", "entities", "access", "open"] },
    { title: "Connect agents", names: ["mcp", "tokens", "grants"] },
    { title: "Bring content in", names: ["connectors", "push", "roots"] },
    { title: "Run a workspace", names: ["workspace", "members", "invitations", "groups", "audit"] },
    { title: "On the server's machine", names: ["admin"] },
    { title: "Anything else", names: ["api", "version"] },
  ],
  nouns: [
    { name: "tokens", summary: "Personal access tokens." },
    { name: "connectors", summary: "What is indexed, and its syncs." },
    { name: "files", summary: "Indexed items." },
    { name: "entities", summary: "People, folders, labels and other things that items name." },
    { name: "access", summary: "Who can see what, and why." },
    { name: "auth", summary: "What this machine is signed in to." },
    { name: "context", summary: "The stored servers." },
    { name: "grants", summary: "OAuth clients that you allowed." },
    { name: "profile", summary: "Your name, time zone and password." },
    { name: "workspace", summary: "Your current workspace, and your others." },
    { name: "members", summary: "People of the workspace." },
    { name: "invitations", summary: "Invitations to the workspace." },
    { name: "groups", summary: "Groups of members, to control who can see what." },
    { name: "audit", summary: "What was done and read, and who did it." },
    { name: "admin", summary: "Operator tasks, run on the data folder." },
    { name: "roots", summary: "Folders on the server that connectors can read." },
  ],
  commands: withVerbAliases([
    ...HOST_COMMANDS,
    ...SESSION_COMMANDS,
    ...SEARCH_COMMANDS,
    ...MCP_COMMANDS,
    ...CONNECTOR_COMMANDS,
    ...PUSH_COMMANDS,
    ...FILE_COMMANDS,
    ...ENTITY_COMMANDS,
    ...ACCESS_COMMANDS,
    ...TOKEN_COMMANDS,
    ...AUTH_COMMANDS,
    ...WORKSPACE_COMMANDS,
    ...MEMBER_COMMANDS,
    ...INVITATION_COMMANDS,
    ...GROUP_COMMANDS,
    ...AUDIT_COMMANDS,
    ...ROOT_COMMANDS,
    ...ADMIN_COMMANDS,
    ...API_COMMANDS,
  ]),
};
