import type { CommandSpec } from "#cli/command.ts";
import { SESSION_FIELDS, TOKEN_FIELDS } from "./fields.ts";

export const SESSION_COMMANDS: readonly CommandSpec[] = [
  {
    name: "login",
    summary: "Sign in to a server in your browser; commands and the bridge use this login from then on.",
    details:
      "On a machine without a browser (over SSH, in CI, without a display) it shows a code to type into a browser elsewhere. The login renews itself and is kept in the system's keychain, or, where there is none, in a file that only you can read; it is sent only to this server. Scripts use --with-token, or --email with --password-stdin. On a server without users its setup code makes you the owner.",
    arguments: [{ name: "url", summary: "the server (default: KB_URL, the last one, or http://127.0.0.1:7700)" }],
    options: [
      { flags: "--device", summary: "show a code for a browser elsewhere" },
      {
        flags: "--admin",
        summary: "admin rights for an hour, beside your login; the browser asks your password again",
      },
      { flags: "--with-token", summary: "stdin holds a personal access token to use instead" },
      { flags: "--email <email>", summary: "sign in with e-mail and password, without a browser" },
      {
        flags: "--password-stdin",
        summary: "line 1 of stdin is the password, line 2 the setup code when one is needed",
      },
      { flags: "--invitation <url>", summary: "accept an invitation: its whole address" },
      { flags: "--name <name>", summary: "your name, when a user is made" },
      { flags: "--workspace-name <name>", summary: "name of the workspace, when the first user is made" },
      { flags: "--profile-name <name>", summary: "name of the stored server (default: its host)" },
      { flags: "--insecure-storage", summary: "keep the login in the file, not in the keychain" },
    ],
    examples: [
      "kb login https://kb.example.com",
      "kb login --device",
      "kb login https://kb.example.com --with-token < token.txt",
      "kb login --email ana@example.com --password-stdin < password.txt",
    ],
    exitCodes: [4, 5, 6, 7, 9, 130],
    isRemote: true,
    load: async () => (await import("#cli/commands/login.ts")).login,
  },
  {
    name: "logout",
    summary: "Sign out: end the login at the server, then forget it here.",
    examples: ["kb logout"],
    exitCodes: [4, 7],
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
