import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeWebdavSource } from "#sources/webdav/index.ts";
import type { KitFixture } from "../../kit/fixture.ts";
import { oddNames } from "../odd-names.ts";
import type { TestProxy } from "../proxy.ts";

export const FILES = ["a.md", "b/1.txt", "b/2.txt", "b/c/3.md", "d.md", "e/4.md", "z.txt"];

/** Files behind a proxy, in a folder of their own of a server that is there already. */
export function makeFiles(root: string, name: string) {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  let written = 0;
  const at = (rel: string) => join(folder, rel);
  return {
    write(rel: string, text = rel): string {
      mkdirSync(dirname(at(rel)), { recursive: true });
      writeFileSync(at(rel), text);
      // No two writes at one instant: the server's ETag has size and time.
      const seconds = 1_700_000_000 + ++written;
      utimesSync(at(rel), seconds, seconds);
      return rel;
    },
    remove: (rel: string) => rmSync(at(rel), { recursive: true }),
    rename: (from: string, to: string) => renameSync(at(from), at(to)),
  };
}

/** The kit's fixture over a real server. */
export function makeWebdavFixture(
  { proxy, root, name }: { proxy: TestProxy; root: string; name: string },
  makeSource: typeof makeWebdavSource = makeWebdavSource,
): KitFixture {
  const files = makeFiles(root, name);
  for (const rel of FILES) files.write(rel);
  const source = makeSource({ batching: { upserts: 2, seen: 3, listings: 5 } });
  const origin = `http://127.0.0.1:${proxy.port}`;
  const config = source.spec.config.parse({ url: `${origin}/locked/${name}/`, readers: ["workspace"] });
  let count = 0;
  const below = (path: string) => new RegExp(`^/locked/${name}/${path}`);
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config,
    credentials: { username: "anna", password: "secret-of-anna" },
    badCredentials: { username: "anna", password: "another-secret" },
    badConfigs: [
      {},
      { url: "" },
      { url: "relative/path" },
      { url: "ftp://127.0.0.1/" },
      { url: "http://anna:secret@127.0.0.1/" },
      { ...config, depth: 1 },
      { ...config, readers: ["everyone"] },
      { ...config, readers: [] },
      { ...config, url: `${origin}/locked/none/` },
      { ...config, url: `${origin}/locked/${name}/a.md` },
    ],
    minItems: FILES.length,
    narrowerScope: { include: [], exclude: ["b"] },
    add: async () => files.write(`c/new-${++count}.md`),
    // As long as before.
    edit: async () => files.write("d.md", `e${String(++count).padStart(3, "0")}`),
    async remove() {
      files.remove("b/2.txt");
      return "b/2.txt";
    },
    async addOdd() {
      const names = oddNames(200);
      for (const each of names) files.write(`odd/${each}`, "text");
      return names.map((each) => `odd/${each}`);
    },
    async moveItem() {
      const [from, to] = ++count % 2 === 1 ? ["z.txt", "e/z.txt"] : ["e/z.txt", "z.txt"];
      files.rename(from, to);
      return to;
    },
    requests: () => proxy.requests.length,
    async fail(kind) {
      const heal = () => void (proxy.instead = undefined);
      switch (kind) {
        case "unreachable":
          proxy.instead = (_passed, response) => (response.destroy(), true);
          return { externalIds: FILES, heal };
        case "unauthorized":
          proxy.instead = (_passed, response) => (
            response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end(),
            true
          );
          return { externalIds: FILES, heal };
        case "rate_limited":
          proxy.instead = (_passed, response) => (response.writeHead(429, { "retry-after": "3600" }).end(), true);
          return { externalIds: FILES, heal };
        case "hang":
          proxy.instead = () => true;
          return { externalIds: FILES, heal };
        case "one_container":
          proxy.instead = ({ path }, response) => below("b/").test(path) && (response.writeHead(403).end(), true);
          return { externalIds: FILES.filter((rel) => rel.startsWith("b/")), heal };
        case "two_containers":
          proxy.instead = ({ path }, response) => {
            const status = below("b/").test(path) ? 403 : below("e/").test(path) ? 500 : undefined;
            return status !== undefined && (response.writeHead(status).end(), true);
          };
          return { externalIds: FILES.filter((rel) => /^[be]\//.test(rel)), heal };
        case "one_item":
          proxy.instead = ({ method, path }, response) =>
            method === "GET" && below("d.md$").test(path) && (response.writeHead(403).end(), true);
          return { externalIds: ["d.md"], heal };
      }
    },
  };
}
