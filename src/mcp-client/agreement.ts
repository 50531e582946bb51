import { createHash } from "node:crypto";
import { ApiError } from "#api/errors.ts";
import { MAPPING_ROLES, type MappingRole } from "#api/provider-servers.ts";
import type { McpTool } from "./contract.ts";
import type { ToolMapping } from "./mapping.ts";
import { canonical } from "./read.ts";

/** A tool in a role, as stored. */
export type PinnedTool = NonNullable<ToolMapping[MappingRole]>;

/**
 * The roles of a mapping in which kb would call something other than what the owner of a connection agreed to: another
 * tool, other fixed arguments, another argument for the text, or a tool that isn't marked as read-only. Source: S65.
 */
export function rolesToAgree(mapping: ToolMapping | undefined, agreed: ToolMapping | undefined): MappingRole[] {
  return rolesOf(mapping).filter((role) => !isAgreed(mapping?.[role], agreed?.[role]));
}

/** The tools that someone agrees to by connecting a mapped server: those marked as read-only. */
export function agreedByConnecting(mapping: ToolMapping | undefined): ToolMapping | undefined {
  return pick(mapping, ({ isReadOnly }) => isReadOnly !== false);
}

/**
 * Returns the agreement that applies when an admin maps a server that someone has already connected. It contains what the owner agreed to, plus a
 * read-only tool for each role that had none, provided that only the owner can find its results. A role that is unmapped keeps its agreement, so that
 * mapping the role again is a change like any other.
 */
export function carriedOver(
  mapping: ToolMapping | undefined,
  agreed: ToolMapping | undefined,
  { isPrivate }: { isPrivate: boolean },
): ToolMapping | undefined {
  const isKnown = (tool: PinnedTool) =>
    rolesOf(agreed).some((role) => agreed?.[role]?.tool === tool.tool && !hasSameArgs(agreed[role], tool));
  const first = pick(
    mapping,
    (tool, role) => isPrivate && agreed?.[role] === undefined && tool.isReadOnly === true && !isKnown(tool),
  );
  return merged(agreed, first);
}

/** Returns the agreement after the owner agrees to all of a mapping. */
export function agreedTo(mapping: ToolMapping, agreed: ToolMapping | undefined): ToolMapping | undefined {
  return merged(agreed, mapping);
}

/** Identifies the current state of a mapping, so that the agreement covers exactly the mapping that was shown. */
export function nameOfMapping(mapping: ToolMapping): string {
  const entries = rolesOf(mapping).map((role) => [role, mapping[role]]);
  return createHash("sha256")
    .update(JSON.stringify(canonical(entries)))
    .digest("base64url");
}

/** The mapping of a server, what the owner of a connection agreed to, and the server's current tools. */
interface AgreementState {
  mapping: ToolMapping | undefined;
  agreed: ToolMapping | undefined;
  tools: readonly McpTool[];
}

/** Finds out whether a call is part of a mapping, whether the owner agreed to it, and whether its tool is unchanged since it was mapped. */
export function findCall(
  { mapping, agreed, tools }: AgreementState,
  name: string,
  args: Readonly<Record<string, unknown>>,
): "agreed" | "not_agreed" | "changed" {
  const roles = rolesOf(mapping).filter((role) => isCallOf(mapping?.[role], name, args));
  if (roles.length === 0) return "changed";
  const found = tools.find((tool) => tool.name === name);
  const unchanged = roles.filter((role) => found?.pin === mapping?.[role]?.pin);
  if (unchanged.length === 0) return "changed";
  const isOpen = unchanged.some(
    (role) => isAgreed(mapping?.[role], agreed?.[role]) && (found?.isReadOnly || agreed?.[role]?.isReadOnly === false),
  );
  return isOpen ? "agreed" : "not_agreed";
}

/** Returns the mapping with this tool marked as not read-only; undefined if it already was. */
export function changingIn(mapping: ToolMapping | undefined, tool: string): ToolMapping | undefined {
  const unknown = pick(mapping, (one) => one.tool === tool && one.isReadOnly === undefined);
  if (unknown === undefined) return undefined;
  const known = rolesOf(unknown).map((role) => [role, { ...unknown[role], isReadOnly: false }]);
  // The same roles, each with its own tool.
  return { ...mapping, ...(Object.fromEntries(known) as ToolMapping) };
}

/** The error before the owner's agreement: until then, nothing is called with the connection. */
export function agreementRequired(): ApiError {
  return new ApiError("agreement_required", {
    message: "An admin has mapped the server's tools differently, and the owner of the connection hasn't agreed to it.",
    hint: "The owner can review the tools and agree on the server's page, or run: kb servers agree",
  });
}

/** Returns the roles that a mapping has, in a fixed order. */
export function rolesOf(mapping: ToolMapping | undefined): MappingRole[] {
  return MAPPING_ROLES.filter((role) => mapping?.[role] !== undefined);
}

/**
 * For a tool that may change something, the agreement covers its definition at that time: an admin who reviews the tool again doesn't agree on the
 * owner's behalf.
 */
function isAgreed(wanted: PinnedTool | undefined, agreed: PinnedTool | undefined): boolean {
  if (wanted === undefined || agreed === undefined) return false;
  const isSame = wanted.tool === agreed.tool && wanted.argument === agreed.argument && hasSameArgs(wanted, agreed);
  if (!isSame) return false;
  if (wanted.isReadOnly !== false) return true;
  return agreed.isReadOnly === false && agreed.pin === wanted.pin;
}

function hasSameArgs(one: PinnedTool | undefined, other: PinnedTool): boolean {
  return JSON.stringify(canonical(one?.args)) === JSON.stringify(canonical(other.args));
}

/** Whether the call has the mapped tool's fixed arguments unchanged, and a text in the argument for words, IDs or cursors. */
function isCallOf(mapped: PinnedTool | undefined, name: string, args: Readonly<Record<string, unknown>>): boolean {
  if (mapped?.tool !== name) return false;
  const { argument } = mapped;
  const fixed = Object.entries(args).filter(([key]) => key !== argument);
  const wanted = Object.entries(mapped.args).filter(([key]) => key !== argument);
  const word = argument === undefined ? undefined : args[argument];
  return (
    fixed.length === wanted.length &&
    wanted.every(([key, value]) => args[key] === value) &&
    (word === undefined || typeof word === "string" || word === mapped.args[argument ?? ""])
  );
}

function pick(
  mapping: ToolMapping | undefined,
  isWanted: (tool: PinnedTool, role: MappingRole) => boolean,
): ToolMapping | undefined {
  const kept: ToolMapping = {};
  for (const role of rolesOf(mapping)) {
    const tool = mapping?.[role];
    if (tool !== undefined && isWanted(tool, role)) kept[role] = tool;
  }
  return rolesOf(kept).length === 0 ? undefined : kept;
}

function merged(one: ToolMapping | undefined, other: ToolMapping | undefined): ToolMapping | undefined {
  return one === undefined && other === undefined ? undefined : { ...one, ...other };
}
