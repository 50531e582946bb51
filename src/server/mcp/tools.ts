import type { EntityType, ItemKind } from "#api/common.ts";
import { ApiError, type ErrorCode, isApiError } from "#api/errors.ts";
import { TOOL_NAMES, type ToolName } from "#api/tools.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ReadRecorder } from "#server/identity/audit/recorder.ts";
import type { EntityService } from "#server/entities/types.ts";
import type { SearchArguments, SearchOutcome, SearchService } from "#server/search/types.ts";
import type { Clock } from "#core/clock.ts";
import { defined } from "#core/defined.ts";
import { readArguments, type ArgumentValue } from "./arguments.ts";
import { charsFor, renderContent, renderPassages, type ContentPassages, type ContentRange } from "./render-content.ts";
import { renderContext, renderEntities } from "./render-entities.ts";
import { addLive } from "./render-live.ts";
import { renderSearch } from "./render-search.ts";
import type { ToolCalls, ToolResult } from "./rpc.ts";
import { countTokens, type CountTokens } from "./tokens.ts";

interface NamedItem {
  kbId: string;
  section?: { name: string; isOfAddress: boolean };
}

/** The functions for reading items that the tools need. */
export interface ContentReader {
  resolve(actor: Actor, asked: string): Promise<NamedItem>;
  text(actor: Actor, kbId: string, range: { offset: number; limit: number; section?: string }): Promise<ContentRange>;
  find(actor: Actor, kbId: string, words: string): Promise<ContentPassages>;
}

export interface ToolOptions {
  search: SearchService;
  entities: EntityService;
  files: ContentReader;
  clock: Clock;
  /** The origin of permalinks, without a trailing slash. */
  baseUrl: string;
  /** Records which items each answer shows. */
  reads: ReadRecorder;
}

interface ToolCall {
  actor: Actor;
  values: Record<string, ArgumentValue>;
  notes: string[];
  maxTokens: number;
  count: CountTokens;
  isFromKb: boolean;
  /** Records reads of items that the structured answer doesn't name. */
  noteReads(kbIds: readonly string[]): void;
}

/** Makes the four tools. Each converts its arguments, calls the service and returns both forms of the answer. */
export function makeTools(options: ToolOptions): ToolCalls {
  const run: Record<ToolName, (call: ToolCall) => Promise<ToolResult>> = {
    kb_search: (call) => search(options, call),
    kb_search_entities: (call) => searchEntities(options, call),
    kb_get_entity_context: (call) => entityContext(options, call),
    kb_get_file_content: (call) => fileContent(options, call),
  };
  return {
    async call(actor, name, args, context) {
      const tool = TOOL_NAMES.find((one) => one === name);
      if (tool === undefined) return undefined;
      const { values, notes } = readArguments(tool, args);
      context.report(0, 1, tool);
      context.signal.throwIfAborted();
      // Each tool has this argument, with a default.
      const maxTokens = Number(values["maxTokens"]);
      const noteReads = (kbIds: readonly string[]) =>
        options.reads.recordReads(actor, { type: "tool", name: tool }, kbIds);
      const size = { maxTokens, count: countTokens };
      const result = await run[tool]({ actor, values, notes, ...size, isFromKb: context.isFromKb, noteReads });
      // Items that were cut to fit the budget were not shown, so the list is taken from the answer itself.
      noteReads(kbIdsIn(result.structured));
      return result;
    },
  };
}

async function search({ search: service, baseUrl }: ToolOptions, call: ToolCall): Promise<ToolResult> {
  const { actor, values, notes } = call;
  const { kind, maxTokens: _size, ...rest } = values;
  // `readArguments` returns only values of these names and types.
  const input = rest as unknown as Partial<SearchArguments>;
  const args: SearchArguments = {
    ...input,
    query: input.query ?? "",
    limit: input.limit ?? 10,
    // Otherwise each instance would query the next one, and the last one would query the first one again.
    live: input.live === true && !call.isFromKb,
    ...(Array.isArray(kind) && { kinds: kind as readonly ItemKind[] }),
  };
  const found = await service.search(actor, args).catch(forAgents("no_such_person", "Or use kb_search_entities."));
  const outcome: SearchOutcome = { ...found, notes: [...notes, ...found.notes] };
  const { maxTokens, count } = call;
  const { timeZone } = actor;
  const indexed = await renderSearch(outcome, {
    maxTokens,
    count,
    isDetailed: args.detail === "detailed",
    isContinued: args.cursor !== undefined,
    timeZone,
    baseUrl,
    ...defined({ groupBy: args.groupBy }),
  });
  return outcome.live === undefined ? indexed : addLive(indexed, outcome.live, { maxTokens, count, timeZone });
}

async function searchEntities({ entities, clock, baseUrl }: ToolOptions, call: ToolCall): Promise<ToolResult> {
  const { actor, values, notes } = call;
  const page = await entities.search(actor, {
    query: text(values["query"]) ?? "",
    limit: typeof values["limit"] === "number" ? values["limit"] : 10,
    // The argument's rule allows only published values.
    ...(values["type"] !== undefined && { type: values["type"] as EntityType }),
    ...(typeof values["cursor"] === "string" && { cursor: values["cursor"] }),
  });
  return renderEntities(page, notes, { ...call, now: clock.now(), timeZone: actor.timeZone, baseUrl });
}

async function entityContext({ entities, clock, baseUrl }: ToolOptions, call: ToolCall): Promise<ToolResult> {
  const { actor, values, notes } = call;
  const after = text(values["after"]);
  const asked = {
    entity: text(values["entity"]) ?? "",
    ...(Array.isArray(values["kind"]) && { kinds: values["kind"] as readonly ItemKind[] }), // checked by its rule
    ...defined({ after }),
  };
  const answer = await entities
    .context(actor, asked)
    .catch(forAgents("not_found", "Try kb_search_entities with part of the name."));
  const rendering = { ...call, now: clock.now(), timeZone: actor.timeZone, baseUrl };
  if (answer.type === "candidates") return renderContext({ ...answer, notes: [...notes, ...answer.notes] }, rendering);
  const overview = { ...answer.overview, notes: [...notes, ...answer.overview.notes] };
  return renderContext({ type: "overview", overview }, rendering);
}

async function fileContent(options: ToolOptions, call: ToolCall): Promise<ToolResult> {
  const item = await itemOf(options.files, call, text(call.values["kbId"]) ?? "");
  const shown = await contentText(options, call, item);
  call.noteReads([item.kbId]);
  return { text: shown };
}

async function contentText(
  { files, clock, baseUrl }: ToolOptions,
  call: ToolCall,
  { kbId, section }: NamedItem,
): Promise<string> {
  const { actor, values, notes, maxTokens } = call;
  const rendering = { ...call, now: clock.now(), timeZone: actor.timeZone, baseUrl };
  const find = text(values["find"]);
  const offset = typeof values["offset"] === "number" ? values["offset"] : 0;
  // The notes come before the item and count against the same budget.
  const head = notes.map((note) => `Note: ${note}\n`).join("");
  const room = { ...rendering, maxTokens: maxTokens - (await tokensOf(head, call)) };
  if (find !== undefined) return head + (await renderPassages(await files.find(actor, kbId, find), room));
  const range = { offset, limit: charsFor(maxTokens) };
  // An offset counts from the start of the whole text, so it is more exact than a section that is given with it.
  if (section === undefined || offset > 0) {
    return head + (await renderContent(await files.text(actor, kbId, range), room));
  }
  return head + (await renderContent(await sectionText(files, actor, kbId, { ...range, ...section }), room));
}

async function tokensOf(text: string, { count }: ToolCall): Promise<number> {
  const [tokens = 0] = text === "" ? [] : await count([text]);
  return tokens;
}

/**
 * Reads the text of a section. If the item lacks a section that came from an address, the fragment belongs to the page
 * and not to the text, so the whole text is read.
 */
async function sectionText(
  files: ContentReader,
  actor: Actor,
  kbId: string,
  { name, isOfAddress, ...range }: { name: string; isOfAddress: boolean; offset: number; limit: number },
): Promise<ContentRange> {
  try {
    return await files.text(actor, kbId, { ...range, section: name });
  } catch (error) {
    if (isOfAddress && isApiError(error, "no_such_section")) return files.text(actor, kbId, range);
    throw error;
  }
}

async function itemOf(files: ContentReader, { actor, noteReads }: ToolCall, asked: string): Promise<NamedItem> {
  try {
    return await files.resolve(actor, asked);
  } catch (error) {
    // Items that an ambiguous name fits count as seen.
    const kbIds = isApiError(error) ? error.details?.["kbIds"] : undefined;
    if (Array.isArray(kbIds)) noteReads(kbIds.map(String));
    throw error;
  }
}

/** For `catch`: rethrows a failure with this code, with the next step for a model instead of a terminal command. */
function forAgents(code: ErrorCode, hint: string): (error: unknown) => never {
  return (error) => {
    if (!isApiError(error, code)) throw error;
    const { message, field } = error;
    throw new ApiError(code, { message, hint, ...defined({ field }), cause: error });
  };
}

/** Returns every kbId in an answer, at any depth. */
function kbIdsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(kbIdsIn);
  return Object.entries(value).flatMap(([key, member]) =>
    key === "kbId" && typeof member === "string" ? [member] : kbIdsIn(member),
  );
}

function text(value: ArgumentValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
