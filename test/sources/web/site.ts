import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a site has at a path. */
export interface Thing {
  body?: string | Uint8Array;
  status?: number;
  headers?: Record<string, string>;
  type?: string;
  /** No ETag. */
  isBare?: true;
}

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  status: number;
}

/** A real server of a site that lives in a map; answers 304 to who has what it would send. */
export async function startSite(credentials?: { username: string; password: string }) {
  const things = new Map<string, Thing>();
  const asked: Asked[] = [];
  const site = {
    things,
    asked,
    port: 0,
    origin: "",
    /** Answers in the site's place; false = the site does. */
    instead: undefined as ((path: string, response: ServerResponse, request: IncomingMessage) => boolean) | undefined,
    put(path: string, body: string | Uint8Array, more: Thing = {}): void {
      things.set(path, { body, ...more });
    },
    /** Paths that were asked for since the last time. */
    took(): string[] {
      return asked.splice(0).map(({ path, status }) => `${path} ${status}`);
    },
    stop(): void {
      server.closeAllConnections();
      server.close();
    },
  };
  const expected = credentials && basic(credentials);
  const server = createServer((request, response) => {
    const { method = "GET", url: path = "/", headers } = request;
    response.on("close", () => void asked.push({ method, path, headers, status: response.statusCode }));
    if (site.instead?.(path, response, request)) return;
    if (expected !== undefined && headers.authorization !== expected && path !== "/robots.txt") {
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
    }
    const thing = things.get(path);
    if (!thing) return void response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not found</h1>");
    const { body = "", status = 200, type = typeOf(path), isBare } = thing;
    const etag = `"${createHash("sha1").update(body).digest("hex").slice(0, 12)}"`;
    const said = { "content-type": type, ...(status === 200 && isBare !== true && { etag }), ...thing.headers };
    if (said.etag !== undefined && headers["if-none-match"] === said.etag)
      return void response.writeHead(304, said).end();
    response.writeHead(status, { ...said, "content-length": Buffer.byteLength(body) }).end(body);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening server over TCP has such an address.
  site.port = (server.address() as AddressInfo).port;
  site.origin = `http://127.0.0.1:${site.port}`;
  return site;
}

export type TestSite = Awaited<ReturnType<typeof startSite>>;

export function basic({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** A page with words of its own, and links. */
export function page(title: string, links: readonly string[] = [], head = "", text = `Words about ${title}.`): string {
  const anchors = links.map((href) => `<li><a href="${href}">${href.replaceAll("&", "&amp;")}</a></li>`).join("");
  return `<!doctype html><html lang="en"><head><title>${title} · Site</title>${head}</head>
<body><nav><ul>${anchors}</ul></nav><main><h1>${title}</h1><p>${text}</p></main></body></html>`;
}

export function sitemap(paths: readonly (string | [string, string])[]): string {
  const rows = paths.map((row) => {
    const [loc, lastmod] = typeof row === "string" ? [row] : row;
    return `<url><loc>${loc.replaceAll("&", "&amp;")}</loc>${lastmod ? `<lastmod>${lastmod}</lastmod>` : ""}</url>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${rows.join("\n")}</urlset>`;
}

export function sitemapIndex(locs: readonly string[]): string {
  const rows = locs.map((loc) => `<sitemap><loc>${loc}</loc></sitemap>`).join("");
  return `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${rows}</sitemapindex>`;
}

function typeOf(path: string): string {
  const name = path.replace(/\?.*/s, "");
  if (name.endsWith(".txt")) return "text/plain";
  if (name.endsWith(".xml")) return "application/xml";
  if (name.endsWith(".pdf")) return "application/pdf";
  return name.endsWith(".gz") ? "application/gzip" : "text/html; charset=utf-8";
}
