import type { ConnectionTool } from "#api/connections.ts";
import { defined } from "#core/defined.ts";
import { agreedByConnecting, nameOfMapping, type PinnedTool, rolesOf, rolesToAgree } from "#mcp-client/agreement.ts";
import { parseMapping, type ToolMapping } from "#mcp-client/mapping.ts";
import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";

/**
 * Returns tools and the names of their arguments, for the audit log. Values are omitted, because anyone may have
 * written them. Source: S53.
 */
export function namesOf(mapping: ToolMapping | undefined): Record<string, unknown>[] {
  return rolesOf(mapping).map((role) => {
    const { tool, args, argument, isReadOnly } = requireTool(mapping?.[role]);
    return { role, tool, args: Object.keys(args), ...defined({ argument, isReadOnly }) };
  });
}

/**
 * Returns the tools that kb calls through a connection, with their argument values, and whether the connection's owner
 * agreed to them.
 */
export function toolsOf(
  { mapping: stored }: Pick<ProviderServerRecord, "mapping">,
  { agreed }: Pick<ConnectionRecord, "agreed">,
): { tools: ConnectionTool[]; agreement: string | null } {
  const mapping = parseMapping(stored);
  if (mapping === undefined) return { tools: [], agreement: null };
  const waiting = rolesToAgree(mapping, parseMapping(agreed));
  const tools = rolesOf(mapping).map((role) => {
    const { tool, args, argument, isReadOnly } = requireTool(mapping[role]);
    return {
      role,
      tool,
      args,
      isReadOnly: isReadOnly ?? null,
      isAgreed: !waiting.includes(role),
      ...defined({ argument }),
    };
  });
  return { tools, agreement: waiting.length === 0 ? null : nameOfMapping(mapping) };
}

/** Returns the tools to which an owner agrees by connecting: the mapped tools that declare themselves read-only. */
export function agreedAtFirst(
  { mapping: stored }: Pick<ProviderServerRecord, "mapping">,
  now: number,
): Pick<ConnectionRecord, "agreed" | "waitingSince"> {
  const mapping = parseMapping(stored);
  const agreed = agreedByConnecting(mapping);
  return { agreed: agreed ?? null, waitingSince: rolesToAgree(mapping, agreed).length === 0 ? null : now };
}

/** Whether kb makes the same calls with both mappings. */
export function isSameMapping(
  one: Pick<ProviderServerRecord, "mapping">,
  other: Pick<ProviderServerRecord, "mapping">,
): boolean {
  const [a, b] = [parseMapping(one.mapping), parseMapping(other.mapping)];
  return a === undefined || b === undefined ? a === b : nameOfMapping(a) === nameOfMapping(b);
}

function requireTool(tool: PinnedTool | undefined): PinnedTool {
  if (tool === undefined) throw new Error("A role of this mapping has its tool.");
  return tool;
}
