/**
 * Chooses the server's tool that a form preselects. It is a suggestion based only on names: an admin checks a preview
 * before kb uses a tool.
 */
import type { MappingRole, ServerTools } from "#api/provider-servers.ts";

export type Tool = ServerTools["tools"][number];

/** Name patterns for each role: its verb, related words, and the name of the argument that the role fills in. */
const ROLES: Readonly<Record<MappingRole, { verbs: RegExp; related: RegExp; argument: RegExp }>> = {
  list: {
    verbs: /^(?:list|ls|index|enumerate|browse)$/,
    related: /^(?:search|find|query|tree|all|recent)$/,
    argument: /^(?:next)?(?:cursor|pagetoken)$/,
  },
  search: {
    verbs: /^(?:search|find|query|lookup)$/,
    related: /^(?:ask|grep|match|filter)$/,
    argument: /^(?:q|query|search|searchquery|text|words?|keywords?|term|terms|pattern|question)$/,
  },
  fetch: {
    verbs: /^(?:fetch|get|read|open|retrieve|load|view)$/,
    related: /^(?:text|content|contents|document|page|file|note|item|body)$/,
    argument: /^(?:id|uri|url|path|key|slug|name|\w+id|\w+path|\w+key)$/,
  },
};

/** Tools that change something, or that return what kb doesn't read. */
const OTHER = /^(?:add|create|delete|drop|edit|insert|move|post|remove|rename|send|set|toggle|update|upload|write)$/;
/** Tools that list containers of entries instead of entries. Such a list isn't everything. */
const CONTAINERS =
  /^(?:directory|directories|folders?|roots?|drives?|spaces?|channels?|projects?|repos|repositories|databases?|users?|teams?)$/;
const NO_TEXT = /^(?:image|images|media|audio|video|info|stats|metadata|env)$/;

/** Returns the tools with the best match first and deprecated ones last, otherwise in the server's order. */
export function rankTools(tools: readonly Tool[], role: MappingRole): Tool[] {
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, role) - (isDeprecated(tool) ? 1_000 : 0) }));
  return scored.toSorted((one, other) => other.score - one.score).map(({ tool }) => tool);
}

/** Whether the tool's description says that it is deprecated. MCP has no field for this. */
export function isDeprecated({ title = "", description = "" }: Pick<Tool, "title" | "description">): boolean {
  return /\bdeprecated\b/i.test(`${title} ${description}`);
}

/**
 * Returns the argument that the role fills in: by its name, else the only one that the tool still requires. A list
 * needs none.
 */
export function defaultArgument({ arguments: known }: Pick<Tool, "arguments">, role: MappingRole): string {
  const required = known.filter(({ isRequired }) => isRequired);
  const fits = ({ name }: { name: string }) => ROLES[role].argument.test(bare(name));
  const named = required.find(fits) ?? known.find(fits);
  if (named !== undefined || role === "list") return named?.name ?? "";
  return (required[0] ?? known[0])?.name ?? "";
}

function scoreOf(tool: Tool, role: MappingRole): number {
  const { verbs, related } = ROLES[role];
  const words = wordsOf(tool.name);
  const count = (pattern: RegExp) => words.filter((word) => pattern.test(word)).length;
  const container = role === "list" && count(CONTAINERS) > 0 ? 10 : 0;
  const name =
    (count(verbs) > 0 ? 10 : 0) + Math.min(count(related), 2) * 2 - count(OTHER) * 12 - count(NO_TEXT) * 4 - container;
  // The tool with the shorter name is simpler: `search` before `search_users_by_team`.
  return name + argumentScore(tool, role) + (tool.isReadOnly ? 1 : 0) - words.length * 0.5;
}

/**
 * Scores the arguments. A search and a fetch need one argument to fill in. Every other required argument needs a
 * constant value.
 */
function argumentScore({ arguments: known }: Tool, role: MappingRole): number {
  const required = known.filter(({ isRequired }) => isRequired);
  if (role === "list") return -required.length * 0.4;
  const argument = known.find(({ name }) => name === defaultArgument({ arguments: known }, role));
  if (argument === undefined) return -8;
  const isText = argument.type === undefined || argument.type === "string" || argument.type === "integer";
  const isNamed = ROLES[role].argument.test(bare(argument.name));
  const others = required.filter(({ name }) => name !== argument.name).length;
  return (isText ? 0 : -6) + (isNamed ? 2 : 0) - others;
}

/** Splits `read_textFile` into read, text, file. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}
