import type { CommandSpec } from "#cli/command.ts";
import { GRANT_FIELDS, LOGIN_FIELDS, SESSION_FIELDS, TOKEN_FIELDS, USER_FIELDS } from "./fields.ts";
import { PASSWORD_STDIN } from "./options.ts";

export const SESSION_COMMANDS: readonly CommandSpec[] = [
  {
    name: "login",
    summary: "Sign in to a server in your browser; commands and the bridge then use this login.",
    details:
      "On a machine without a browser (over SSH, in CI, without a display) it shows a code to type into a browser elsewhere. The login renews itself and is kept in the system's keychain, or, where there is none, in a file that only you can read; it is sent only to this server. Scripts use --with-token, or --email with --password-stdin. On a server without users its setup code makes you the owner.",
    arguments: [{ name: "url", summary: "the server (default: KB_URL, the last one, or http://127.0.0.1:7700)" }],
    options: [
      { flags: "--device", summary: "show a code for a browser elsewhere" },
      {
        flags: "--admin",
        summary: "get admin rights for an hour, in addition to your login; the browser asks for your password again",
      },
      { flags: "--with-token", summary: "stdin holds a personal access token to use instead" },
      { flags: "--email <email>", summary: "sign in with e-mail and password, without a browser" },
      {
        flags: "--password-stdin",
        summary: "read the password from line 1 of stdin, and the setup code, if needed, from line 2",
      },
      { flags: "--invitation <url>", summary: "accept an invitation: its full link" },
      { flags: "--name <name>", summary: "your name, when the account is created" },
      { flags: "--workspace-name <name>", summary: "name of the workspace, when the first user is created" },
      { flags: "--profile-name <name>", summary: "name of the stored server (default: its host)" },
      { flags: "--insecure-storage", summary: "store the login in a file, not in the keychain" },
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
    summary: "Sign out: end the login at the server and remove it from this machine.",
    examples: ["kb logout"],
    exitCodes: [4, 7],
    isRemote: true,
    load: async () => (await import("#cli/commands/session.ts")).logout,
  },
  {
    name: "whoami",
    summary: "Show who is signed in, to which server, with which credential.",
    examples: ["kb whoami", "kb whoami --json user,role"],
    exitCodes: [4, 7],
    fields: SESSION_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/session.ts")).whoami,
  },
];

export const AUTH_COMMANDS: readonly CommandSpec[] = [
  {
    name: "auth status",
    summary: "Show the stored logins: who, how, and where each is kept. Contacts no server.",
    examples: ["kb auth status", "kb auth status --json"],
    exitCodes: [4],
    fields: LOGIN_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/auth.ts")).authStatus,
  },
  {
    name: "context list",
    summary: "List the stored servers.",
    examples: ["kb context list"],
    fields: ["name", "url", "isCurrent", "email"],
    load: async () => (await import("#cli/commands/context.ts")).listContexts,
  },
  {
    name: "context use",
    summary: "Switch to a stored server.",
    arguments: [{ name: "name", summary: "its name in kb context list", required: true }],
    examples: ["kb context use kb.example.com"],
    load: async () => (await import("#cli/commands/context.ts")).useContext,
  },
  {
    name: "context remove",
    summary: "Remove a stored server that you are signed out of.",
    arguments: [{ name: "name", summary: "its name in kb context list", required: true }],
    examples: ["kb context remove kb.example.com"],
    exitCodes: [5],
    load: async () => (await import("#cli/commands/context.ts")).removeContext,
  },
  {
    name: "grants list",
    summary: "List the OAuth clients that you allowed.",
    examples: ["kb grants list"],
    exitCodes: [4, 7],
    fields: GRANT_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/grants.ts")).listGrants,
  },
  {
    name: "grants revoke",
    summary: "Revoke a client's access; its tokens stop working at once.",
    arguments: [{ name: "id", summary: "gra_…", required: true }],
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb grants revoke gra_2345abcd2345abcd --yes"],
    exitCodes: [3, 4, 7],
    isRemote: true,
    load: async () => (await import("#cli/commands/grants.ts")).revokeGrant,
  },
  {
    name: "profile show",
    summary: "Show your name, e-mail and time zone.",
    examples: ["kb profile show"],
    exitCodes: [4, 7],
    fields: USER_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/profile.ts")).showProfile,
  },
  {
    name: "profile update",
    summary: "Change your name or time zone.",
    options: [
      { flags: "--name <name>", summary: "as others see it" },
      { flags: "--time-zone <zone>", summary: "such as Europe/Vienna, or none for the workspace's" },
    ],
    examples: ["kb profile update --time-zone Europe/Vienna"],
    exitCodes: [4, 7],
    fields: USER_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/profile.ts")).updateProfile,
  },
  {
    name: "profile password",
    summary: "Change your password; this signs out your other sessions and the clients you allowed.",
    options: [
      {
        flags: "--password-stdin",
        summary: "read your current password from line 1 of stdin, the new one from line 2",
      },
      { flags: "--email <email>", summary: "the account, when nobody is signed in here" },
    ],
    examples: ["kb profile password", "kb profile password --password-stdin < passwords.txt"],
    exitCodes: [4, 6, 7],
    isRemote: true,
    load: async () => (await import("#cli/commands/profile.ts")).changePassword,
  },
  {
    name: "open",
    summary: "Open the server's web page in the browser, and print its address.",
    arguments: [{ name: "what", summary: "settings, or kbi_… for an item (default: the start page)" }],
    examples: ["kb open", "kb open settings"],
    isRemote: true,
    load: async () => (await import("#cli/commands/open.ts")).openPage,
  },
];

export const TOKEN_COMMANDS: readonly CommandSpec[] = [
  {
    name: "tokens list",
    summary: "List your active tokens, newest first.",
    examples: ["kb tokens list"],
    exitCodes: [4, 7],
    fields: TOKEN_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/tokens.ts")).listTokens,
  },
  {
    name: "tokens create",
    summary: "Create a token; it is printed this once, alone on stdout.",
    details:
      "If you signed in with a browser, the token belongs to that login: it has at most its scopes, lasts at most 30 days, and ends with it. Confirm your password (--password-stdin, or when asked) to create a token that outlives the login.",
    arguments: [{ name: "name", summary: "what it is for", required: true }],
    options: [
      {
        flags: "--scope <scope>",
        summary: "its scope (default: mcp:read); may be repeated",
        choices: ["mcp:read", "kb:api", "kb:admin"],
        repeatable: true,
      },
      { flags: "--expires <duration>", summary: "for example 30d (default: never)" },
      PASSWORD_STDIN,
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
