import { none } from "#sources/contents.ts";
import { z } from "zod";
import { ApiError, isApiError } from "#api/errors.ts";
import { cleanLine } from "#api/clean.ts";
import { stepCycle } from "#core/cycle.ts";
import { plural } from "#api/plural.ts";
import { defined } from "#core/defined.ts";
import { agreementRequired } from "#mcp-client/agreement.ts";
import type { McpSession } from "#mcp-client/contract.ts";
import { faultsOfMapping, type ToolMapping } from "#mcp-client/mapping.ts";
import type { SourceContext, SyncContext } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import { failedSkip, type Failures, makeFailures, leftOut } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { SessionSpec, WalkEnd, WalkEvent } from "#sources/session.ts";
import { compileScope, type CompiledScope } from "#sources/file-scope/scope.ts";
import { hasNoText } from "#sources/file-scope/mime-hints.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import { configKey, type McpConfig } from "./config.ts";
import { type Content, digest, type Entry, type EntryPage, partAfter, PARTS, type Place, readPage } from "./entries.ts";
import { asking } from "./failures.ts";

/** Position of a walk in the server's lists. */
const Checkpoint = z.object({
  place: z.object({ part: z.enum(PARTS), cursor: z.string().optional() }),
  /** The number of entries so far. */
  entries: z.number().int(),
  /**
   * The current page, and how many of its entries were yielded, so that a resumed run requests no entry again if the
   * page is unchanged.
   */
  read: z.object({ page: z.string(), entries: z.number().int() }).optional(),
  /** Detects a list whose cursors lead back to an earlier position. */
  mark: z.object({ place: z.string(), steps: z.number().int(), power: z.number().int() }),
  /** Number of templates that the server did not complete in time. */
  uncompleted: z.number().int(),
  /** Why one of the lists could not be read. */
  failed: z.string().optional(),
});
type Checkpoint = z.infer<typeof Checkpoint>;

/** The most entries of a server. If it lists more, the rest is left out, and nothing is removed. */
const MAX_ENTRIES = 200_000;
/** The time limit for finding single items, in milliseconds. A run for single items has no position to resume from. */
const ITEMS_MS = 60_000;
const FIRST: Place = { part: "resources" };

/** Sessions of a connection. Notifications can be lost, so every run lists everything. */
export const mcpSessions: SessionSpec<McpConfig, null, Checkpoint> = {
  cursor: z.null(),
  checkpoint: Checkpoint,
  async open(ctx, run) {
    requireAgreement(ctx);
    const session = await openSession(ctx, ctx.signal);
    try {
      const mapping = await usableMapping(ctx, session);
      const failures = makeFailures(() => asking(() => session.ping()));
      const tools = { session, mapping, scope: compileScope(run.scope), failures };
      return {
        walk: ({ resume }) => walk(ctx, tools, resume),
        read: (ids) => readItems(ctx, tools, new Set(ids)),
        close: () => session.close(),
      };
    } catch (error) {
      await session.close();
      throw error;
    }
  },
};

/** Opens a session with the server. @throws ApiError `source_unauthorized` for a connector without a connection */
export async function openSession(
  { mcp }: Pick<SourceContext<McpConfig>, "mcp">,
  signal: AbortSignal,
  isListening = false,
): Promise<McpSession> {
  if (mcp === undefined) throw new ApiError("source_unauthorized", { message: "The connector has no connection." });
  return asking(() => mcp.open({ signal, isListening }));
}

/**
 * Checks that the connection's owner agreed to the mapping, if the config includes tools. No request is sent before
 * that. Source: S65.
 *
 * @throws ApiError `agreement_required`
 */
export function requireAgreement({ mcp, config }: Pick<SourceContext<McpConfig>, "mcp" | "config">): void {
  if (config.tools && mcp?.isWaiting) throw agreementRequired();
}

/**
 * Returns the mapping if the config includes tools and each tool is unchanged since it was mapped.
 *
 * @throws ApiError `connector_config_invalid` for a tool that no longer exists or has changed, which an admin has to
 * review. Source: S31
 */
export async function usableMapping(
  { mcp, config }: Pick<SourceContext<McpConfig>, "mcp" | "config">,
  session: McpSession,
): Promise<ToolMapping | undefined> {
  const mapping = config.tools && session.capabilities.tools ? mcp?.mapping : undefined;
  if (mapping === undefined) return undefined;
  const { items } = await asking(() => session.listTools());
  const [fault] = faultsOfMapping(mapping, items);
  if (fault === undefined) return mapping;
  const what = fault.reason === "tool_gone" ? "doesn't exist any more" : "has changed since an admin mapped it";
  throw new ApiError("connector_config_invalid", {
    message: `The tool ${JSON.stringify(fault.tool)} ${what}. An admin has to map the server's tools again.`,
    details: { reason: fault.reason, role: fault.role },
  });
}

/** Converts an id into a path for the patterns of a scope: `resource:file:///a/b.md` becomes `file/a/b.md`. */
export function scopePath(externalId: string): string {
  const id = externalId.replace(/^(?:resource|tool):/, "");
  return id.replace(/^([a-z][a-z0-9+.-]*):\/*/i, "$1/").replace(/^\/+/, "");
}

export function isInScope(scope: CompiledScope, externalId: string): boolean {
  const path = scopePath(externalId);
  return path !== "" && !scope.excludes(path, false) && scope.includes(path);
}

interface Tools {
  session: McpSession;
  mapping: ToolMapping | undefined;
  scope: CompiledScope;
  failures: Failures;
}

async function* walk(
  ctx: SyncContext<McpConfig>,
  tools: Tools,
  resume: Checkpoint | undefined,
): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<null>> {
  let place: Place | undefined = resume && { part: resume.place.part, ...defined({ cursor: resume.place.cursor }) };
  place ??= FIRST;
  let { read, mark, uncompleted = 0, entries: count = 0, failed } = resume ?? {};
  mark ??= stepCycle(undefined, markOf(place));
  const named = new Set<string>();
  let why: string | undefined;
  while (place !== undefined && mark !== undefined && why === undefined) {
    const { entries, next, uncompleted: missing = 0, failed: now }: EntryPage = await pageAlone(ctx, tools, place);
    failed ??= now;
    yield { t: "page", entries: [], listings: 1 };
    const ids = digest(...entries.map(({ externalId }) => externalId));
    const before = read?.page === ids ? read.entries : 0;
    for (const [at, entry] of entries.entries()) {
      if (named.has(entry.externalId)) continue;
      named.add(entry.externalId);
      if (at < before) continue;
      count += 1;
      const position = { place, entries: count, read: { page: ids, entries: at + 1 }, mark, uncompleted };
      const checkpoint = { ...position, ...defined({ failed }) };
      yield { t: "page", entries: [await outcomeOf(ctx, entry, tools)], checkpoint };
    }
    uncompleted += missing;
    [place, read] = [next, undefined];
    if (place === undefined) break;
    mark = stepCycle(mark, markOf(place));
    if (mark === undefined) why = ROUND;
    else if (Math.max(count, named.size) >= MAX_ENTRIES) why = endless(MAX_ENTRIES);
    else {
      const checkpoint = { place, entries: count, mark, uncompleted, ...defined({ failed }) };
      yield { t: "page", entries: [], checkpoint };
    }
  }
  if (uncompleted > 0) why ??= slow(uncompleted);
  why ??= failed;
  return { complete: why === undefined, ...defined({ why }), cursor: null, permissions: "current" };
}

/** The event for an entry, once. */
async function outcomeOf(ctx: SyncContext<McpConfig>, entry: Entry, { scope, failures }: Tools): Promise<Outcome> {
  const { externalId } = entry;
  if (!isInScope(scope, externalId))
    return leftOut(externalId, "excluded_by_scope", "The connector's scope leaves it out.");
  try {
    const outcome = await readEntry(ctx, entry);
    failures.well();
    return outcome ?? { t: "seen", externalIds: [externalId] };
  } catch (error) {
    return failures.outcomeOf(externalId, error, isApiError(error) ? error.message : NOT_UNDERSTOOD);
  }
}

function markOf({ part, cursor = "" }: Place): string {
  return digest(part, cursor);
}

const ROUND = "The server's list leads back to a page that it gave before, so kb stopped there. Nothing was removed.";

function endless(done: number): string {
  return `The server's list did not end after ${done} entries, so kb stopped there. Nothing was removed.`;
}

function slow(templates: number): string {
  return `The server didn't complete ${plural(templates, "template")} of resources within a minute, so those resources were not looked at. Nothing was removed.`;
}

/** Reads only these items, by the same listing: the name of a resource is available nowhere else. */
async function* readItems(
  ctx: SyncContext<McpConfig>,
  tools: Tools,
  wanted: Set<string>,
): AsyncGenerator<Outcome, void> {
  let place: Place | undefined = FIRST;
  const until = ctx.now() + ITEMS_MS;
  let isWhole = true;
  while (place !== undefined && wanted.size > 0 && ctx.now() < until) {
    const { entries, next, uncompleted, failed } = await pageAlone(ctx, tools, place);
    isWhole &&= uncompleted === undefined && failed === undefined;
    for (const entry of entries) {
      if (isInScope(tools.scope, entry.externalId) && wanted.delete(entry.externalId))
        yield await outcomeOf(ctx, entry, tools);
    }
    place = next;
  }
  for (const externalId of wanted) {
    if (place === undefined && isWhole) yield { t: "delete", externalId };
    else yield failedSkip(externalId, "The server's lists didn't name it within a minute.");
  }
}

/** Reads a page. If the server fails to return one of its lists, the others are still read. */
async function pageAlone(
  ctx: Pick<SourceContext<McpConfig>, "config" | "now">,
  tools: Tools,
  place: Place,
): Promise<EntryPage> {
  try {
    return await page(ctx, tools, place);
  } catch (error) {
    await tools.failures.requireOfOne(error);
    const why = isApiError(error) ? error.message : NOT_UNDERSTOOD;
    return {
      entries: [],
      ...partAfter(place),
      failed: `The server can't list its ${place.part} now: ${why} Nothing was removed.`,
    };
  }
}

async function page(
  { config, now }: Pick<SourceContext<McpConfig>, "config" | "now">,
  { session, mapping }: Tools,
  place: Place,
) {
  const { capabilities } = session;
  const hasResources = config.resources && capabilities.resources;
  const isWanted = { resources: hasResources, templates: hasResources, tools: mapping !== undefined };
  return readPage(session, place, { mapping, isWanted, now });
}

/** Returns the event for an entry; undefined if the entry is unchanged. */
async function readEntry(ctx: SyncContext<McpConfig>, entry: Entry): Promise<Outcome | undefined> {
  const { externalId, stamp } = entry;
  const stored = await ctx.stored.version(externalId);
  if (stamp !== undefined && stored === versionOf(ctx.config, entry, stamp)) return undefined;
  if (entry.size !== undefined && entry.size > maxFileBytes(ctx.config))
    return upsert(ctx, entry, "too_large", stamp ?? String(entry.size));
  if (hasNoText(entry.mimeType) && stamp !== undefined) return upsert(ctx, entry, "unsupported_type", stamp);
  try {
    const content = await entry.read();
    const now = stamp ?? digest(content.text ?? content.bytes);
    return stored === versionOf(ctx.config, entry, now) ? undefined : upsert(ctx, entry, content, now);
  } catch (error) {
    if (isApiError(error, "payload_too_large")) return upsert(ctx, entry, "too_large", stamp ?? "large");
    throw error;
  }
}

function upsert(
  { config }: Pick<SourceContext<McpConfig>, "config">,
  entry: Entry,
  content: Content | "too_large" | "unsupported_type",
  stamp: string,
): Outcome {
  const { externalId, title, url, updatedAt, size } = entry;
  const mimeType = entry.mimeType ?? (typeof content === "string" ? undefined : content.mimeType);
  const item: SourceItem = {
    externalId,
    kind: "file",
    title: cleanLine(title, 200) || externalId,
    hasFileTitle: true,
    version: versionOf(config, entry, stamp),
    ...defined({ url, updatedAt, size, mimeType }),
    content: typeof content === "string" ? none(content) : contentOf(content, mimeType, config),
    // Only readers of the connection can read the item: every item of the connection also requires that.
    access: { known: true, all: [["workspace"]] },
  };
  return { t: "upsert", item };
}

function contentOf({ text, bytes }: Content, mimeType: string | undefined, config: McpConfig): SourceItem["content"] {
  const size = bytes?.length ?? Buffer.byteLength(text ?? "");
  if (size === 0) return none("empty");
  if (size > maxFileBytes(config)) return none("too_large");
  if (hasNoText(mimeType)) return none("unsupported_type");
  // Text with markup is extracted like a file.
  return text !== undefined && !/html|xml|rtf/.test(mimeType ?? "") ? { type: "inline", text } : { type: "fetch" };
}

function versionOf(config: McpConfig, { title, mimeType, url, updatedAt }: Entry, stamp: string): string {
  return `${stamp}:${digest(title, mimeType ?? "", url ?? "", String(updatedAt ?? ""))}:${configKey(config)}`;
}
