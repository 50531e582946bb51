import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { KitFixture } from "../../kit/fixture.ts";
import { CHECK_TIMEOUT, makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { thisMachine } from "../../kit/network.ts";
import { git, makeReader, makeRepository, tempFolder } from "./fixture.ts";
import { type HttpRemoteOptions, makeBare, serveHttp } from "./http-remote.ts";
import { oddNames } from "../odd-names.ts";

/** The repository that each check gets a copy of. */
let original = "";
beforeAll(() => {
  const folder = (original = mkdtempSync(join(tmpdir(), "kb-git-")));
  git(folder, "init", "--quiet", "--template=");
  for (const path of ["a.md", "b/1.txt", "b/2.txt", "b/c/3.md", "d.md", "e/4.md", "z.txt"]) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), path);
  }
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "-m", "First");
  return () => rmSync(folder, { recursive: true, force: true });
});

async function makeGitFixture(): Promise<KitFixture> {
  const repository = makeRepository({ batching: { upserts: 2, seen: 3 } }, original);
  const { root, write, commit, source } = repository;
  let count = 0;
  let renamed = "e/4.md";
  const { config, connector, now } = repository.context();
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as KitFixture["source"],
    config,
    badConfigs: [
      {},
      { url: "" },
      { url: "relative/path" },
      { url: "ext::sh -c true" },
      { url: root, depth: 1 },
      { ...config, url: "/etc" },
      { ...config, ref: "no-such-branch" },
    ],
    context: { connector, now },
    minItems: 7,
    narrowerScope: { include: [], exclude: ["b"] },
    add: async () => {
      write(`c/new-${++count}.md`);
      commit("Add");
      return `c/new-${count}.md`;
    },
    edit: async () => {
      write("d.md", `edited ${"x".repeat(++count)}`);
      commit("Edit");
      return "d.md";
    },
    remove: async () => {
      repository.git("rm", "--quiet", "b/2.txt");
      commit("Remove");
      return "b/2.txt";
    },
    async renameItem() {
      const [from, to] = [renamed, `e/renamed-${++count}.md`];
      repository.git("mv", from, to);
      commit("Rename");
      renamed = to;
      return { from, to };
    },
    async fail(kind) {
      if (kind !== "unreachable") return undefined;
      renameSync(root, `${root}.away`);
      return { externalIds: [], heal: () => renameSync(`${root}.away`, root) };
    },
    addOdd: async () => {
      const names = oddNames(200);
      for (const name of names) write(`odd/${name}`, "text");
      commit("Odd");
      return names.map((name) => `odd/${name}`);
    },
  };
}

const TOKEN = "kb-canary-token-of-git";

/** The same repository behind http, for who has a token. */
async function makeHttpFixture(): Promise<KitFixture> {
  const local = await makeGitFixture();
  const { url: work } = local.config as { url: string };
  const base = tempFolder();
  makeBare(work, join(base, "served.git"));
  let instead: HttpRemoteOptions["before"];
  const isKnown = (authorization = "") =>
    Buffer.from(authorization.replace(/^Basic /, ""), "base64")
      .toString("utf8")
      .endsWith(`:${TOKEN}`);
  const remote = await serveHttp(base, {
    before(request, response) {
      if (instead) return instead(request, response);
      if (isKnown(request.headers.authorization)) return false;
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      return true;
    },
  });
  const url = `http://127.0.0.1:${remote.port}/served.git`;
  const reader = makeReader(base, url, { guard: thisMachine, batching: { upserts: 2, seen: 3 } });
  const { config, connector, now } = reader.context();
  const pushed =
    <T>(change: () => Promise<T>) =>
    async () => {
      const changed = await change();
      git(work, "push", "--quiet", join(base, "served.git"), "HEAD");
      return changed;
    };
  const { add, edit, remove, renameItem, addOdd, minItems, narrowerScope } = local;
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: reader.source as KitFixture["source"],
    config,
    credentials: { token: TOKEN },
    badCredentials: { token: "kb-canary-another-token" },
    badConfigs: [
      {},
      { url: "ext::sh -c true" },
      { ...config, url: url.replace("http://", "http://anna:secret@") },
      { ...config, url: url.replace("served", "none") },
      { ...config, ref: "no-such-branch" },
    ],
    context: { connector, now },
    minItems,
    narrowerScope,
    add: pushed(add),
    edit: pushed(edit),
    remove: pushed(remove),
    ...(renameItem && { renameItem: pushed(renameItem) }),
    ...(addOdd && { addOdd: pushed(addOdd) }),
    requests: () => remote.seen.length,
    leadAway: async (origin) => {
      instead = ({ url: path = "" }, response) => (
        response.writeHead(302, { location: `${origin}${path}` }).end(),
        true
      );
    },
    async fail(kind) {
      const failing = (answer: NonNullable<HttpRemoteOptions["before"]>) => {
        instead = (request, response) => (answer(request, response), true);
        return { externalIds: [], heal: () => void (instead = undefined) };
      };
      switch (kind) {
        case "unreachable":
          return failing((_request, response) => (response.destroy(), true));
        case "unauthorized":
          return failing(
            (_request, response) => (response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end(), true),
          );
        case "rate_limited":
          return failing((_request, response) => (response.writeHead(429, { "retry-after": "3600" }).end(), true));
        case "hang":
          return failing(() => true);
        // A repository is read as one: it has no part that could be refused.
        default:
          return undefined;
      }
    },
  };
}

describe.each([
  ["a path", makeGitFixture],
  ["http", makeHttpFixture],
])("git by %s", (_by, makeFixture) => {
  const run = makeCheckRunner(makeFixture);

  test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", CHECK_TIMEOUT, async (_title, check) => {
    expect((await run(check)).faults).toEqual([]);
  });
});
