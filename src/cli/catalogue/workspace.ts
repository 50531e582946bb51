import type { CommandSpec } from "#cli/command.ts";
import { INVITATION_FIELDS, MEMBER_FIELDS, ROOT_FIELDS } from "./fields.ts";

export const MEMBER_COMMANDS: readonly CommandSpec[] = [
  {
    name: "members list",
    summary: "List the members of the workspace.",
    examples: ["kb members list"],
    exitCodes: [4, 7],
    fields: MEMBER_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/workspace.ts")).listMembers,
  },
  {
    name: "members update",
    summary: "Change a member's role.",
    arguments: [{ name: "member", summary: "e-mail or usr_…", required: true }],
    options: [{ flags: "--role <role>", summary: "the new role", choices: ["owner", "admin", "member"] }],
    examples: ["kb members update bo@example.com --role admin"],
    exitCodes: [3, 4, 5, 7],
    fields: MEMBER_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/workspace.ts")).updateMember,
  },
  {
    name: "members remove",
    summary: "Remove a member; every session and token of theirs dies.",
    arguments: [{ name: "member", summary: "e-mail or usr_…", required: true }],
    options: [{ flags: "--yes", summary: "do not ask" }],
    examples: ["kb members remove bo@example.com --yes"],
    exitCodes: [3, 4, 5, 7],
    isRemote: true,
    load: async () => (await import("#cli/commands/workspace.ts")).removeMember,
  },
];

export const INVITATION_COMMANDS: readonly CommandSpec[] = [
  {
    name: "invitations list",
    summary: "List invitations.",
    examples: ["kb invitations list"],
    exitCodes: [4, 7],
    fields: INVITATION_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/workspace.ts")).listInvitations,
  },
  {
    name: "invitations add",
    summary: "Invite somebody; the link is printed this once.",
    arguments: [{ name: "email", summary: "whom", required: true }],
    options: [{ flags: "--role <role>", summary: "their role (default: member)", choices: ["admin", "member"] }],
    examples: ["kb invitations add bo@example.com"],
    exitCodes: [4, 5, 7],
    fields: [...INVITATION_FIELDS, "url"],
    isRemote: true,
    load: async () => (await import("#cli/commands/workspace.ts")).addInvitation,
  },
  {
    name: "invitations remove",
    summary: "Withdraw an invitation.",
    arguments: [{ name: "id", summary: "inv_…", required: true }],
    examples: ["kb invitations remove inv_2345abcd2345abcd"],
    exitCodes: [3, 4, 7],
    isRemote: true,
    load: async () => (await import("#cli/commands/workspace.ts")).removeInvitation,
  },
];

export const ROOT_COMMANDS: readonly CommandSpec[] = [
  {
    name: "roots list",
    summary: "List the folders that connectors may read (owner, on the server's machine).",
    examples: ["kb roots list"],
    exitCodes: [4, 7],
    fields: ROOT_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/workspace.ts")).listRoots,
  },
  {
    name: "roots add",
    summary: "Allow a folder.",
    arguments: [{ name: "path", summary: "the folder", required: true }],
    examples: ["kb roots add ~/projects"],
    exitCodes: [4, 7],
    fields: ROOT_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/workspace.ts")).addRoot,
  },
  {
    name: "roots remove",
    summary: "Allow a folder no longer.",
    arguments: [{ name: "root", summary: "its path or rot_…", required: true }],
    examples: ["kb roots remove ~/projects"],
    exitCodes: [3, 4, 7],
    isRemote: true,
    load: async () => (await import("#cli/commands/workspace.ts")).removeRoot,
  },
];
