import { z } from "zod";
import {
  MAPPING_ROLES,
  MappedTool,
  type MappingBody,
  type MappingFault,
  type MappingRole,
} from "#api/provider-servers.ts";
import type { McpSession, McpTool } from "./contract.ts";
import { type McpHit, readHits, readText } from "./hits.ts";
import { McpProblem } from "./problem.ts";

const PinnedTool = MappedTool.extend({
  pin: z.string().max(100),
  /** Whether the tool was marked as read-only when it was mapped; absent if an earlier version of kb mapped it. */
  isReadOnly: z.boolean().optional(),
});
const StoredMapping = z.strictObject({
  list: PinnedTool.optional(),
  search: PinnedTool.optional(),
  fetch: PinnedTool.optional(),
});
/** A mapping as stored: each tool with the digest of its definition at the time of mapping. */
export type ToolMapping = z.infer<typeof StoredMapping>;

/** Returns the mapping as stored; undefined for anything else, and for a mapping without a tool. */
export function parseMapping(stored: unknown): ToolMapping | undefined {
  const { data } = StoredMapping.safeParse(stored);
  return data && MAPPING_ROLES.some((role) => data[role] !== undefined) ? data : undefined;
}

/** Pins a draft to the current tools; returns the faults if it doesn't fit them. */
export function pinMapping(
  draft: MappingBody,
  tools: readonly McpTool[],
): { mapping: ToolMapping } | { faults: MappingFault[] } {
  const mapping: ToolMapping = {};
  const faults: MappingFault[] = [];
  for (const role of MAPPING_ROLES) {
    const wanted = draft[role];
    if (wanted === undefined) continue;
    const found = tools.find(({ name }) => name === wanted.tool);
    const reason = found === undefined ? "tool_gone" : faultOfArguments(role, wanted, found);
    if (reason !== undefined) faults.push({ role, tool: wanted.tool, reason });
    else if (found) mapping[role] = { ...wanted, pin: found.pin, isReadOnly: found.isReadOnly };
  }
  return faults.length > 0 ? { faults } : { mapping };
}

/** Returns the changes since the mapping was made. A mapping with a fault isn't used until an admin has reviewed it. */
export function faultsOfMapping(mapping: ToolMapping, tools: readonly McpTool[]): MappingFault[] {
  return MAPPING_ROLES.flatMap((role): MappingFault[] => {
    const pinned = mapping[role];
    if (pinned === undefined) return [];
    const found = tools.find(({ name }) => name === pinned.tool);
    if (found?.pin === pinned.pin) return [];
    return [{ role, tool: pinned.tool, reason: found === undefined ? "tool_gone" : "tool_changed" }];
  });
}

/** The result of a call in a role: hits with a cursor, or text. */
export interface Preview {
  hits?: McpHit[];
  text?: string;
}

/**
 * Calls a mapped tool once and reads its result as a sync would. Runs only on an explicit action of the admin who maps it.
 *
 * @param value  the query or the id to call it with
 * @throws McpProblem, `refused` also for a tool that reports a failure
 */
export async function previewTool(
  session: Pick<McpSession, "callTool">,
  role: MappingRole,
  mapped: MappedTool,
  value: string | undefined,
): Promise<Preview> {
  if (role === "fetch") return { text: (await fetchMapped(session, mapped, value ?? "")).text.slice(0, PREVIEW_CHARS) };
  const { hits } = await listMapped(session, mapped, value);
  return { hits: hits.slice(0, PREVIEW_HITS).map(withShortText) };
}

/** Returns the entries from a mapped `list` or `search`. @param value  the cursor or the query */
export async function listMapped(
  session: Pick<McpSession, "callTool">,
  { tool, args, argument }: MappedTool,
  value: string | undefined,
): Promise<{ hits: McpHit[]; nextCursor?: string }> {
  const result = await session.callTool(tool, {
    ...args,
    ...(argument !== undefined && value !== undefined && { [argument]: value }),
  });
  if (result.isError) throw new McpProblem({ step: "call", code: "refused" });
  return readHits(result);
}

/** Returns the text of one entry. */
export async function fetchMapped(
  session: Pick<McpSession, "callTool">,
  { tool, args, argument }: MappedTool,
  id: string,
): Promise<{ text: string; mimeType?: string }> {
  const result = await session.callTool(tool, { ...args, ...(argument !== undefined && { [argument]: id }) });
  if (result.isError) throw new McpProblem({ step: "call", code: "refused" });
  return readText(result);
}

const PREVIEW_HITS = 10;
const PREVIEW_CHARS = 2_000;

function withShortText(hit: McpHit): McpHit {
  return hit.text === undefined ? hit : { ...hit, text: hit.text.slice(0, 500) };
}

function faultOfArguments(
  role: MappingRole,
  { args, argument }: MappedTool,
  { inputSchema }: McpTool,
): MappingFault["reason"] | undefined {
  if (role !== "list" && argument === undefined) return "argument_missing";
  const properties = inputSchema["properties"];
  const named = [...Object.keys(args), ...(argument === undefined ? [] : [argument])];
  // A schema that has no properties, or uses references, doesn't reveal its arguments.
  const isDescribed = typeof properties === "object" && properties !== null;
  if (isDescribed && named.some((name) => !Object.hasOwn(properties, name))) return "argument_unknown";
  const required = inputSchema["required"];
  const isMissing = Array.isArray(required) && required.some((name) => !named.includes(String(name)));
  return isMissing ? "argument_missing" : undefined;
}
