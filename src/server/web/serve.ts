import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import { defined } from "#core/defined.ts";
import type { App, AppContext } from "#server/http/env.ts";
import type { Front } from "./front.ts";

/** A file of the built page, with its compressed versions from the build. */
interface WebFile {
  type: string;
  etag: string;
  /** The bytes by content coding. `identity` is always present. */
  bytes: Readonly<Partial<Record<Coding, Uint8Array<ArrayBuffer>>>> & { identity: Uint8Array<ArrayBuffer> };
}

type Coding = "br" | "gzip" | "identity";

/** The built page in memory (about a megabyte). */
export interface WebPage {
  /** The files by path from the root, such as `/assets/main-Cx1.js`. */
  files: ReadonlyMap<string, WebFile>;
  /** The preloads for the `Link` header of a document, by the addresses of the pages. */
  preloads: readonly { address: RegExp; link: string }[];
}

/** Reads the folder that the build wrote. Returns an empty page if the page wasn't built. */
export function readWebPage(folder: string): WebPage {
  if (!existsSync(join(folder, INDEX))) return { files: new Map(), preloads: [] };
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== PRELOADS && !/\.(?:br|gz)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return {
    files: new Map(names.map((file) => [file.slice(folder.length).split(sep).join("/"), readFile(file)])),
    preloads: readPreloads(join(folder, PRELOADS)),
  };
}

/**
 * Serves the page: its files by name, and its single HTML document for every address that a person opens and no server
 * route handles. Mount it after all routes.
 *
 * @param front where `/` redirects
 * @param page if it is empty, people are shown how to build it
 */
export function mountWeb(app: App, page: WebPage, front: Front): void {
  const { files } = page;
  app.get("*", async (c) => {
    const file = files.get(c.req.path);
    if (file !== undefined && c.req.path !== `/${INDEX}`) return answerFile(c, file, isHashed(c.req.path));
    if (!isPageAddress(c.req.path) || !wantsHtml(c)) return c.notFound();
    const index = files.get(`/${INDEX}`);
    if (index === undefined) return answerUnbuilt(c);
    if (c.req.path !== "/") return answerFile(c, index, false, linkOf(page, c.req.path));
    c.header("Cache-Control", "no-store");
    return c.redirect(await front(c.req.header("cookie")), 302);
  });
}

/**
 * Whether the page may answer an address. It never answers addresses for programs, and of those for OAuth it answers
 * only two.
 */
export function isPageAddress(path: string): boolean {
  if (/^\/oauth(?:\/|$)/.test(path)) return /^\/oauth\/(?:device|consent\/[^/]+)\/?$/.test(path);
  return !/^\/(?:api|mcp|\.well-known|assets|hooks|healthz|readyz|metrics|docs|llms\.txt)(?:\/|$)/.test(path);
}

const INDEX = "index.html";
/** A file that the build writes. It lists the files of each page, by the page's address in the router. */
const PRELOADS = "preloads.json";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Allows only resources of this server: no inline script or style, and no frame around the page. */
const POLICY = [
  "default-src 'self'",
  "base-uri 'none'",
  "object-src 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

function readPreloads(file: string): WebPage["preloads"] {
  if (!existsSync(file)) return [];
  const byAddress: Record<string, string[]> = JSON.parse(readFileSync(file, "utf8"));
  return Object.entries(byAddress).map(([address, names]) => ({
    address: new RegExp(`^${address.replaceAll(/\$\w+/g, "[^/]+")}/?$`),
    link: names.map((name) => `</${name}>; rel=modulepreload; crossorigin`).join(", "),
  }));
}

function linkOf({ preloads }: WebPage, path: string): string {
  return preloads.find(({ address }) => address.test(path))?.link ?? "";
}

function readFile(file: string): WebFile {
  const read = (name: string) => (existsSync(name) ? new Uint8Array(readFileSync(name)) : undefined);
  const identity = new Uint8Array(readFileSync(file));
  const [br, gzip] = [read(`${file}.br`), read(`${file}.gz`)];
  return {
    type: TYPES[extname(file)] ?? "application/octet-stream",
    etag: `"${createHash("sha256").update(identity).digest("base64url").slice(0, 22)}"`,
    bytes: { identity, ...defined({ br, gzip }) },
  };
}

function answerFile(c: AppContext, file: WebFile, isForEver: boolean, link = ""): Response {
  const headers: Record<string, string> = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": isForEver ? "public, max-age=31536000, immutable" : "no-cache",
    ETag: file.etag,
    Vary: "Accept, Accept-Encoding",
    ...(link !== "" && { Link: link }),
  };
  const held = c.req.header("if-none-match")?.split(",") ?? [];
  if (held.some((tag) => tag.trim().replace(/^W\//, "") === file.etag))
    return new Response(null, { status: 304, headers });
  const coding = chooseCoding(c.req.header("accept-encoding") ?? "", file);
  return new Response(file.bytes[coding] ?? file.bytes.identity, {
    headers: { ...headers, "Content-Type": file.type, ...(coding !== "identity" && { "Content-Encoding": coding }) },
  });
}

function chooseCoding(accepted: string, file: WebFile): Coding {
  const offered = accepted.split(",").map((part) => part.trim().toLowerCase());
  const takes = (coding: Coding) =>
    offered.some((part) => part.split(";")[0] === coding && !/;\s*q=0(?:\.0*)?$/.test(part));
  return (["br", "gzip"] as const).find((coding) => file.bytes[coding] !== undefined && takes(coding)) ?? "identity";
}

/** Whether the build named a file by a hash of its content. */
function isHashed(path: string): boolean {
  return path.startsWith("/assets/");
}

function wantsHtml(c: AppContext): boolean {
  const accept = c.req.header("accept")?.toLowerCase() ?? "*/*";
  // A request for the root with curl should show that the server runs.
  return accept.includes("text/html") || (c.req.path === "/" && accept.includes("*/*"));
}

function answerUnbuilt(c: AppContext): Response {
  c.header("Cache-Control", "no-store");
  return c.html(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>kb</title><h1>The web page isn't built</h1><p>The server is running, and agents and the command line can use it. To build the page, run <code>npm run build</code> and restart the server.</p></html>`,
    503,
  );
}
