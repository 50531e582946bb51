import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { toTest } from "./cql.ts";
import { makeViews } from "./views.ts";
import type { Page, Part, Space, World } from "./world.ts";

/** What came to the server. */
export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  body: string;
  token: string | undefined;
}

type Answer = { status: number; body: unknown; headers?: Record<string, string> };

/** Short pages, so that there are several. */
const PAGE = 4;

/**
 * A fake of ours, for no Confluence runs here: what the source asks for, as Atlassian's published OpenAPI says that Cloud
 * (REST v2, and v1 where v2 has nothing) and Data Center 9 (REST v1) answer it.
 * Source: https://developer.atlassian.com/cloud/confluence/rest/v2/intro/,
 * https://developer.atlassian.com/cloud/confluence/rest/v1/intro/, https://developer.atlassian.com/server/confluence/rest/v940/
 */
export async function startConfluence(world: World, kind: "cloud" | "data_center" = "cloud") {
  const cloud = kind === "cloud";
  const site = {
    port: 0,
    requests: [] as Asked[],
    /** Answers in Confluence's place; false = Confluence does. */
    instead: undefined as ((asked: Asked, response: ServerResponse) => boolean) | undefined,
    /** Changes what Confluence answers before it is sent. */
    rewrite: (body: string, _asked: Asked) => body,
    /** Called before an answer is made. */
    before: (_asked: Asked) => undefined as void,
    /** Where contents of attachments are, and where links lead. */
    mediaAt: undefined as string | undefined,
    stop: () => undefined as void,
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens over TCP has such an address.
  site.port = (server.address() as AddressInfo).port;
  site.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  const base = `http://127.0.0.1:${site.port}`;
  const root = cloud ? "/wiki" : "";
  const views = makeViews(world, cloud);
  return site;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const url = new URL(request.url ?? "/", base);
    const asked: Asked = {
      method: request.method ?? "GET",
      path: url.pathname,
      query: url.searchParams,
      body: Buffer.concat(parts).toString("utf8"),
      token: tokenOf(request.headers.authorization),
    };
    site.requests.push(asked);
    site.before(asked);
    if (site.instead?.(asked, response)) return;
    const who = world.tokens.get(asked.token ?? "");
    const hasFailed = who === undefined && asked.token !== undefined;
    const { status, body, headers } = hasFailed ? no(401) : route(asked, who);
    const isText = typeof body === "string";
    response.writeHead(status, {
      "content-type": isText ? "text/plain" : "application/json",
      ...(hasFailed && { "x-seraph-loginreason": "AUTHENTICATED_FAILED" }),
      ...headers,
    });
    response.end(isText ? body : site.rewrite(JSON.stringify(body), asked));
  }

  function tokenOf(header: string | undefined): string | undefined {
    const [scheme, value = ""] = (header ?? "").split(" ");
    if (cloud && scheme === "Basic") return Buffer.from(value, "base64").toString().split(":")[1];
    return !cloud && scheme === "Bearer" ? value : undefined;
  }

  function route(asked: Asked, who: string | undefined): Answer {
    const { path, query } = asked;
    const media = /^\/media\/(\d+)$/.exec(path)?.[1];
    if (media !== undefined) return ok(partById(media)?.[1].text ?? "");
    if (!path.startsWith(`${root}/`)) return no(404);
    const at = path.slice(root.length);
    if (at.startsWith("/api/v2/") && cloud) return second(asked, at.slice(7), who);
    const file = /^\/download\/attachments\/(\d+)\//.exec(at)?.[1];
    if (file !== undefined && !cloud) {
      const found = world.page(file)?.parts.find(({ title }) => decodeURIComponent(at).endsWith(`/${title}`));
      if (site.mediaAt !== undefined) return moved(`${site.mediaAt}/media/1`);
      return found ? ok(found.text) : no(404);
    }
    if (!at.startsWith("/rest/api/")) return no(404);
    const rest = at.slice(9);
    if (rest === "/user/current")
      return ok(who === undefined ? { type: "anonymous", displayName: "Anonymous" } : views.user(who));
    if (rest === "/space" && !cloud)
      return ok(
        paged(
          spacesOf(who).map((space) => views.space(space)),
          query,
          rest,
        ),
      );
    if (who === undefined) return no(401);
    if (rest === "/user" && !cloud) {
      const key = query.get("key") ?? "";
      return world.users.has(key) ? ok(views.user(key)) : no(404);
    }
    if (rest === "/content/search") return search(query, who, rest);
    if (rest === "/search") return found(query, who);
    if (rest === "/content" && !cloud) return listing(query, who, rest);
    const [, raw = "", more = ""] = /^\/content\/(?:att)?(\d+)(\/.*)?$/.exec(rest) ?? [];
    if (raw !== "") return content(raw, more, query, who);
    if (rest === "/group") return ok(paged(groupsOf(query), query, rest));
    const group = /^\/group\/([^/]+)\/(?:membersByGroupId|member)$/.exec(rest)?.[1];
    if (group !== undefined) return members(decodeURIComponent(group), query, rest);
    if (cloud || !world.admins.has(who)) return no(cloud ? 404 : 403);
    if (rest === "/permissions") return ok(views.globalGrants());
    const key = /^\/space\/([^/]+)\/permissions$/.exec(rest)?.[1];
    const space = world.spaces.find((each) => each.key === decodeURIComponent(key ?? ""));
    return space ? ok(views.serverGrants(space)) : no(404);
  }

  /** The second version of Cloud's API. */
  function second({ query, body }: Asked, at: string, who: string | undefined): Answer {
    if (at === "/spaces")
      return ok(
        paged(
          spacesOf(who).map((space) => views.space(space)),
          query,
          `/api/v2${at}`,
        ),
      );
    if (who === undefined) return no(401);
    if (at === "/users-bulk") {
      const { accountIds } = JSON.parse(body) as { accountIds: string[] };
      return ok({ results: accountIds.flatMap((id) => (world.users.has(id) ? [views.userOfBulk(id)] : [])) });
    }
    const [, spaceId, what] = /^\/spaces\/(\d+)\/(permissions|pages|blogposts)$/.exec(at) ?? [];
    const space = world.spaces.find(({ id }) => id === spaceId);
    if (spaceId !== undefined && (!space || !sees(who, space))) return no(404);
    if (space && what === "permissions") return ok(paged(views.cloudGrants(space), query, `/api/v2${at}`));
    const kind = what ?? /^\/(pages|blogposts)$/.exec(at)?.[1];
    if (kind !== undefined) {
      const wanted = query.get("id")?.split(",");
      const found = world.pages.filter(
        (page) =>
          page.type === (kind === "pages" ? "page" : "blogpost") &&
          page.status === query.get("status") &&
          (space === undefined || page.space === space.id) &&
          (wanted === undefined || wanted.includes(page.id)) &&
          reads(who, page),
      );
      const hasBody = query.get("body-format") === "storage";
      return ok(
        paged(
          found.map((page) => views.second(page, hasBody)),
          query,
          `/api/v2${at}`,
        ),
      );
    }
    const [, type, id] = /^\/(pages|folders)\/(\d+)$/.exec(at) ?? [];
    const page = world.page(id ?? "");
    if (!page || !reads(who, page) || (type === "folders") !== (page.type === "folder")) return no(404);
    return ok(views.second(page, false));
  }

  function sees(who: string | undefined, space: Space): boolean {
    if (who !== undefined && world.admins.has(who)) return !space.isArchived;
    return world.seesSpace(who, space.id);
  }

  function spacesOf(who: string | undefined): Space[] {
    return world.spaces.filter((space) => sees(who, space));
  }

  /** The account that reads is in every restriction and space. */
  function reads(who: string, page: Page): boolean {
    const space = world.spaces.find(({ id }) => id === page.space);
    return space !== undefined && sees(who, space) && (world.admins.has(who) || world.mayRead(who, page));
  }

  function partById(id: string): [Page, Part] | undefined {
    for (const page of world.pages) {
      const part = page.parts.find((each) => each.id === id);
      if (part) return [page, part];
    }
    return undefined;
  }

  function search(query: URLSearchParams, who: string, at: string): Answer {
    const test = toTest(query.get("cql") ?? "", world);
    if (!test) return no(400);
    const expand = query.get("expand") ?? "";
    const found = world.pages.flatMap((page) => {
      if (page.status !== "current" || page.type === "folder" || !reads(who, page)) return [];
      const all = [
        ...(test(page, undefined) && !world.unindexed.has(page.id) ? [views.page(page, expand)] : []),
        ...page.parts.flatMap((part) =>
          test(page, part) && !world.unindexed.has(part.id) ? [views.part(page, part)] : [],
        ),
      ];
      return all;
    });
    return ok(paged(found, query, at));
  }

  /** What a search for anything tells of its results: here only how many. */
  function found(query: URLSearchParams, who: string): Answer {
    const test = toTest(query.get("cql") ?? "", world);
    if (!test) return no(400);
    const isFound = (page: Page) =>
      page.status === "current" && page.type !== "folder" && !world.unindexed.has(page.id) && reads(who, page);
    return ok({ results: [], totalSize: world.pages.filter((page) => isFound(page) && test(page, undefined)).length });
  }

  function listing(query: URLSearchParams, who: string, at: string): Answer {
    const space = world.spaces.find(({ key }) => key === query.get("spaceKey"));
    if (!space || !sees(who, space)) return no(404);
    const found = world.pages.filter(
      (page) =>
        page.space === space.id &&
        page.type === query.get("type") &&
        page.status === query.get("status") &&
        reads(who, page),
    );
    return ok(
      paged(
        found.map((page) => views.page(page, query.get("expand") ?? "")),
        query,
        at,
      ),
    );
  }

  function content(id: string, more: string, query: URLSearchParams, who: string): Answer {
    const [page, part] = partById(id) ?? [world.page(id), undefined];
    if (!page || page.status !== "current" || !reads(who, page)) return no(404);
    if (more === "/restriction/byOperation/read") return ok(views.restriction(page, query));
    if (cloud && /^\/child\/attachment\/att\d+\/download$/.test(more)) {
      const file = /att(\d+)/.exec(more)?.[1] ?? "";
      return moved(`${site.mediaAt ?? base}/media/${file}`);
    }
    if (more !== "") return no(404);
    return ok(part ? views.part(page, part) : views.page(page, query.get("expand") ?? ""));
  }

  function groupsOf(query: URLSearchParams): unknown[] {
    const wantsAccess = query.get("accessType") === "user";
    return [...world.groups].flatMap(([id, { name, hasAccess }]) =>
      wantsAccess && !hasAccess ? [] : [{ type: "group", name, ...(cloud && { id }) }],
    );
  }

  function members(group: string, query: URLSearchParams, at: string): Answer {
    const found = [...world.groups].find(([id, { name }]) => (cloud ? id : name) === group);
    return found
      ? ok(
          paged(
            [...world.membersOf(found[0])].map((id) => views.user(id)),
            query,
            at,
          ),
        )
      : no(404);
  }

  function paged(results: unknown[], query: URLSearchParams, at: string): unknown {
    const from = Number((query.get("cursor") ?? "").replace("from-", "") || (query.get("start") ?? 0));
    const end = from + PAGE;
    const next = cloud ? `cursor=from-${end}` : `start=${end}`;
    const link = `${site.mediaAt ?? ""}${at.startsWith("/api/v2") ? root : ""}${at}?${next}`;
    return {
      results: results.slice(from, end),
      start: from,
      limit: PAGE,
      size: results.slice(from, end).length,
      _links: { base: `${base}${root}`, ...(end < results.length && { next: link }) },
    };
  }
}
export type ConfluenceServer = Awaited<ReturnType<typeof startConfluence>>;

function ok(body: unknown): Answer {
  return { status: 200, body };
}

function no(status: number): Answer {
  return { status, body: { statusCode: status, message: `HTTP ${status}` } };
}

function moved(location: string): Answer {
  return { status: 302, body: "", headers: { location } };
}
