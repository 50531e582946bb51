import { DATE_FIELDS, DETAILS, ENTITY_TYPES, GROUPINGS, SORT_ORDERS, TOOL_LIMITS, type ToolName } from "#api/tools.ts";

/**
 * The rule for an argument's value. Input is read leniently, and every correction is reported in a note. Source: B3,
 * B4.
 */
export type ArgumentRule =
  /** `isFilter`: the values `any`, `all`, `none` and `*` mean "not given". */
  | { type: "text"; isFilter?: boolean; isRequired?: boolean; maxChars?: number; isCut?: boolean }
  | { type: "choice"; values: readonly string[]; synonyms?: Readonly<Record<string, string>> }
  /** One or several kinds. */
  | { type: "kinds" }
  | { type: "boolean" }
  | { type: "integer"; min: number; max: number; fallback: number; isZeroAbsent?: boolean }
  /** Words that mean "none" give an empty list. The caller checks all other values. */
  | { type: "cursor" };

const FILTER: ArgumentRule = { type: "text", isFilter: true };
const LIMIT: ArgumentRule = { type: "integer", ...TOOL_LIMITS.limit, isZeroAbsent: true };
/** An empty query requests the newest items. */
export const QUERY: ArgumentRule = { type: "text", maxChars: TOOL_LIMITS.queryChars, isCut: true };
/** The maximum length of a value other than a query. No valid value is longer. */
export const ADDRESS_CHARS = 2100;

function size(fallback: number): ArgumentRule {
  return {
    type: "integer",
    min: TOOL_LIMITS.maxTokens.min,
    max: TOOL_LIMITS.maxTokens.max,
    fallback,
    isZeroAbsent: true,
  };
}

/** The arguments of each tool, by published name. */
export const ARGUMENTS: Record<ToolName, Readonly<Record<string, ArgumentRule>>> = {
  kb_search: {
    query: QUERY,
    kind: { type: "kinds" },
    status: {
      type: "choice",
      values: ["open", "done"],
      synonyms: {
        closed: "done",
        resolved: "done",
        completed: "done",
        complete: "done",
        finished: "done",
        todo: "open",
        in_progress: "open",
        "in progress": "open",
        active: "open",
      },
    },
    assignee: FILTER,
    people: FILTER,
    priority: FILTER,
    source: { ...FILTER, maxChars: ADDRESS_CHARS },
    after: FILTER,
    before: FILTER,
    dateField: {
      type: "choice",
      values: DATE_FIELDS,
      synonyms: { updatedat: "updated", createdat: "created", dueat: "due", modified: "updated" },
    },
    sortBy: {
      type: "choice",
      values: SORT_ORDERS,
      synonyms: { date: "recency", newest: "recency", latest: "recency", recent: "recency", updated: "recency" },
    },
    groupBy: { type: "choice", values: GROUPINGS, synonyms: { people: "person", provider: "source" } },
    limit: LIMIT,
    maxTokens: size(TOOL_LIMITS.maxTokens.search),
    detail: { type: "choice", values: DETAILS, synonyms: { full: "detailed", short: "concise", brief: "concise" } },
    cursor: { type: "cursor" },
    live: { type: "boolean" },
  },
  kb_search_entities: {
    query: QUERY,
    type: {
      type: "choice",
      values: ENTITY_TYPES,
      synonyms: { people: "person", user: "person", repo: "repository", directory: "folder", tag: "label" },
    },
    limit: LIMIT,
    maxTokens: size(TOOL_LIMITS.maxTokens.entities),
    cursor: { type: "cursor" },
  },
  kb_get_entity_context: {
    entity: { type: "text", isRequired: true, maxChars: ADDRESS_CHARS },
    kind: { type: "kinds" },
    after: FILTER,
    maxTokens: size(TOOL_LIMITS.maxTokens.context),
  },
  kb_get_file_content: {
    kbId: { type: "text", isRequired: true, maxChars: ADDRESS_CHARS },
    find: { type: "text" },
    offset: { type: "integer", min: 0, max: 2 ** 40, fallback: 0 },
    maxTokens: size(TOOL_LIMITS.maxTokens.content),
  },
};

/** Other names that models use for the arguments. */
export const ALIASES: Record<ToolName, Readonly<Record<string, string>>> = {
  kb_search: {
    q: "query",
    text: "query",
    sort: "sortBy",
    sort_by: "sortBy",
    type: "kind",
    since: "after",
    updatedAfter: "after",
    until: "before",
    updatedBefore: "before",
    providerId: "source",
    container: "source",
    app: "source",
    person: "people",
    author: "people",
    sender: "people",
    owner: "assignee",
    assigned_to: "assignee",
    assignedTo: "assignee",
    group_by: "groupBy",
    date_field: "dateField",
    max_tokens: "maxTokens",
  },
  kb_search_entities: { q: "query", name: "query", text: "query", kind: "type", max_tokens: "maxTokens" },
  kb_get_entity_context: { entityId: "entity", name: "entity", id: "entity", since: "after", max_tokens: "maxTokens" },
  kb_get_file_content: { id: "kbId", url: "kbId", fileId: "kbId", key: "kbId", query: "find", max_tokens: "maxTokens" },
};

/**
 * Arguments that hosts add to every call, each with a reference to its report. The model didn't write them and can't
 * leave them out, so they are dropped with a note. None of them is one of our argument names in any spelling (a test
 * checks this), since dropping a filter would return more items than requested.
 */
export const HOST_ARGUMENTS: ReadonlySet<string> = new Set([
  // n8n, MCP Client Tool. Reported: n8n-io/n8n#21500
  "toolCallId",
  "tool",
  // n8n, the fields of its chat trigger. Reported: n8n-io/n8n#22787
  "sessionId",
  "action",
  "chatInput",
  // Some hosts put the request's metadata inside the arguments. Source: MCP specification, `_meta` of `params`.
  "_meta",
  // Cline, its list of steps. Reported: cline/cline#9951
  "task_progress",
  // Gemini CLI, its scheduler. Reported: google-gemini/gemini-cli#27403
  "wait_for_previous",
  // CrewAI, the agent's fingerprint. Reported: crewAIInc/crewAI#4796
  "security_context",
]);

/** Words that models use for kinds. */
export const KIND_SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  issue: ["task"],
  ticket: ["task"],
  bug: ["task"],
  pr: ["task"],
  pull_request: ["task"],
  "pull request": ["task"],
  doc: ["file", "page"],
  document: ["file", "page"],
  email: ["message"],
  mail: ["message"],
  thread: ["message"],
  chat: ["message"],
};

/** Values that mean "not given". */
export const FILTER_PLACEHOLDERS = new Set(["any", "all", "none", "*", "null", "undefined", "n/a"]);
