import { clockOf } from "#sources/times.ts";
import { defined } from "#core/defined.ts";
import { unavailable } from "#sources/errors.ts";
import type { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import type { RefusalCode } from "#sources/outcomes.ts";
import { failedStatus, refusalOf } from "#sources/failures.ts";
import type { SourceRequest, SourceStream } from "#sources/http-contract.ts";
import { type Listed, makeOddRecords } from "#sources/listed.ts";
import type { NotionConfig } from "./config.ts";
import {
  BlockRecord,
  CommentRecord,
  DatabaseRecord,
  DataSourceRecord,
  ListPage,
  Me,
  PageRecord,
  recordsIn,
  UserRecord,
} from "./records.ts";

export type NotionContext = SourceContext<NotionConfig>;

/**
 * The API version. In this version, only `in_trash` marks things in the trash. Source:
 * https://developers.notion.com/docs/upgrade-guide-2026-03-11
 */
const VERSION = "2026-03-11";
const PAGE = 100;
/** The most empty pages in a row. A listing that works has fewer before its end. */
const MOST_EMPTY = 50;
/** The most pages of one listing: a million entries, which take an hour at Notion's rate limit. */
const MOST_PAGES = 10_000;

/**
 * Makes the client for all calls to Notion. Routes are known only in this file. Ids are in the form of `parseNotionId`.
 */
export function makeNotionClient(
  { http, now }: Pick<NotionContext, "http" | "now">,
  apiUrl: string,
  mostPages: number = MOST_PAGES,
) {
  const odd = makeOddRecords();
  const headers = { "notion-version": VERSION, accept: "application/json" };
  const send = (path: string, more: Omit<SourceRequest, "url"> = {}) =>
    http.request({ url: `${apiUrl}/v1${path}`, auth: true, headers, ...more });
  const get = async <T extends z.ZodType>(path: string, schema: T): Promise<z.infer<T>> =>
    (await send(path)).json(schema) as z.infer<T>;

  /** Reads a listing page by page. @throws ApiError `source_unavailable` for a listing that doesn't end */
  async function* list(
    ask: (cursor: string | undefined) => Parameters<typeof send>,
    from?: string,
  ): AsyncGenerator<{ results: unknown[]; next: string | undefined }, void> {
    const seen = new Set<string>();
    let empty = 0;
    const fail = (message: string) => {
      // Notion answered, so the failure concerns only this listing.
      throw unavailable(message, 200);
    };
    for (let cursor = from; ;) {
      const { results, has_more: hasMore, next_cursor: next } = (await send(...ask(cursor))).json(ListPage);
      empty = results.length === 0 ? empty + 1 : 0;
      // A truncated listing must not be mistaken for the complete one.
      if (hasMore && (!next || seen.has(next) || empty > MOST_EMPTY)) fail("Notion sends a listing that doesn't end.");
      if (hasMore && seen.size + 1 >= mostPages)
        fail(`Notion sends a listing of more than ${mostPages * PAGE} entries.`);
      yield { results, next: hasMore ? (next ?? undefined) : undefined };
      if (!hasMore || !next) return;
      seen.add(next);
      cursor = next;
    }
  }

  const search = (object: "page" | "data_source", { direction = "ascending", query = "", from = "" } = {}) =>
    list(
      (cursor) => [
        "/search",
        {
          method: "POST",
          json: {
            ...(query !== "" && { query }),
            filter: { property: "object", value: object },
            sort: { timestamp: "last_edited_time", direction },
            page_size: PAGE,
            ...defined({ start_cursor: cursor }),
          },
          isIdempotent: true,
        },
      ],
      from === "" ? undefined : from,
    );

  return {
    /** Pages and data sources that were listed but could not be parsed. */
    odd,
    /** Returns the token's identity, and the server's clock. */
    async me(): Promise<z.infer<typeof Me> & { at: number }> {
      const answer = await send("/users/me");
      return { ...answer.json(Me), at: clockOf(answer, now) };
    },
    /** Returns names of users by id; none if the integration may not read users. */
    async users(): Promise<ReadonlyMap<string, string>> {
      const names = new Map<string, string>();
      const found = await orRefusal(async () => {
        for await (const { results } of list((cursor) => ["/users", { query: paging(cursor) }]))
          for (const { id, name } of recordsIn(UserRecord, results).known) if (name !== undefined) names.set(id, name);
      });
      return typeof found === "string" ? new Map() : names;
    },
    async *pages(direction: "ascending" | "descending"): AsyncGenerator<PageRecord[], void> {
      for await (const { results } of search("page", { direction })) yield odd.known(recordsIn(PageRecord, results));
    },
    async *dataSources(): AsyncGenerator<DataSourceRecord[], void> {
      for await (const { results } of search("data_source")) yield odd.known(recordsIn(DataSourceRecord, results));
    },
    /** Returns one page of matches for a query, for people who select a page. */
    async find(object: "page" | "data_source", query: string, from: string) {
      for await (const { results, next } of search(object, { direction: "descending", query, from }))
        return {
          pages: recordsIn(PageRecord, results).known,
          dataSources: recordsIn(DataSourceRecord, results).known,
          next,
        };
      return { pages: [], dataSources: [], next: undefined };
    },
    page: (id: string) => get(`/pages/${id}`, PageRecord),
    block: (id: string) => get(`/blocks/${id}`, BlockRecord),
    database: (id: string) => get(`/databases/${id}`, DatabaseRecord),
    dataSource: (id: string) => get(`/data_sources/${id}`, DataSourceRecord),
    async *rows(id: string): AsyncGenerator<PageRecord[], void> {
      const path = `/data_sources/${id}/query`;
      const ask = (cursor: string | undefined): Parameters<typeof send> => [
        path,
        {
          method: "POST",
          json: { page_size: PAGE, ...defined({ start_cursor: cursor }) },
          isIdempotent: true,
        },
      ];
      for await (const { results } of list(ask)) yield odd.known(recordsIn(PageRecord, results));
    },
    async *children(id: string): AsyncGenerator<Listed<BlockRecord>, void> {
      for await (const { results } of list((cursor) => [`/blocks/${id}/children`, { query: paging(cursor) }]))
        yield recordsIn(BlockRecord, results);
    },
    /** Returns the open comments on a page itself. `isWhole` = every comment was parsed. */
    async comments(pageId: string): Promise<{ comments: CommentRecord[]; isWhole: boolean }> {
      const found: CommentRecord[] = [];
      let isWhole = true;
      let pages = 0;
      const ask = (cursor: string | undefined): Parameters<typeof send> => [
        "/comments",
        { query: { block_id: pageId, ...paging(cursor) } },
      ];
      for await (const { results } of list(ask)) {
        const { known, size } = recordsIn(CommentRecord, results);
        isWhole &&= known.length === size;
        found.push(...known);
        if (++pages >= MOST_COMMENT_PAGES) break;
      }
      return { comments: found, isWhole };
    },
    /**
     * Downloads a file by a URL of Notion's file store. The URL is valid for an hour, and the request has no
     * credential.
     */
    download: (url: string, maxBytes: number): Promise<SourceStream> =>
      http.stream({ url, redirect: "follow", maxBytes, headers: { "accept-encoding": "identity" } }),
  };
}
export type NotionClient = ReturnType<typeof makeNotionClient>;

const MOST_COMMENT_PAGES = 50;

function paging(cursor: string | undefined) {
  return { page_size: PAGE, start_cursor: cursor };
}

/** Returns what was read, or why Notion doesn't show it. */
export async function orRefusal<T>(read: () => Promise<T>): Promise<T | RefusalCode> {
  try {
    return await read();
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) throw error;
    return code;
  }
}

/**
 * Does the same as `orRefusal`, but HTTP 400 also counts as a refusal: Notion's API can't return this one thing at all,
 * such as an unsupported kind of block or view. Use it only where nothing is removed because of the refusal.
 */
export async function orUnsupported<T>(read: () => Promise<T>): Promise<T | RefusalCode> {
  try {
    return await orRefusal(read);
  } catch (error) {
    if (failedStatus(error) === BAD_REQUEST) return "source_not_found";
    throw error;
  }
}

const BAD_REQUEST = 400;

/**
 * Does the same as `orRefusal`, but returns the failure if Notion answered, since the failure then concerns only this
 * thing.
 */
export async function orFailure<T>(read: () => Promise<T>): Promise<T | RefusalCode | ApiError> {
  try {
    return await orRefusal(read);
  } catch (error) {
    if (error instanceof ApiError && failedStatus(error) !== undefined) return error;
    throw error;
  }
}
