import type { CommandSpec, OptionSpec } from "#cli/command.ts";
import { TEXT_REASONS } from "#api/text-reasons.ts";
import { DATE_FIELDS, DETAILS, ENTITY_TYPES, GROUPINGS, SORT_ORDERS, TOOL_KINDS } from "#api/tools.ts";
import { ACCESS_FIELDS, ENTITY_FIELDS, FILE_COUNT_FIELDS, FILE_FIELDS, RESULT_FIELDS } from "./fields.ts";

const PAGE_OPTIONS: readonly OptionSpec[] = [
  { flags: "--limit <n>", summary: "the page size" },
  { flags: "--cursor <cursor>", summary: "the cursor that the previous page printed" },
];

/** Options of a list of items; `connectors files` has them too. */
export const FILE_LIST_OPTIONS: readonly OptionSpec[] = [
  { flags: "--find <text>", summary: "a part of the title" },
  { flags: "--kind <kind>", summary: "only these", choices: TOOL_KINDS },
  {
    flags: "--state <state>",
    summary: "only items in this state of indexing",
    choices: ["indexed", "unsearchable", "pending", "failed", "held"],
  },
  { flags: "--reason <reason>", summary: "only items without searchable text for this reason", choices: TEXT_REASONS },
  { flags: "--sort <order>", summary: "newest first, or by title", choices: ["updatedAt", "title"] },
  ...PAGE_OPTIONS,
];

export const SEARCH_COMMANDS: readonly CommandSpec[] = [
  {
    name: "search",
    summary: "Search the items that you can see.",
    details: `Use words, "exact phrases", -without, prefix*. Without words, the newest items come first. Put -- before words that start with a dash.`,
    arguments: [{ name: "query", summary: "2 to 6 words that the text would contain", variadic: true }],
    options: [
      { flags: "--kind <kind>", summary: "only these", choices: TOOL_KINDS },
      { flags: "--status <status>", summary: "of tasks", choices: ["open", "done"] },
      { flags: "--assignee <person>", summary: "me, a name, an e-mail or an entity id" },
      { flags: "--people <person>", summary: "the same, in any role" },
      { flags: "--source <source>", summary: "a provider (github) or a place (github:acme/web)" },
      {
        flags: "--field <name:value>",
        summary: "a field of the item (status:draft, created:2024-03); may be repeated",
        repeatable: true,
      },
      { flags: "--after <day>", summary: "2026-11-01, today, 7d (ago), +7d (ahead)" },
      { flags: "--before <day>", summary: "up to and including this day" },
      { flags: "--date-field <field>", summary: "the date that --after and --before mean", choices: DATE_FIELDS },
      { flags: "--sort-by <order>", summary: "order of the results", choices: SORT_ORDERS },
      { flags: "--group-by <group>", summary: "also count the results by this", choices: GROUPINGS },
      { flags: "--detail <detail>", summary: "length of the snippets", choices: DETAILS },
      ...PAGE_OPTIONS,
    ],
    examples: [
      "kb search quarterly plan --kind page --after 30d",
      "kb search '\"exact phrase\"' --json kbId,title,url",
    ],
    exitCodes: [4, 6, 7],
    fields: RESULT_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/search.ts")).search,
  },
];

export const FILE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "files list",
    summary: "List indexed items that you can see.",
    options: [
      { flags: "--connector <connector>", summary: "only of this connector: id or name" },
      { flags: "--provider <provider>", summary: "only this kind of source" },
      { flags: "--source <source>", summary: "only of this place, exactly as printed" },
      ...FILE_LIST_OPTIONS,
    ],
    examples: ["kb files list --state unsearchable"],
    exitCodes: [4, 7],
    fields: FILE_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/files.ts")).listFiles,
  },
  {
    name: "files get",
    summary: "Print an item's text, or fetch the original.",
    details: "Exit code 1 when --find matches nothing, or when the item has no text; then it says why.",
    arguments: [{ name: "kbId", summary: "kbi_…", required: true }],
    options: [
      { flags: "--range <from-to>", summary: "only these characters: 0-4000, or 8000-" },
      { flags: "--section <name>", summary: "only this section: a heading, page 3, an anchor, or L10 for a line" },
      { flags: "--find <words>", summary: "only the passages around these words" },
      { flags: "--original", summary: "the source's original bytes" },
      { flags: "-o, --output <file>", summary: "write to this file" },
    ],
    examples: ["kb files get kbi_2345abcd2345abcd --find budget"],
    exitCodes: [3, 4, 7],
    isRemote: true,
    load: async () => (await import("#cli/commands/files.ts")).getFile,
  },
  {
    name: "files counts",
    summary: "Count the items that you can see, by source and kind.",
    examples: ["kb files counts"],
    exitCodes: [4, 7],
    fields: FILE_COUNT_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/files.ts")).countFiles,
  },
];

export const ENTITY_COMMANDS: readonly CommandSpec[] = [
  {
    name: "entities search",
    summary: "Find people, folders, labels and other things by name.",
    arguments: [{ name: "query", summary: "a name, an e-mail, a login", variadic: true }],
    options: [{ flags: "--type <type>", summary: "only these", choices: ENTITY_TYPES }, ...PAGE_OPTIONS],
    examples: ["kb entities search anna --type person"],
    exitCodes: [4, 7],
    fields: ENTITY_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/entities.ts")).searchEntities,
  },
  {
    name: "entities show",
    summary: "Show what the items that you can see say about an entity.",
    arguments: [{ name: "entity", summary: "ent_…", required: true }],
    examples: ["kb entities show ent_2345abcd2345abcd"],
    exitCodes: [3, 4, 7],
    fields: ["entity", "counts", "openTasks", "newest", "relations", "notes"],
    isRemote: true,
    load: async () => (await import("#cli/commands/entities.ts")).showEntity,
  },
];

export const ACCESS_COMMANDS: readonly CommandSpec[] = [
  {
    name: "access explain",
    summary: "Explain why somebody can or can't see an item.",
    arguments: [{ name: "kbId", summary: "kbi_…", required: true }],
    options: [{ flags: "--user <member>", summary: "another member (admin): id, e-mail or name" }],
    examples: ["kb access explain kbi_2345abcd2345abcd"],
    exitCodes: [3, 4, 7],
    fields: ACCESS_FIELDS,
    isRemote: true,
    load: async () => (await import("#cli/commands/access.ts")).explainAccess,
  },
];
