import type { ArgumentSpec, CommandSpec, OptionSpec } from "#cli/command.ts";
import { CONNECTOR_FIELDS, FILE_FIELDS, NODE_FIELDS, SOURCE_FIELDS, SYNC_FIELDS } from "./fields.ts";
import { FILE_LIST_OPTIONS } from "./reading.ts";

const CONNECTOR: readonly ArgumentSpec[] = [{ name: "connector", summary: "its name or con_…", required: true }];

const CREDENTIAL_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--credential <key=reference>",
    summary: "a secret by reference: key=@FILE, key=env:VARIABLE or key=-; may be repeated",
    repeatable: true,
  },
  { flags: "--account <id>", summary: "use a connected account: acc_…" },
  { flags: "--connection <id>", summary: "use a connection: cnx_…" },
];

const ACCESS_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--access <visibility>",
    summary: "who can see its items",
    choices: ["private", "members", "workspace", "source"],
  },
  { flags: "--member <member>", summary: "with members: id, e-mail or name; may be repeated", repeatable: true },
  { flags: "--group <group>", summary: "with members: id or name; may be repeated", repeatable: true },
  { flags: "--every <duration>", summary: "how often to sync: 30m, 6h, or never" },
];

const SCOPE_OPTIONS: readonly OptionSpec[] = [
  { flags: "--include <pattern>", summary: "include only these; may be repeated", repeatable: true },
  { flags: "--exclude <pattern>", summary: "leave these out; may be repeated", repeatable: true },
];

const SET_OPTION: OptionSpec = {
  flags: "--set <key=value>",
  summary: "a setting of the source; may be repeated",
  repeatable: true,
};

const WAIT_OPTIONS: readonly OptionSpec[] = [
  { flags: "--wait", summary: "wait until it ends, and show progress" },
  { flags: "--timeout <duration>", summary: "the longest time to wait, such as 10m (default: no limit)" },
];

export const CONNECTOR_COMMANDS: readonly CommandSpec[] = [
  {
    name: "connectors list",
    summary: "List connectors.",
    options: [
      { flags: "--mine", summary: "only my own" },
      { flags: "--provider <provider>", summary: "only this kind of source" },
      { flags: "--state <state>", summary: "only in this state" },
      { flags: "--find <text>", summary: "a part of the name" },
    ],
    examples: ["kb connectors list"],
    exitCodes: [4, 7],
    fields: CONNECTOR_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).listConnectors,
  },
  {
    name: "connectors sources",
    summary: "List what can be connected, and its settings.",
    examples: ["kb connectors sources"],
    exitCodes: [4, 7],
    fields: SOURCE_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).listSources,
  },
  {
    name: "connectors show",
    summary: "Show one connector.",
    arguments: CONNECTOR,
    examples: ["kb connectors show docs"],
    exitCodes: [3, 4, 7],
    fields: CONNECTOR_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).showConnector,
  },
  {
    name: "connectors add",
    summary: "Connect a source; its first sync starts at once.",
    details:
      "On a terminal it asks for the settings that are missing. Only you can see the items unless you set --access.",
    arguments: [{ name: "provider", summary: "filesystem, push, … (kb connectors sources)", required: true }],
    options: [
      { flags: "--name <name>", summary: "its name (default: from its settings)" },
      SET_OPTION,
      { flags: "--config <file>", summary: "settings as a JSON object from a file, or - for stdin" },
      ...CREDENTIAL_OPTIONS,
      ...ACCESS_OPTIONS,
      ...SCOPE_OPTIONS,
      ...WAIT_OPTIONS,
    ],
    examples: [
      "kb connectors add filesystem --set root=./docs --access workspace --wait",
      "kb connectors add push --name tickets",
    ],
    exitCodes: [4, 5, 7, 8, 9, 130],
    fields: [...CONNECTOR_FIELDS, "key"],
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors-add.ts")).addConnector,
  },
  {
    name: "connectors update",
    summary: "Change a connector's name, settings, access, schedule or credential.",
    arguments: CONNECTOR,
    options: [{ flags: "--name <name>", summary: "a new name" }, SET_OPTION, ...CREDENTIAL_OPTIONS, ...ACCESS_OPTIONS],
    examples: ["kb connectors update docs --every 1h"],
    exitCodes: [3, 4, 5, 7],
    fields: CONNECTOR_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).updateConnector,
  },
  {
    name: "connectors browse",
    summary: "Browse what a source holds before you connect it.",
    arguments: [{ name: "provider", summary: "filesystem, github, …", required: true }],
    options: [
      SET_OPTION,
      ...CREDENTIAL_OPTIONS,
      { flags: "--parent <id>", summary: "inside this one" },
      { flags: "--find <text>", summary: "only these names" },
      { flags: "--cursor <cursor>", summary: "the next page" },
    ],
    examples: ["kb connectors browse filesystem --set root=/srv/docs"],
    exitCodes: [4, 7],
    fields: NODE_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).browse,
  },
  {
    name: "connectors files",
    summary: "List a connector's items that you can see.",
    arguments: CONNECTOR,
    options: FILE_LIST_OPTIONS,
    examples: ["kb connectors files docs --state failed"],
    exitCodes: [3, 4, 7],
    fields: FILE_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).listConnectorFiles,
  },
  {
    name: "connectors sync",
    summary: "Start a sync, or join the queued one.",
    arguments: CONNECTOR,
    options: [
      {
        flags: "--mode <mode>",
        summary: "how much to look at",
        choices: ["full", "incremental", "items"],
      },
      { flags: "--item <externalId>", summary: "only this item; may be repeated", repeatable: true },
      ...WAIT_OPTIONS,
    ],
    examples: ["kb connectors sync docs --wait --timeout 10m"],
    exitCodes: [3, 4, 5, 7, 8, 9, 130],
    fields: SYNC_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/syncs.ts")).startSync,
  },
  {
    name: "connectors cancel",
    summary: "Cancel a connector's running sync; what it stored stays.",
    arguments: CONNECTOR,
    options: [{ flags: "--sync <id>", summary: "this one: syn_… (default: the running one)" }],
    examples: ["kb connectors cancel docs"],
    exitCodes: [3, 4, 5, 7],
    fields: SYNC_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/syncs.ts")).cancelSync,
  },
  {
    name: "connectors progress",
    summary: "Show running syncs, or the runs of one connector.",
    arguments: [{ name: "connector", summary: "its name or con_…" }],
    options: [{ flags: "--watch", summary: "keep watching; prints one JSON record per change" }],
    examples: ["kb connectors progress", "kb connectors progress docs --watch"],
    exitCodes: [3, 4, 7, 130],
    fields: SYNC_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/syncs.ts")).showProgress,
  },
  {
    name: "connectors removals",
    summary: "Show removals that wait for approval; approve or reject them.",
    details: "When a sync would remove unusually many items, it holds the removals until you approve them.",
    arguments: CONNECTOR,
    options: [
      { flags: "--approve", summary: "remove them" },
      { flags: "--reject", summary: "keep them" },
      { flags: "--yes", summary: "skip the confirmation" },
    ],
    examples: ["kb connectors removals docs", "kb connectors removals docs --approve --yes"],
    exitCodes: [3, 4, 5, 7],
    fields: ["kbId", "heldAt", "syncId", "externalId", "title"],
    isRemote: true,
    load: async () => (await import("#cli/commands/syncs.ts")).listRemovals,
  },
  {
    name: "connectors pause",
    summary: "Pause a connector's schedule; its items stay searchable.",
    arguments: CONNECTOR,
    examples: ["kb connectors pause docs"],
    exitCodes: [3, 4, 5, 7],
    fields: CONNECTOR_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).setPaused("pause"),
  },
  {
    name: "connectors resume",
    summary: "Resume a paused connector.",
    arguments: CONNECTOR,
    examples: ["kb connectors resume docs"],
    exitCodes: [3, 4, 5, 7],
    fields: CONNECTOR_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).setPaused("resume"),
  },
  {
    name: "connectors scope",
    summary: "Show or set what a connector includes.",
    arguments: CONNECTOR,
    options: [...SCOPE_OPTIONS, { flags: "--all", summary: "include everything again" }],
    examples: ["kb connectors scope docs --exclude 'drafts/**'"],
    exitCodes: [3, 4, 5, 7],
    fields: ["include", "exclude", ...CONNECTOR_FIELDS],
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).setScope,
  },
  {
    name: "connectors rotate-key",
    summary: "Create a new key for your push connector, or revoke the key of somebody else's.",
    arguments: CONNECTOR,
    options: [{ flags: "--overlap <duration>", summary: "how long the old key still works (default: 10m)" }],
    examples: ["kb connectors rotate-key tickets > key.txt"],
    exitCodes: [3, 4, 5, 7],
    fields: ["key"],
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).rotateKey,
  },
  {
    name: "connectors remove",
    summary: "Remove a connector and everything it indexed.",
    arguments: CONNECTOR,
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb connectors remove docs --yes"],
    exitCodes: [3, 4, 5, 7],
    isRemote: true,
    load: async () => (await import("#cli/commands/connectors.ts")).removeConnector,
  },
];

export const PUSH_COMMANDS: readonly CommandSpec[] = [
  {
    name: "push",
    summary: "Send items to a push connector with its key.",
    details:
      "Files that end in .ndjson or .jsonl, and stdin, hold one JSON event per line (docs/sources/push.md); every other file is a document, of which the text is kept, and a folder is the documents in it. Programs get each result as NDJSON on stdout, a terminal those that went wrong. What fails in passing is tried again; after an interruption the same command goes on where it was. The key is KB_CONNECTOR_KEY or --key by reference; a file or variable is read again when the key is rotated meanwhile. It goes to KB_URL or --url, where an id needs no login, or to the server that you are signed in to and that made it.",
    arguments: [
      { name: "connector", summary: "its name (needs a login) or con_…", required: true },
      {
        name: "path",
        summary: "files, folders and patterns like 'docs/**/*.md' (default: NDJSON on stdin)",
        variadic: true,
      },
    ],
    options: [
      { flags: "--key <reference>", summary: "@FILE, env:VARIABLE or - (default: KB_CONNECTOR_KEY)" },
      { flags: "--whole-set", summary: "the items are the whole set: what you don't send is removed at the end" },
      {
        flags: "--as <kind>",
        summary: "read every file as this (default: by its name)",
        choices: ["lines", "documents"],
      },
      {
        flags: "--access <principal>",
        summary: "who can read documents: workspace, user:usr_… or group:grp_…; may be repeated (default: workspace)",
        repeatable: true,
      },
      { flags: "--name <name>", summary: "a name for the input on stdin, so that you can resume it" },
    ],
    examples: [
      "kb push tickets --key @tickets.key items.ndjson",
      "kb push con_2345abcd2345abcd items.ndjson",
      "kb push handbook --key @handbook.key --whole-set docs/",
    ],
    exitCodes: [3, 4, 5, 6, 7, 8, 130],
    fields: ["line", "externalId", "result", "error", "notes"],
    isRemote: true,
    load: async () => (await import("#cli/commands/push.ts")).push,
  },
];
