import { makeWebSource } from "#sources/web/index.ts";
import type { KitFixture } from "../../kit/fixture.ts";
import { oddNames } from "../odd-names.ts";
import { page, sitemap, type TestSite } from "./site.ts";

/** Pages by their links: `/` leads to the sections, those to their pages, one of which leads to a document. */
const PAGES = ["/", "/a", "/b/", "/b/1", "/b/2", "/d.txt", "/e/", "/e/4", "/z"];

export const CREDENTIALS = { username: "anna", password: "secret-of-anna" };

/** The kit's fixture over a real server, by links or by a sitemap. */
export function makeWebFixture(site: TestSite, by: "crawl" | "sitemap"): KitFixture {
  const { origin } = site;
  const links = new Map<string, string[]>([
    ["/", ["/a", "/b/", "/e/", "/z"]],
    ["/a", ["/", "/d.txt"]],
    ["/b/", ["/b/1", "/b/2"]],
    ["/b/1", []],
    ["/b/2", []],
    ["/e/", ["/e/4"]],
    ["/e/4", ["/"]],
    ["/z", []],
  ]);
  const write = () => {
    for (const [path, to] of links) site.put(path, page(`Page ${path}`, to));
    if (by === "sitemap") site.put("/sitemap.xml", sitemap([...links.keys()].map((path) => origin + path)));
  };
  site.put("/d.txt", "text of d 000");
  write();
  const source = makeWebSource({
    batching: { upserts: 2, listings: 3 },
    limits: { perMinute: 60_000 },
    sleep: async () => {},
  });
  const config = source.spec.config.parse({ url: `${origin}/`, mode: by, readers: ["workspace"] });
  let count = 0;
  const idOf = (path: string) => origin + path;
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config,
    credentials: CREDENTIALS,
    badCredentials: { ...CREDENTIALS, password: "another-secret" },
    badConfigs: [
      {},
      { url: "" },
      { url: "relative/path" },
      { url: "ftp://127.0.0.1/" },
      { url: "http://anna:secret@127.0.0.1/" },
      { ...config, depth: 1 },
      { ...config, readers: ["everyone"] },
      { ...config, readers: [] },
      { ...config, maxPages: 0 },
      { ...config, userAgent: "evil\r\nX: y" },
      { ...config, mode: "crawl", url: `${origin}/none` },
    ],
    minItems: PAGES.length,
    narrowerScope: { include: [], exclude: ["b"] },
    async add() {
      const path = `/c/new-${++count}`;
      links.set(path, []);
      links.get("/")?.push(path);
      write();
      return idOf(path);
    },
    // As long as before.
    async edit() {
      site.put("/d.txt", `text of d ${String(++count).padStart(3, "0")}`);
      return idOf("/d.txt");
    },
    async remove() {
      links.delete("/b/2");
      links.set("/b/", ["/b/1"]);
      site.things.delete("/b/2");
      write();
      return idOf("/b/2");
    },
    async addOdd() {
      // A name of dots alone is no name in an address.
      const paths = oddNames(200).map((name) => `/odd/${encodeURIComponent(name)}`);
      const found = paths.map((path) =>
        new URL(path, origin).pathname.replaceAll(/%(2D|5F|7E)/g, (all) => decodeURIComponent(all)),
      );
      for (const path of found) links.set(path, []);
      links.get("/")?.push(...found);
      for (const path of found) site.put(path, page("", []));
      write();
      for (const path of found) site.put(path, "<html><body><p>text</p></body></html>");
      return found.map(idOf);
    },
    async renameItem() {
      const [from, to] = [[...links.keys()].find((path) => path.startsWith("/z")) ?? "", `/z${++count}`];
      links.delete(from);
      links.set(to, []);
      links.set("/", [...(links.get("/") ?? []).filter((path) => path !== from), from]);
      write();
      site.put(to, page(`Page ${from}`));
      if (by === "sitemap")
        site.put("/sitemap.xml", sitemap([...links.keys(), from].filter((path) => path !== to).map(idOf)));
      site.put(from, "", { status: 301, headers: { location: to } });
      return { from: idOf(from), to: idOf(to) };
    },
    requests: () => site.asked.length,
    async leadAway(other) {
      site.put(
        "/robots.txt",
        `User-agent: *\nAllow: /\nSitemap: ${other}/sitemap.xml\nSitemap: ${origin}/sitemap.xml\n`,
      );
      site.put("/a", "", { status: 302, headers: { location: `${other}/a` } });
      site.put(
        "/b/",
        page(
          "Away",
          [`${other}/b`, "//127.0.0.1/b"],
          `<base href="${other}/"><link rel="canonical" href="${other}/b">`,
        ),
      );
      site.put("/e/4", page("Away", [], `<meta http-equiv="refresh" content="0; url=${other}/e">`));
      site.put("/d.txt", "", { status: 307, headers: { location: `${other}/d.txt` } });
    },
    async fail(kind) {
      const heal = () => void (site.instead = undefined);
      const externalIds = PAGES.map(idOf);
      const answer = (status: number, of: RegExp, headers: Record<string, string> = {}) => {
        site.instead = (path, response) => of.test(path) && (response.writeHead(status, headers).end(), true);
      };
      switch (kind) {
        case "unreachable":
          site.instead = (_path, response) => (response.destroy(), true);
          return { externalIds, heal };
        case "unauthorized":
          answer(401, /./, { "www-authenticate": 'Basic realm="x"' });
          return { externalIds, heal };
        case "rate_limited":
          answer(429, /./, { "retry-after": "3600" });
          return { externalIds, heal };
        case "hang":
          site.instead = () => true;
          return { externalIds, heal };
        case "one_container":
          answer(403, /^\/b\//);
          return { externalIds: externalIds.filter((id) => id.includes("/b/")), heal };
        case "two_containers":
          site.instead = (path, response) => {
            const status = path.startsWith("/b/") ? 403 : path.startsWith("/e/") ? 500 : undefined;
            return status !== undefined && (response.writeHead(status).end(), true);
          };
          return { externalIds: externalIds.filter((id) => /\/[be]\//.test(id)), heal };
        case "one_item":
          answer(403, /^\/d\.txt$/);
          return { externalIds: [idOf("/d.txt")], heal };
      }
    },
  };
}
