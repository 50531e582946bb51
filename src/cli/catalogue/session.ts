import type { CommandSpec } from "#cli/command.ts";
import { SESSION_FIELDS, TOKEN_FIELDS } from "./fields.ts";

export const SESSION_COMMANDS: readonly CommandSpec[] = [
  {
    name: "login",
    summary: "Sign in to a server, and give the bridge a token of its own.",
    details:
      "With e-mail and password; on a server without users with its setup code, which makes you the owner; with an invitation's address as a new member. Session and token are kept in a file that only you can read, and are sent only to this server.",
    arguments: [{ name: "url", summary: "the server (default: KB_URL, the last one, or http://127.0.0.1:7700)" }],
    options: [
      { flags: "--email <email>", summary: "your e-mail address" },
      {
        flags: "--password-stdin",
        summary: "line 1 of stdin is the password, line 2 the setup code when one is needed",
      },
      { flags: "--with-token", summary: "stdin holds a personal access token to use instead" },
      { flags: "--invitation <url>", summary: "the whole address of an invitation" },
      { flags: "--name <name>", summary: "your name, when a user is made" },
      { flags: "--workspace-name <name>", summary: "name of the workspace, when the first user is made" },
      { flags: "--profile-name <name>", summary: "name of the stored server (default: its host)" },
    ],
    examples: [
      "kb login https://kb.example.com",
      "kb login --email ana@example.com --password-stdin < password.txt",
      "kb login https://kb.example.com --with-token < token.txt",
    ],
    exitCodes: [4, 7],
    isRemote: true,
    load: async () => (await import("#cli/commands/session.ts")).login,
  },
  {
    name: "logout",
    summary: "Sign out: revoke session and token, forget both.",
    examples: ["kb logout"],
    exitCodes: [7],
    isRemote: true,
    load: async () => (await import("#cli/commands/session.ts")).logout,
  },
  {
    name: "whoami",
    summary: "Who is signed in, to which server, with which credential.",
    examples: ["kb whoami", "kb whoami --json user,role"],
    exitCodes: [4, 7],
    fields: SESSION_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/session.ts")).whoami,
  },
];

export const TOKEN_COMMANDS: readonly CommandSpec[] = [
  {
    name: "tokens list",
    summary: "List your active tokens, the newest first.",
    examples: ["kb tokens list"],
    exitCodes: [4, 7],
    fields: TOKEN_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/tokens.ts")).listTokens,
  },
  {
    name: "tokens create",
    summary: "Create a token; it is printed this once, alone on stdout.",
    arguments: [{ name: "name", summary: "what it is for", required: true }],
    options: [
      {
        flags: "--scope <scope>",
        summary: "what it opens (default: mcp:read); may be repeated",
        choices: ["mcp:read", "kb:api", "kb:admin"],
        repeatable: true,
      },
      { flags: "--expires <duration>", summary: "for example 30d (default: never)" },
    ],
    examples: ["kb tokens create ci --scope kb:api --expires 90d > token.txt"],
    exitCodes: [4, 5, 7],
    fields: ["token", "plaintext", "mcpUrl"],
    isRemote: true,
    load: async () => (await import("#cli/commands/tokens.ts")).createToken,
  },
  {
    name: "tokens revoke",
    summary: "Revoke a token at once.",
    arguments: [{ name: "id", summary: "tok_…", required: true }],
    examples: ["kb tokens revoke tok_2345abcd2345abcd"],
    exitCodes: [3, 4, 7],
    fields: TOKEN_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/tokens.ts")).revokeToken,
  },
];
