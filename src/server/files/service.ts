import type { FileAccess, FileCounts, FileList, FileListQuery, FileRecord } from "#api/files.ts";
import { cleanLine, MAX_CHARS } from "#api/clean.ts";
import type { KindLinks } from "#core/link-rules.ts";
import { explainAccess } from "#storage/policy/explain.ts";
import { parsePrincipal } from "#core/principals.ts";
import type { Policy } from "#storage/policy/policy.ts";
import type { CursorCodec, CursorPosition, CursorScope } from "#server/http/cursor.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { SearchIndex } from "#storage/search-index.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { ItemPosition } from "#storage/records/item-queries.ts";
import type { Store } from "#storage/records/store.ts";
import { readItem, readText, type TextRange, type WantedRange } from "./content.ts";
import { findPassages, type FoundPassages } from "./find.ts";
import { countItemsBySource, listConnectorItems, listItems, type ItemPage, type ItemPageRequest } from "./list.ts";
import { lookUpItems, resolveItem, type LookedUp, type NamedItem } from "./lookup.ts";
import { readOriginal, type FetchOriginal, type Original } from "./original.ts";
import { toFileRecord } from "./record.ts";

/**
 * Reads items: lists, counts, text, passages, originals, and why someone has access. Access is decided only by the
 * policy.
 */
export type FileService = ReturnType<typeof makeFileService>;

export interface FileServiceOptions {
  store: Store;
  policy: Policy;
  /** Searches texts in another thread. */
  index: Pick<SearchIndex, "find">;
  cursors: CursorCodec;
  /** The URL rules of the kinds of apps. */
  kinds: readonly KindLinks[];
  fetchOriginal: FetchOriginal;
  /** The origin of permalinks, without a trailing slash. */
  baseUrl: string;
  /** Records an admin's question about someone's access (S18). */
  audit: AuditRecorder;
}

/** Makes the service that reads items. */
export function makeFileService(options: FileServiceOptions) {
  const { store, policy, cursors } = options;

  async function list(
    actor: Actor,
    query: FileListQuery,
    read: (request: ItemPageRequest) => Promise<ItemPage>,
  ): Promise<FileList> {
    const { cursor, limit, sort, q, ...columns } = query;
    const scope: CursorScope = {
      workspaceId: actor.workspaceId,
      userId: actor.userId,
      route: "files",
      args: { ...columns, sort, q },
    };
    const page = await read({
      filter: { ...columns, ...(q !== undefined && { titlePart: q }) },
      order: sort,
      limit,
      ...(cursor !== undefined && { after: fromCursor(cursors.decode(scope, cursor)) }),
    });
    return {
      files: page.items.map((item) =>
        toFileRecord(item, page.gates.get(item.connectorId)?.aclCheckedAt ?? null, options.baseUrl),
      ),
      nextCursor: page.next && cursors.encode(scope, toCursor(page.next)),
      total: page.total,
    };
  }

  /**
   * Returns the names of the principals shown. Members see those through which they have access, and admins see those
   * that a list names.
   */
  async function namesIn(shown: Omit<FileAccess, "names">, workspaceId: string): Promise<Record<string, string>> {
    const principals = shown.lists.flatMap(({ chain, principals }) => [...(chain ?? []), ...(principals ?? [])]);
    const ids = [shown.userId, shown.connectorId, ...principals.flatMap(idOfPrincipal)];
    const names = await store.in(workspaceId).names.of([...new Set(ids)]);
    return Object.fromEntries([...names].map(([id, name]) => [id, cleanLine(name, MAX_CHARS.title)]));
  }

  return {
    list: (actor: Actor, query: FileListQuery): Promise<FileList> =>
      list(actor, query, (request) => listItems(policy, actor, request)),
    /** @throws ApiError `not_found` for a connector that doesn't exist or that the actor may not learn of */
    listOfConnector: (
      actor: Actor,
      connectorId: string,
      query: Omit<FileListQuery, "connectorId">,
    ): Promise<FileList> =>
      list(actor, { ...query, connectorId }, (request) => listConnectorItems(policy, actor, connectorId, request)),
    countBySource: async (actor: Actor): Promise<FileCounts> => ({ counts: await countItemsBySource(policy, actor) }),
    /** @throws ApiError `not_found` */
    get: (actor: Actor, kbId: string): Promise<FileRecord> =>
      readItem(policy, actor, kbId, async ({ store }, item) => {
        const gates = await store.access.connectorGates();
        const gate = gates.find(({ connectorId }) => connectorId === item.connectorId);
        return toFileRecord(item, gate?.aclCheckedAt ?? null, options.baseUrl);
      }),
    /** @throws ApiError `not_found`, `no_text`, `past_end`, `no_such_section` */
    text: (actor: Actor, kbId: string, range: WantedRange): Promise<TextRange> => readText(policy, actor, kbId, range),
    /** @throws ApiError `not_found`, `no_text`, `search_timeout` */
    find: (actor: Actor, kbId: string, words: string): Promise<FoundPassages> =>
      findPassages(options, actor, kbId, words),
    /** @throws ApiError `not_found`, `no_text`, `source_unavailable` */
    original: (actor: Actor, kbId: string): Promise<Original> => readOriginal(policy, options, actor, kbId),
    /** @throws ApiError `not_found`, `forbidden` */
    async access(actor: Actor, kbId: string, userId?: string): Promise<FileAccess> {
      const { isAdminRead, ...explained } = await explainAccess({ store, policy }, actor, kbId, userId);
      if (isAdminRead) {
        const details = { userId: explained.userId, isAllowed: explained.isAllowed };
        const act = { action: "access.explained", target: { type: "file", id: kbId }, details };
        await store.transaction((tx) => options.audit.record(tx, actor, act));
      }
      return { ...explained, names: await namesIn(explained, actor.workspaceId) };
    },
    /** Finds the items that a kbId, URL or issue key names, among those that the actor may see. */
    lookUp: (actor: Actor, asked: string): Promise<LookedUp> => lookUpItems(options, actor, asked),
    /**
     * Finds the one item that a kbId, permalink, URL, issue key, file name, path or title names, among those that the
     * actor may see.
     *
     * @throws ApiError `not_found`, `invalid_argument` when it fits several
     */
    resolve: (actor: Actor, asked: string): Promise<NamedItem> => resolveItem(options, actor, asked),
  };
}

/** Returns the id of a principal of this workspace. A source's people and groups have no name here. */
function idOfPrincipal(principal: string): string[] {
  const parsed = parsePrincipal(principal);
  switch (parsed?.type) {
    case "user":
      return [parsed.userId];
    case "group":
      return [parsed.groupId];
    case "connector":
      return [parsed.connectorId];
    default:
      return [];
  }
}

/** The cursor's flags for the type of its value. */
const VALUE = { none: 0, positive: 1, negative: 2 } as const;

function toCursor({ value, kbId }: ItemPosition): CursorPosition {
  const id = kbId.slice(kbId.indexOf("_") + 1);
  // A title doesn't fit in a cursor, so its item's id is the position.
  if (typeof value !== "number") return { flags: VALUE.none, value: 0, id };
  return { flags: value < 0 ? VALUE.negative : VALUE.positive, value: Math.abs(value), id };
}

function fromCursor({ flags, value, id }: CursorPosition): { kbId: string; value: number | null } {
  const kbId = `kbi_${id}`;
  if (flags === VALUE.none) return { kbId, value: null };
  return { kbId, value: flags === VALUE.negative ? -value : value };
}
