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
 * In this version `in_trash` alone marks what is in the trash. Source:
 * https://developers.notion.com/docs/upgrade-guide-2026-03-11
 */
const VERSION = "2026-03-11";
const PAGE = 100;
/** A real listing has fewer empty pages in a row while there are more. */
const MOST_EMPTY = 50;
/** Pages of one listing: a million entries, which take an hour at the rate that Notion allows. */
const MOST_PAGES = 10_000;

/** All calls to Notion: only this file knows its routes. Ids are in the form of `parseNotionId`. */
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

  /** A listing page by page. @throws ApiError `source_unavailable` for one that doesn't end */
  async function* list(
    ask: (cursor: string | undefined) => Parameters<typeof send>,
    from?: string,
  ): AsyncGenerator<{ results: unknown[]; next: string | undefined }, void> {
    const seen = new Set<string>();
    let empty = 0;
    const fail = (message: string) => {
      // Notion answered: the failure concerns this one listing.
      throw unavailable(message, 200);
    };
    for (let cursor = from; ;) {
      const { results, has_more: hasMore, next_cursor: next } = (await send(...ask(cursor))).json(ListPage);
      empty = results.length === 0 ? empty + 1 : 0;
      // A truncated listing must not be mistaken for everything.
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
    /** Pages and data sources that were listed and aren't understood. */
    odd,
    /** The token's identity, and the server's clock. */
    async me(): Promise<z.infer<typeof Me> & { at: number }> {
      const answer = await send("/users/me");
      return { ...answer.json(Me), at: clockOf(answer, now) };
    },
    /** Names by id; none where the integration may not read users. */
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
    /** One page of matches for a query, for people who choose. */
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
    /** Open comments on a page itself. `isWhole`: each was understood. */
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
    /** A URL of Notion's store, which is valid for an hour and gets no credential. */
    download: (url: string, maxBytes: number): Promise<SourceStream> =>
      http.stream({ url, redirect: "follow", maxBytes, headers: { "accept-encoding": "identity" } }),
  };
}
export type NotionClient = ReturnType<typeof makeNotionClient>;

const MOST_COMMENT_PAGES = 50;

function paging(cursor: string | undefined) {
  return { page_size: PAGE, start_cursor: cursor };
}

/** Returns what was read, or why Notion does not show it. */
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
 * As `orRefusal`; but that Notion can't return this one thing at all (HTTP 400), such as a kind of block or a view that
 * its API doesn't have, counts as a refusal too. Only where nothing is removed because of it.
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

/** As `orRefusal`; but returns the failure if Notion answered, since it then concerns this one thing. */
export async function orFailure<T>(read: () => Promise<T>): Promise<T | RefusalCode | ApiError> {
  try {
    return await orRefusal(read);
  } catch (error) {
    if (error instanceof ApiError && failedStatus(error) !== undefined) return error;
    throw error;
  }
}
