import { DatabaseSync } from "@photostructure/sqlite";
import { ApiError, assertNever, isApiError, type ErrorCode } from "#api/errors.ts";
import type { FoundPassages } from "#text/snippet.ts";
import type {
  FindRequest,
  IndexStats,
  SearchRequest,
  SearchResponse,
  ShowRequest,
  ShowResponse,
} from "#storage/search-index.ts";
import { explainFailure } from "#storage/failure.ts";
import { PostingCache } from "#storage/index/posting-cache.ts";
import { makeFinder } from "./excerpts.ts";
import { openListExchange } from "./list-exchange.ts";
import { type IndexReader, makeIndexReader } from "./reader.ts";
import { makeShow } from "./show.ts";
import { makeStoredText } from "./stored-text.ts";

/** Start options of a searcher. */
export interface SearcherOptions {
  /** The database file. */
  file: string;
  /** Limit in bytes of the visible sets that are kept per workspace. */
  cacheBytes?: number;
  /**
   * Name of the exchange of posting lists between the threads of a pool. Without it, each thread keeps its own lists.
   */
  exchange?: string;
}

/** A task for a searcher, and its answer. Both have the same `id`. */
export type SearcherTask =
  | { type: "search"; request: SearchRequest }
  | { type: "show"; request: ShowRequest }
  | { type: "find"; request: FindRequest }
  | { type: "stats"; workspaceId: string };

export type SearcherAnswer = SearchResponse | ShowResponse | FoundPassages | undefined | IndexStats;

export type SearcherMessage = { id: number; task: SearcherTask } | { close: true };

export type SearcherReply =
  | { id: number; ok: true; value: SearcherAnswer }
  | {
      id: number;
      ok: false;
      error: { message: string; code: ErrorCode | undefined; retryAfterMs: number | undefined };
    };

/** How often an idle thread checks for changes, so that the first search after a thousand changes waits less. */
const FOLLOW_MS = 1_000;

/** Opens a reader on its own read-only connection. */
export function openSearcher({ file, cacheBytes, exchange: name }: SearcherOptions) {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  db.exec("PRAGMA query_only=ON");
  // The file isn't mapped, and 2 MB of pages are cached: each thread's map would count as memory, and it doesn't make a
  // read faster. Source: docs/decisions/0041.
  const postings = new PostingCache({ isShared: name !== undefined });
  const exchange = name === undefined ? undefined : openListExchange(name, postings);
  const reader: IndexReader = makeIndexReader(db, {
    readText: makeStoredText(db),
    postings,
    ...(cacheBytes !== undefined && { cacheBytes }),
  });
  const show = makeShow(db, reader);
  const find = makeFinder(db);
  const perform = (task: SearcherTask): SearcherAnswer => {
    switch (task.type) {
      case "search":
        return reader.search(task.request);
      case "show":
        return show(task.request);
      case "find":
        return find(task.request);
      case "stats":
        return reader.stats(task.workspaceId);
      default:
        return assertNever(task);
    }
  };
  const unlessUnreadable = (work: () => boolean): boolean => {
    try {
      return work();
    } catch {
      // No search waits for this work. If the data can't be read, the next search fails and reports the error.
      return false;
    }
  };
  let pause: NodeJS.Immediate | undefined;
  const useThePause = () => {
    exchange?.send();
    pause = unlessUnreadable(() => reader.readSome()) ? setImmediate(useThePause) : undefined;
  };
  let following: NodeJS.Timeout | undefined;
  const follow = () => {
    const isNeeded = unlessUnreadable(() => {
      const found = reader.follow();
      // During many changes, words stay unread, because most will be in a segment before a search needs them.
      if (found === "settled") pause ??= setImmediate(useThePause);
      return found !== "nothing";
    });
    following = isNeeded ? setTimeout(follow, FOLLOW_MS).unref() : undefined;
  };
  return {
    /**
     * Performs a task. Work that speeds up later tasks runs while no task is waiting, some milliseconds at a time, and
     * once a second.
     */
    perform(task: SearcherTask): SearcherAnswer {
      try {
        return perform(task);
      } finally {
        pause ??= setImmediate(useThePause);
        following ??= setTimeout(follow, FOLLOW_MS).unref();
      }
    },
    close(): void {
      clearImmediate(pause);
      clearTimeout(following);
      exchange?.close();
      db.close();
    },
  };
}

/** Converts an error to a form that can be sent between threads. */
export function toReplyError(thrown: unknown): (SearcherReply & { ok: false })["error"] {
  const error = explainFailure(thrown);
  if (isApiError(error)) return { message: error.message, code: error.code, retryAfterMs: error.retryAfterMs };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message, code: undefined, retryAfterMs: undefined };
}

/** Rebuilds the error in the receiving thread. */
export function fromReplyError({ message, code, retryAfterMs }: ReturnType<typeof toReplyError>): Error {
  if (code === undefined) return new Error(message);
  return new ApiError(code, { message, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}
