import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { Hono } from "hono";
import { describe, test } from "vitest";
import { HOME_PATH } from "#api/return-to.ts";
import type { App, AppEnv } from "#server/http/env.ts";
import { isPageAddress, mountWeb, readWebPage } from "#server/web/serve.ts";
import { tempDir } from "../../temp-dir.ts";

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const SCRIPT = "export const answer = 42;\n";

/** An app with one route of its own and a built page of three files. */
function makeApp(options: { isBuilt?: boolean } = {}): App {
  const folder = tempDir();
  if (options.isBuilt !== false) {
    mkdirSync(join(folder, "assets"));
    writeFileSync(join(folder, "index.html"), "<!doctype html><title>kb</title>");
    writeFileSync(join(folder, "theme.js"), "document.title;");
    const preloads = { "/sign-in": ["assets/a-1.js", "assets/b-2.js"], "/i/$kbId": ["assets/c-3.js"] };
    writeFileSync(join(folder, "preloads.json"), JSON.stringify(preloads));
    writeFileSync(join(folder, "assets", "main-C0ffee.js"), SCRIPT);
    writeFileSync(join(folder, "assets", "main-C0ffee.js.br"), brotliCompressSync(SCRIPT));
    writeFileSync(join(folder, "assets", "main-C0ffee.js.gz"), gzipSync(SCRIPT));
  }
  const app: App = new Hono<AppEnv>();
  app.get("/api/session", (c) => c.json({ who: "anna" }));
  mountWeb(app, readWebPage(folder), async (cookies) => (cookies === undefined ? "/sign-in" : HOME_PATH));
  app.notFound((c) => c.json({ code: "not_found" }, 404));
  return app;
}

describe("the built page", () => {
  test("is one document for every address that a person opens, asked for again each time", async ({ expect }) => {
    const app = makeApp();
    for (const path of ["/settings/mcp-access", "/i/kbi_2222222222222222", "/invite", "/oauth/device"]) {
      const response = await app.request(path, { headers: HTML });
      expect([path, response.status, response.headers.get("content-type")]).toEqual([
        path,
        200,
        "text/html; charset=utf-8",
      ]);
      expect(response.headers.get("cache-control")).toBe("no-cache");
    }
  });

  test("answers at the root a client that takes anything, as curl does, and no program that wants JSON", async ({
    expect,
  }) => {
    const statusOf = async (path: string, accept: string) =>
      (await makeApp().request(path, { headers: { accept } })).status;
    expect(await statusOf("/", "*/*")).toBe(302);
    expect(await statusOf("/", "application/json")).toBe(404);
    expect(await statusOf("/settings/profile", "*/*")).toBe(404);
  });

  test("names the files of the page that was asked for, so that they are asked for at once", async ({ expect }) => {
    const app = makeApp();
    const linkOf = async (path: string) => (await app.request(path, { headers: HTML })).headers.get("link");
    expect(await linkOf("/sign-in")).toBe(
      "</assets/a-1.js>; rel=modulepreload; crossorigin, </assets/b-2.js>; rel=modulepreload; crossorigin",
    );
    expect(await linkOf("/i/kbi_2222222222222222")).toBe("</assets/c-3.js>; rel=modulepreload; crossorigin");
    expect([await linkOf("/settings/profile"), await linkOf("/sign-in/more")]).toEqual([null, null]);
    expect((await app.request("/preloads.json", { headers: { accept: "*/*" } })).status).toBe(404);
  });

  test("leads from the root to where the person begins, at once and for this time only", async ({ expect }) => {
    for (const method of ["GET", "HEAD"]) {
      for (const [cookie, place] of [
        [{}, "/sign-in"],
        [{ cookie: "kb_session=x" }, HOME_PATH],
      ] as const) {
        const response = await makeApp().request("/", { method, headers: { ...HTML, ...cookie } });
        expect([response.status, response.headers.get("location"), await response.text()]).toEqual([302, place, ""]);
        expect(response.headers.get("cache-control")).toBe("no-store");
      }
    }
  });

  test("allows nothing inline, nothing from elsewhere and no frame around it", async ({ expect }) => {
    const policy =
      (await makeApp().request("/sign-in", { headers: HTML })).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy).not.toMatch(/unsafe|data:|https?:|\*/);
  });

  test("is told to be unchanged to who holds it", async ({ expect }) => {
    const app = makeApp();
    const etag = (await app.request("/welcome", { headers: HTML })).headers.get("etag") ?? "";
    const again = await app.request("/sign-in", { headers: { ...HTML, "if-none-match": `W/${etag}` } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  test("keeps files with a hash in their name for ever, and no others", async ({ expect }) => {
    const app = makeApp();
    const hashed = await app.request("/assets/main-C0ffee.js");
    expect(hashed.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(hashed.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect((await app.request("/theme.js")).headers.get("cache-control")).toBe("no-cache");
  });

  test("comes compressed as the build made it, for those who take it", async ({ expect }) => {
    const app = makeApp();
    const get = (encoding: string) =>
      app.request("/assets/main-C0ffee.js", { headers: { "accept-encoding": encoding } });
    const br = await get("gzip, deflate, br, zstd");
    expect(br.headers.get("content-encoding")).toBe("br");
    expect(brotliDecompressSync(await br.arrayBuffer()).toString()).toBe(SCRIPT);
    expect((await get("gzip;q=0.5")).headers.get("content-encoding")).toBe("gzip");
    const plain = await get("br;q=0, identity");
    expect([plain.headers.get("content-encoding"), await plain.text()]).toEqual([null, SCRIPT]);
    expect(plain.headers.get("vary")).toContain("Accept-Encoding");
  });

  test.for([
    ["a program that asks for no HTML", "GET", "/settings/profile", { accept: "application/json" }],
    ["an asset of an older build", "GET", "/assets/main-0ld.js", HTML],
    ["a route that does not exist", "GET", "/api/nothing", HTML],
    ["a file outside the folder", "GET", "/..%2f..%2fetc/passwd", { accept: "*/*" }],
    ["the uncompressed name of a compressed file", "GET", "/assets/main-C0ffee.js.br", HTML],
    ["another method", "POST", "/settings/profile", HTML],
  ] as const)("does not answer %s", async ([, method, path, headers], { expect }) => {
    const response = await makeApp().request(path, { method, headers });
    expect([response.status, await response.json()]).toEqual([404, { code: "not_found" }]);
  });

  test("leaves the server's own routes alone", async ({ expect }) => {
    const response = await makeApp().request("/api/session", { headers: HTML });
    expect(await response.json()).toEqual({ who: "anna" });
  });

  test("says how to build it when it was not built", async ({ expect }) => {
    const app = makeApp({ isBuilt: false });
    const response = await app.request("/", { headers: HTML });
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("npm run build");
    expect((await app.request("/api/nothing", { headers: HTML })).status).toBe(404);
  });
});

test.for([
  ["/", true],
  ["/oauth/device", true],
  ["/oauth/consent/abc", true],
  ["/apical", true],
  ["/api", false],
  ["/api/anything", false],
  ["/mcp", false],
  ["/.well-known/oauth-authorization-server", false],
  ["/oauth/authorize", false],
  ["/oauth/consent", false],
  ["/oauth/consent/abc/request", false],
  ["/oauth/token", false],
  ["/oauth/device_authorization", false],
  ["/healthz", false],
  ["/metrics", false],
] as const)("%s is an address of the page: %s", ([path, isPage], { expect }) => {
  expect(isPageAddress(path)).toBe(isPage);
});
