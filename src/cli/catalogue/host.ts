import type { CommandSpec } from "#cli/command.ts";

const DATA_DIR = {
  flags: "--data-dir <folder>",
  summary: "where the data is (default: KB_DATA_DIR, else the person's data folder)",
};

export const HOST_COMMANDS: readonly CommandSpec[] = [
  {
    name: "quickstart",
    summary: "Start a server here, index folders, run a first search, and print how to connect an agent.",
    details:
      "Serves on 127.0.0.1 only and keeps running. A second run uses the same server. It never changes an installation that quickstart didn't create. After Ctrl-C, the next run continues.",
    arguments: [{ name: "path", summary: "folders to index (default: the current one)", variadic: true }],
    options: [
      DATA_DIR,
      { flags: "--port <port>", summary: "the port to serve on (default: KB_PORT, else 7700 or a free one)" },
      { flags: "--query <words>", summary: "what to search for at the end (default: from a title)" },
      { flags: "--generated", summary: "also index node_modules, target, dist and other generated folders" },
      { flags: "--yes", summary: "don't ask about many files or other users' files" },
      { flags: "--foreground", summary: "stay in the foreground, and stop the server on Ctrl-C" },
    ],
    examples: ["kb quickstart ~/notes", "kb stop"],
    exitCodes: [4, 7, 8, 130],
    load: async () => (await import("#cli/commands/quickstart.ts")).quickstart,
  },
  {
    name: "stop",
    summary: "Stop the server that quickstart started.",
    options: [
      {
        flags: "--data-dir <folder>",
        summary: "where its data is (default: KB_DATA_DIR, else that of the profile in use)",
      },
    ],
    examples: ["kb stop"],
    load: async () => (await import("#cli/commands/stop.ts")).stop,
  },
  {
    name: "serve",
    summary: "Run the server in this process.",
    options: [
      { flags: "--port <port>", summary: "default: KB_PORT, else 7700" },
      { flags: "--host <host>", summary: "the address to listen on (default: KB_HOST, else 127.0.0.1)" },
      DATA_DIR,
      { flags: "--config <file>", summary: "settings as YAML" },
      {
        flags: "--insecure-http",
        summary:
          "let people sign in over plain HTTP from other machines; anybody on the network can read their passwords",
      },
    ],
    examples: ["kb serve --port 7700"],
    exitCodes: [7],
    load: async () => (await import("#cli/commands/serve.ts")).serve,
  },
];

export const ADMIN_COMMANDS: readonly CommandSpec[] = [
  {
    name: "admin set-password",
    summary: "Set a person's password and end all their sign-ins.",
    details:
      "For a person who lost their password when the server sends no e-mail. Run it as the user that runs the server; it works on the data folder, whether the server runs or not. It asks for the password or reads it from stdin, never from an argument. The audit log records it.",
    arguments: [{ name: "email", summary: "the address of the account", required: true }],
    options: [DATA_DIR, { flags: "--password-stdin", summary: "line 1 of stdin is the new password" }],
    examples: [
      "kb admin set-password ana@example.com",
      "kb admin set-password ana@example.com --password-stdin < password.txt",
    ],
    exitCodes: [3, 7],
    load: async () => (await import("#cli/commands/admin.ts")).setPassword,
  },
  {
    name: "admin setup-code",
    summary: "Print a new setup code for the first admin; it replaces the previous one.",
    options: [DATA_DIR],
    examples: ["kb admin setup-code --data-dir /var/lib/kb"],
    exitCodes: [5, 7],
    load: async () => (await import("#cli/commands/admin.ts")).setupCode,
  },
  {
    name: "admin reopen-setup",
    summary: "Print a setup code that creates one more owner, valid for an hour.",
    details:
      "For an installation without an owner. If there is one workspace, the new owner joins it; otherwise they get a new one. The audit log records it. Not available in managed mode.",
    options: [DATA_DIR],
    examples: ["kb admin reopen-setup --data-dir /var/lib/kb"],
    exitCodes: [5, 7],
    load: async () => (await import("#cli/commands/admin.ts")).reopenSetup,
  },
];

export const MCP_COMMANDS: readonly CommandSpec[] = [
  {
    name: "mcp",
    aliases: ["bridge"],
    summary: "Bridge an agent on stdin and stdout to the server's MCP endpoint.",
    details:
      "For agents that start a command. It answers at once and connects on the first request; stdout carries only MCP messages.",
    options: [
      { flags: "--log-file <file>", summary: "write the log to this file as well as to stderr" },
      { flags: "--verbose", summary: "log every call" },
    ],
    examples: ["kb mcp", "kb mcp --url https://kb.example.com"],
    isRemote: true,
    load: async () => (await import("#cli/commands/mcp.ts")).mcp,
  },
];

export const API_COMMANDS: readonly CommandSpec[] = [
  {
    name: "version",
    summary: "Print the version.",
    examples: ["kb version"],
    load: async () => (await import("#cli/commands/version.ts")).printVersion,
  },
  {
    name: "api",
    summary: "Call a path of the server's API.",
    arguments: [
      { name: "method", summary: "GET, POST, PATCH, PUT, DELETE", required: true },
      { name: "path", summary: "such as /api/connectors", required: true },
    ],
    options: [
      { flags: "-f, --raw-field <key=value>", summary: "a field as text; may be repeated", repeatable: true },
      { flags: "-F, --field <key=value>", summary: "a field as JSON, or key=@FILE; may be repeated", repeatable: true },
      { flags: "--body <file>", summary: "the whole body from a file, or - for stdin" },
      { flags: "--paginate", summary: "all pages, one JSON document per line" },
      { flags: "-i, --include", summary: "status and headers, on stderr" },
    ],
    examples: ["kb api GET /api/connectors", "kb api POST /api/groups -f name=Team"],
    exitCodes: [3, 4, 5, 6, 7],
    isRemote: true,
    load: async () => (await import("#cli/commands/api.ts")).callApi,
  },
];
