import type { BodyOf, DataOf } from "#api/client.ts";
import type { Api } from "#cli/calls/api.ts";
import { type ArgumentsData, oneOf, type OptionsData, type OptionsOf, route, several } from "#cli/line/command.ts";
import { usageFailure } from "#cli/host/failure.ts";
import type { Output } from "#cli/terminal/output.ts";
import { didYouMean, parsePair } from "#cli/line/values.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";
import { findConnection, SERVER, type ServerRecord } from "./find.ts";
import { flexible, formatted, optional } from "#cli/terminal/table.ts";

const ROLES = ["list", "search", "fetch"] as const;
type Role = (typeof ROLES)[number];
type ServerTools = DataOf<"get", "/api/mcp-servers/{id}/tools">;
type Tool = ServerTools["tools"][number];
type Mapping = NonNullable<BodyOf<"put", "/api/mcp-servers/{id}/mapping">["mapping"]>;
type Mapped = NonNullable<Mapping[Role]>;

const TOOL = {
  "<role>": oneOf(ROLES, "what kb uses the tool for"),
  "<tool>": "the tool's name, as listed by `kb servers tools`",
} as const satisfies ArgumentsData;

const AS_OPTION = {
  "--connection <connection>": "use your connection: its name or cnx_… (default: the server's own sign-in)",
} as const satisfies OptionsData;

const CALL_OPTIONS = {
  "--argument <name>": "the argument for the query, ID or cursor (default: the one that the tool still needs)",
  "--set <name=value>": several("an argument with the same value in every call; may be repeated"),
  ...AS_OPTION,
} as const satisfies OptionsData;

/** `kb servers tools SERVER`: lists its tools, and which of them kb uses. */
export const listTools = remoteCommand(
  {
    summary: "List the tools of an MCP server, and what kb uses them for (admins only).",
    of: SERVER,
    options: AS_OPTION,
    examples: ["kb servers tools notes"],
    exitCodes: [5, 6],
    call: route("get", "/api/mcp-servers/{id}/tools", "tools"),
  },
  async (remote) => {
    const { tools } = await toolsOf(remote);
    remote.output.result(tools, () => printTools(tools, remote.output));
  },
);

/** `kb servers preview SERVER ROLE TOOL [VALUE]`: makes one call and stores nothing. */
export const previewTool = remoteCommand(
  {
    summary: "Call a tool once and show what kb would read from it; nothing is stored (admins only).",
    of: SERVER,
    arguments: { ...TOOL, "[value]": "the query, ID or cursor to send" },
    options: CALL_OPTIONS,
    examples: [
      "kb servers preview notes search search_notes plan",
      "kb servers preview notes list search_files --set path=/notes --set pattern='**'",
    ],
    exitCodes: [5, 6],
    call: route("post", "/api/mcp-servers/{id}/mapping/previews"),
  },
  async (remote) => {
    const { output, args, send } = remote;
    const { connectionId, role, mapped } = await chosenOf(remote);
    const preview = await send({ body: { role, ...mapped, value: args.value, connectionId } });
    output.result(preview, ({ text, entries = [] }) => {
      if (text !== undefined) return output.line(text);
      output.table(
        entries,
        {
          id: flexible("id"),
          title: flexible("title"),
          updated: optional("updatedAt"),
          url: optional(flexible("url")),
          text: optional(flexible("text")),
        },
        "The tool returned nothing that kb can read as entries.",
      );
    });
  },
);

/** `kb servers map SERVER ROLE TOOL`: maps a tool to a role; the other roles stay unchanged. */
export const mapTool = remoteCommand(
  {
    summary: "Use a tool of an MCP server to list, search or fetch (admins only).",
    details:
      "list gives everything to index, search finds entries for live searches, fetch gives the text of one entry. The tool is pinned: when the server changes it, kb stops using it until you map it again. Only the server says whether a tool just reads: review the tool before you map it.",
    of: SERVER,
    arguments: TOOL,
    options: CALL_OPTIONS,
    examples: [
      "kb servers map notes fetch read_note --argument id",
      "kb servers map notes list search_files --set path=/notes --set pattern='**'",
    ],
    exitCodes: [5, 6],
    call: route("put", "/api/mcp-servers/{id}/mapping"),
  },
  async (remote) => {
    const { output, found, send } = remote;
    const { tools, connectionId, role, mapped } = await chosenOf(remote);
    // The cast is safe because the server returns only mappings that it has accepted.
    const mapping: Mapping = { ...(tools.mapping as Mapping | null), [role]: mapped };
    const stored = await send({ body: { mapping, connectionId } });
    output.result(stored, () => `${found.name}: ${mapped.tool} is used to ${role}.`);
  },
);

/** `kb servers unmap SERVER [ROLE]`: removes the mapping of a role, or all of them. */
export const unmapTool = remoteCommand(
  {
    summary: "Stop using a tool of an MCP server, or all of them (admins only).",
    of: SERVER,
    arguments: { "[role]": oneOf(ROLES, "stop using only this tool") },
    options: AS_OPTION,
    examples: ["kb servers unmap notes search"],
    exitCodes: [5, 6],
    call: route("put", "/api/mcp-servers/{id}/mapping"),
  },
  async (remote) => {
    const { output, args, found, send } = remote;
    const { tools, connectionId } = await toolsOf(remote);
    const { role } = args;
    const kept = Object.entries(tools.mapping ?? {}).filter(([one]) => role !== undefined && one !== role);
    const mapping = kept.length === 0 ? null : (Object.fromEntries(kept) as Mapping); // accepted by the server
    const stored = await send({ body: { mapping, connectionId } });
    const use = role === undefined ? "" : ` to ${role}`;
    output.result(stored, () => `${found.name}: no tool is used${use}.`);
  },
);

/** The common part of these commands. */
interface Mapper {
  api: Api;
  found: ServerRecord;
  options: { connection: string | undefined };
}

async function toolsOf({ api, found: { id }, options: { connection } }: Mapper) {
  const connectionId = connection === undefined ? undefined : (await findConnection(api, connection)).id;
  const tools = await api.get("/api/mcp-servers/{id}/tools", { params: { path: { id }, query: { connectionId } } });
  return { connectionId, tools };
}

/** Returns the named tool, its role, and how kb calls it. */
async function chosenOf(
  remote: Mapper & { args: { role: Role; tool: string }; options: OptionsOf<typeof CALL_OPTIONS> },
) {
  const { role, tool } = remote.args;
  const { connectionId, tools } = await toolsOf(remote);
  return { connectionId, tools, role, mapped: mappedOf(tools, role, tool, remote.options) };
}

/** Returns how kb calls the tool. Values of --set have the types of the tool's schema. */
function mappedOf({ tools }: ServerTools, role: Role, word: string, options: OptionsOf<typeof CALL_OPTIONS>): Mapped {
  const tool = tools.find(({ name }) => name === word);
  if (tool === undefined) {
    const names = tools.map(({ name }) => name);
    throw usageFailure(`The server has no tool "${word}".${didYouMean(word, names, '"')}`);
  }
  const args = Object.fromEntries(options.set.map((pair) => valueOf(tool, ...parsePair(pair, "--set"))));
  const open = tool.arguments.filter(({ name, isRequired }) => isRequired && !Object.hasOwn(args, name));
  const [only] = open;
  const argument = options.argument ?? (open.length === 1 && role !== "list" ? only?.name : undefined);
  return { tool: tool.name, args, ...(argument !== undefined && { argument }) };
}

function valueOf({ arguments: known }: Tool, name: string, text: string): [string, string | number | boolean] {
  const type = known.find((one) => one.name === name)?.type;
  if (type === "boolean" && /^(?:true|false)$/.test(text)) return [name, text === "true"];
  if ((type === "integer" || type === "number") && text.trim() !== "" && Number.isFinite(Number(text))) {
    return [name, Number(text)];
  }
  return [name, text];
}

function printTools({ tools, mapping, faults, leftOut }: ServerTools, output: Output): void {
  const usedFor = (name: string) => ROLES.filter((role) => mapping?.[role]?.tool === name);
  output.table(
    tools,
    {
      tool: "name",
      "used to": formatted(usedFor, "name"),
      "says it": ({ isReadOnly }) => (isReadOnly ? "only reads" : "may change things"),
      arguments: flexible((tool) => tool.arguments.map(({ name, isRequired }) => (isRequired ? name : `[${name}]`))),
      about: optional(flexible("description")),
    },
    "The server has no tools.",
  );
  for (const { role, tool, reason } of faults) output.talk(`Not used to ${role} any more: ${tool} ${REASONS[reason]}.`);
  if (leftOut > 0) output.talk(`Left out, because their names or schemas can't be used: ${leftOut}.`);
}

const REASONS: Readonly<Record<ServerTools["faults"][number]["reason"], string>> = {
  tool_gone: "is gone",
  tool_changed: "has changed: review it, then map it again",
  argument_missing: "needs more arguments",
  argument_unknown: "has no argument of that name",
};
