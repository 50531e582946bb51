import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type FakeBlock, type FakePage, type FakeSource, rich, USER, type Where, type World } from "./world.ts";

export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
  headers: IncomingMessage["headers"];
}

export const TOKEN = "ntn_right";
/** Short pages, so that there are several. */
const PAGE = 4;
const iso = (at: number) => new Date(at - (at % 60_000)).toISOString();

/** A fake of ours of Notion's API of version 2026-03-11, from its published reference: nothing of theirs runs here. */
export async function startNotion(world: World) {
  const notion = {
    origin: "",
    requests: [] as Asked[],
    /** Answers in Notion's place; false = Notion does. */
    instead: undefined as ((asked: Asked, response: ServerResponse) => boolean) | undefined,
    token: TOKEN,
    /** Where uploaded files are. */
    storeAt: undefined as string | undefined,
    hasComments: true,
    stop(): void {
      server.closeAllConnections();
      server.close();
    },
  };
  const server = createServer((request, response) => void answer(request, response));
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens over TCP has such an address.
  notion.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return notion;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", notion.origin);
    const raw = await text(request);
    const { method = "GET", headers } = request;
    const body = raw === "" ? {} : (JSON.parse(raw) as Record<string, unknown>);
    const asked: Asked = { method, path: url.pathname, query: url.searchParams, body, headers };
    notion.requests.push(asked);
    if (notion.instead?.(asked, response)) return;
    if (asked.path.startsWith("/store/")) {
      const content = world.files.get(asked.path);
      const isSigned = url.searchParams.has("X-Amz-Signature") && headers.authorization === undefined;
      return void response.writeHead(content === undefined || !isSigned ? 403 : 200).end(content);
    }
    if (headers.authorization !== `Bearer ${notion.token}`) return refuse(response, 401, "unauthorized");
    if (headers["notion-version"] !== "2026-03-11") return refuse(response, 400, "missing_version");
    const found = route(asked);
    if (found === undefined) return refuse(response, 404, "object_not_found");
    if (found === "restricted") return refuse(response, 403, "restricted_resource");
    const date = new Date(world.now()).toUTCString();
    response.writeHead(200, { "content-type": "application/json", date }).end(JSON.stringify(found));
  }

  function route({ method, path, query, body }: Asked): unknown {
    const [, , kind, id = "", rest] = path.split("/");
    const from = typeof body["start_cursor"] === "string" ? body["start_cursor"] : query.get("start_cursor");
    if (kind === "users" && id === "me")
      return { object: "user", id: "bot-1", type: "bot", bot: { workspace_name: "Acme" } };
    if (kind === "users") return listOf([{ object: "user", id: USER, name: "Ann" }], from);
    if (kind === "search" && method === "POST") return search(body, from);
    if (kind === "comments") {
      if (!notion.hasComments) return "restricted";
      const page = world.pages.get(query.get("block_id") ?? "");
      const all = page?.comments.map((each) => ({
        object: "comment",
        id: each.id,
        created_time: iso(each.at),
        last_edited_time: iso(each.at),
        created_by: { object: "user", id: USER },
        rich_text: rich(each.text),
      }));
      return all && listOf(all, from);
    }
    const named = world.pages.get(id);
    const page = named?.isShared === true ? named : undefined;
    const source = world.sources.get(id);
    if (kind === "pages") return page && toPage(page);
    if (kind === "data_sources" && rest === "query")
      return (
        source &&
        listOf(
          living()
            .filter(({ where }) => isIn(where, id))
            .map(toPage),
          from,
        )
      );
    if (kind === "data_sources") return source && toSource(source);
    if (kind === "databases") {
      const all = [...world.sources.values()].filter(({ database }) => database === id);
      const [first] = all;
      return (
        first && {
          object: "database",
          id,
          title: rich(first.title),
          parent: parentOf(first.where),
          data_sources: all.map((each) => ({ id: each.id, name: each.title })),
        }
      );
    }
    if (kind !== "blocks") return undefined;
    const block = world.find(id)?.block;
    if (rest !== "children") return block && toBlock(block, "workspace");
    const children = page ? childrenOf(page) : block?.children;
    return (
      children &&
      listOf(
        children.map((each) => toBlock(each, page ? { page: id } : { block: id })),
        from,
      )
    );
  }

  function living(): FakePage[] {
    return [...world.pages.values()].filter(({ isTrashed, isShared }) => !isTrashed && isShared);
  }

  function search(body: Record<string, unknown>, from: string | null): unknown {
    const { sort, filter, query } = body as {
      sort: { direction: string };
      filter: { value: string };
      query?: string;
    };
    const isWanted = ({ title }: { title: string }) => title.toLowerCase().includes(query?.toLowerCase() ?? "");
    if (filter.value === "data_source") return listOf([...world.sources.values()].filter(isWanted).map(toSource), from);
    const found = living().filter((page) => !page.isUnlisted && isWanted(page));
    found.sort((a, b) => (sort.direction === "descending" ? b.edited - a.edited : a.edited - b.edited));
    return listOf(found.map(toPage), from);
  }

  /** Pages and databases that stand on a page are blocks of it. */
  function childrenOf(page: FakePage): FakeBlock[] {
    const { edited } = page;
    const pages = living().filter(({ where }) => where !== "workspace" && "page" in where && where.page === page.id);
    const sources = [...world.sources.values()].filter(
      ({ where }) => where !== "workspace" && "page" in where && where.page === page.id,
    );
    return [
      ...page.blocks,
      ...pages.map(({ id, title }) => ({ id, type: "child_page", value: { title }, children: [], edited })),
      ...sources.map(({ database: id, title }) => ({
        id,
        type: "child_database",
        value: { title },
        children: [],
        edited,
      })),
    ];
  }

  function toBlock({ id, type, value, children, edited }: FakeBlock, where: Where): unknown {
    const file = value["file"] as { path?: string } | undefined;
    const shown =
      file?.path === undefined
        ? value
        : {
            ...value,
            file: { url: addressOf(file.path), expiry_time: new Date(world.now() + 3_600_000).toISOString() },
          };
    const common = { object: "block", id, type, has_children: children.length > 0, in_trash: false };
    return { ...common, last_edited_time: iso(edited), parent: parentOf(where), [type]: shown };
  }

  function addressOf(path: string): string {
    return `${notion.storeAt ?? notion.origin}${path}?X-Amz-Expires=3600&X-Amz-Signature=kb-canary-signature`;
  }

  function toPage({ id, title, where, edited, properties, isTrashed }: FakePage): unknown {
    return {
      object: "page",
      id,
      created_time: iso(edited),
      last_edited_time: iso(edited),
      created_by: { object: "user", id: USER },
      in_trash: isTrashed,
      parent: parentOf(where),
      url: `https://www.notion.so/${id.replaceAll("-", "")}`,
      properties: { Name: { id: "title", type: "title", title: rich(title) }, ...properties },
    };
  }

  function toSource({ id, database, title, where }: FakeSource): unknown {
    const parent = { type: "database_id", database_id: database };
    return { object: "data_source", id, title: rich(title), parent, database_parent: parentOf(where), in_trash: false };
  }

  function parentOf(where: Where): unknown {
    if (where === "workspace") return { type: "workspace", workspace: true };
    if ("page" in where) return { type: "page_id", page_id: where.page };
    if ("block" in where) return { type: "block_id", block_id: where.block };
    const database = world.sources.get(where.source)?.database;
    return { type: "data_source_id", data_source_id: where.source, database_id: database };
  }
}

export type NotionServer = Awaited<ReturnType<typeof startNotion>>;

function isIn(where: Where, source: string): boolean {
  return where !== "workspace" && "source" in where && where.source === source;
}

function listOf(all: readonly unknown[], from: string | null): unknown {
  const at = Number(from ?? 0);
  const hasMore = at + PAGE < all.length;
  const next = hasMore ? String(at + PAGE) : null;
  return { object: "list", results: all.slice(at, at + PAGE), has_more: hasMore, next_cursor: next };
}

export function refuse(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ object: "error", status, code, message: "Refused." });
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}
