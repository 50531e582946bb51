import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makeAddressGuard } from "#net/address-guard.ts";
import { CONNECTOR_ID, digestOf, git, itemsOf, loopbackGuard, makeReader, tempFolder } from "./fixture.ts";
import { makeBare, serveHttp, type HttpRemoteOptions } from "./http-remote.ts";

const TOKEN = "kb-canary-token-91f2";
const basic = (user: string, word: string) => `Basic ${Buffer.from(`${user}:${word}`).toString("base64")}`;

/** One repository for the whole file, copied for each test. */
let template: string | undefined;
function templateFolder(): string {
  if (template !== undefined) return template;
  template = realpathSync(mkdtempSync(join(tmpdir(), "kb-git-template-")));
  const work = join(template, "work");
  mkdirSync(join(work, "docs"), { recursive: true });
  git(work, "init", "--quiet");
  const commit = (message: string, files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(work, path), text);
    git(work, "add", "--all");
    git(work, "commit", "--quiet", "-m", message);
  };
  commit("First", { "README.md": "hello", "docs/guide.md": "guide", "big.txt": "x".repeat(5_000) });
  commit("Second", { "README.md": "hello again" });
  makeBare(work, join(template, "served.git"));
  return template;
}
afterAll(() => template !== undefined && rmSync(template, { recursive: true, force: true }));

/** A repository behind http, and a source that reads it. */
async function makeRemote(options: HttpRemoteOptions = {}) {
  const base = tempFolder();
  cpSync(join(templateFolder(), "served.git"), join(base, "served.git"), { recursive: true });
  const remote = await serveHttp(base, options);
  const guard = loopbackGuard();
  const reader = makeReader(base, remote.url("served.git"), { guard });
  const mirror = join(base, "data", "git", CONNECTOR_ID, "mirror.git");
  /** A work tree of somebody who changes the repository. */
  const workTree = () => {
    git(base, "clone", "--quiet", join(base, "served.git"), "work");
    return join(base, "work");
  };
  return { remote, guard, mirror, workTree, ...reader };
}

describe("a repository over http", () => {
  test("is read whole, then by what changed, and knows who changed what last", async () => {
    const { run, workTree } = await makeRemote();
    const first = await run();
    expect(digestOf(first)).toEqual(["+README.md", "+big.txt", "+docs/guide.md", "complete"]);
    const [readme, big] = itemsOf(first);
    expect(readme).toMatchObject({ author: { name: "Ana Diaz", email: "ana@example.test", claimed: true } });
    expect(readme?.updatedAt).toBeGreaterThan(big?.updatedAt ?? Infinity);
    const work = workTree();
    writeFileSync(join(work, "new.md"), "new");
    git(work, "mv", "docs/guide.md", "docs/handbook.md");
    git(work, "add", "--all");
    git(work, "commit", "--quiet", "-m", "Third");
    git(work, "push", "--quiet", "origin", "HEAD");
    expect(digestOf(await run())).toEqual(["docs/guide.md>docs/handbook.md", "+new.md", "-docs/guide.md", "end"]);
    expect(digestOf(await run())).toEqual(["end"]);
  });

  test("is copied without the past of its files and without what is too large", async () => {
    const { run, mirror, context } = await makeRemote();
    const items = itemsOf(await run(context({ maxFileMb: 0.002 })));
    expect(items.find(({ externalId }) => externalId === "big.txt")).toMatchObject({
      content: { type: "none", reason: "too_large" },
    });
    const objects = git(mirror, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)");
    const count = (type: string) => objects.split("\n").filter((line) => line === type).length;
    // Two commits, and of the files only the two of today that are small enough.
    expect([count("commit"), count("blob")]).toEqual([2, 2]);
  });

  test("is copied without any history when none is wanted", async () => {
    const { run, mirror, context } = await makeRemote();
    const items = itemsOf(await run(context({ history: 0 })));
    expect(items.map((item) => [item.author, item.updatedAt])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(git(mirror, "rev-list", "--count", "refs/kb/target").trim()).toBe("1");
  });

  test("gives its contents", async () => {
    const { run, source, context } = await makeRemote();
    await run();
    const read = async (externalId: string) =>
      Buffer.from((await source.fetchContent?.(context(), { externalId }))?.bytes ?? []).toString();
    expect([await read("README.md"), await read("docs/guide.md"), await read("README.md")]).toEqual([
      "hello again",
      "guide",
      "hello again",
    ]);
  });

  test("is spoken to at the address that was judged, whatever the name means", async () => {
    const { run, guard, remote } = await makeRemote();
    // Nothing resolves code.test here: only the pinned address leads anywhere.
    await run();
    expect(guard.asked).toEqual([`code.test:${remote.port}`]);
    expect(remote.connections()).toBeGreaterThan(0);
  });

  test("is not spoken to at all when the guard refuses its address", async () => {
    const { base, remote } = await makeRemote();
    const guard = makeAddressGuard({
      privateHosts: [],
      isOwn: () => false,
      lookup: async () => [{ address: "127.0.0.1", family: 4 }],
    });
    const { source, context, run } = makeReader(base, remote.url("served.git"), { guard });
    expect(await source.check(context())).toMatchObject({ ok: false, problem: { code: "forbidden" } });
    await expect(run()).rejects.toThrow(expect.objectContaining({ code: "address_not_allowed" }));
    expect(remote.connections()).toBe(0);
  });

  test("may be plain http only where the operator has listed it", async () => {
    const { base, remote } = await makeRemote();
    const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
    const guard = makeAddressGuard({ privateHosts: [`127.0.0.1:${remote.port + 1}`], isOwn: () => false, lookup });
    const { source, context } = makeReader(base, remote.url("served.git"), { guard });
    expect(await source.check(context())).toMatchObject({ ok: false, problem: { code: "forbidden" } });
    expect(remote.connections()).toBe(0);
  });
});

describe("credentials over http", () => {
  test("are given to the remote alone: in no argument, variable, URL or file", async () => {
    const spied: string[] = [];
    const { run, remote, base, context, source } = await makeRemote({
      authorization: basic("x-access-token", TOKEN),
      before: () => {
        // While git speaks with us: every process of this machine that we may look at.
        for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
          for (const what of ["cmdline", "environ"]) {
            try {
              if (pid !== String(process.pid)) spied.push(readFileSync(`/proc/${pid}/${what}`, "latin1"));
            } catch {
              // Gone meanwhile, or another user's.
            }
          }
        }
        return false;
      },
    });
    const ctx = context({}, { git: { credentialsFor: async () => ({ token: TOKEN }) } });
    expect(await source.check(ctx)).toEqual({ ok: true });
    expect(digestOf(await run(ctx)).at(-1)).toBe("complete");
    expect(remote.seen.some(({ authorization }) => authorization === basic("x-access-token", TOKEN))).toBe(true);
    expect(spied.some((text) => text.includes("remote.kb.url"))).toBe(true);
    expect(spied.filter((text) => text.includes(TOKEN))).toEqual([]);
    expect(remote.seen.filter(({ path }) => path.includes(TOKEN))).toEqual([]);
    expect(filesBelow(join(base, "data")).filter((file) => readFileSync(file).includes(TOKEN))).toEqual([]);
  });

  test("may be a user name and a password with any characters", async () => {
    const [username, password] = ["ana@corp", "p'ä$ \\\"`!%"];
    const { source, context } = await makeRemote({ authorization: basic(username, password) });
    expect(await source.check(context({}, { git: { credentialsFor: async () => ({ username, password }) } }))).toEqual({
      ok: true,
    });
  });

  test.each([
    ["wrong ones", { token: TOKEN }],
    ["none", {}],
  ])("%s are a typed problem without a secret", async (_what, credentials) => {
    const { source, context, run } = await makeRemote({ authorization: basic("x-access-token", "other") });
    const ctx = context({}, { git: { credentialsFor: async () => credentials as Record<string, string> } });
    const answer = await source.check(ctx);
    expect(answer).toMatchObject({ ok: false, problem: { code: "auth_required", field: "credentials" } });
    expect(JSON.stringify(answer)).not.toContain(TOKEN);
    await expect(run(ctx)).rejects.toThrow(expect.objectContaining({ code: "source_unauthorized" }));
  });

  test("do not come back in what a remote makes of them", async () => {
    const { source, context } = await makeRemote({
      before: (_request, response) => {
        response.writeHead(500, { "Content-Type": "text/plain" }).end(`no ${TOKEN}`);
        return true;
      },
    });
    const answer = await source.check(context({}, { git: { credentialsFor: async () => ({ token: TOKEN }) } }));
    expect(answer).toMatchObject({ ok: false, problem: { code: "unreachable" } });
    expect(JSON.stringify(answer)).not.toContain(TOKEN);
  });
});

describe("a hostile remote", () => {
  test.each([301, 302, 307])("that redirects (%i) leads nowhere", async (status) => {
    const target = await makeRemote();
    const { source, context, run } = await makeRemote({
      before: (request, response) => {
        response.writeHead(status, { location: `http://127.0.0.1:${target.remote.port}${request.url}` }).end();
        return true;
      },
    });
    expect(await source.check(context())).toMatchObject({ ok: false, problem: { code: "not_found" } });
    await expect(run()).rejects.toThrow();
    expect(target.remote.connections()).toBe(0);
  });

  test("that speaks the old protocol of files leads to no other host", async () => {
    const target = await makeRemote();
    const { source, context, run, remote } = await makeRemote({
      before: (request, response) => {
        const files: Record<string, string> = {
          "/served.git/info/refs": `${"a".repeat(40)}\trefs/heads/main\n`,
          "/served.git/HEAD": "ref: refs/heads/main\n",
          "/served.git/objects/info/http-alternates": `http://127.0.0.1:${target.remote.port}/served.git/objects\n`,
          "/served.git/objects/info/alternates": `http://127.0.0.1:${target.remote.port}/served.git/objects\n`,
        };
        const text = files[new URL(request.url ?? "/", "http://x").pathname];
        response.writeHead(text === undefined ? 404 : 200, { "Content-Type": "text/plain" }).end(text);
        return true;
      },
    });
    await source.check(context());
    await expect(run()).rejects.toThrow();
    await expect(run(context({ history: 0 }))).rejects.toThrow();
    expect(remote.connections()).toBeGreaterThan(0);
    expect(target.remote.connections()).toBe(0);
  });

  test("that answers something else, or nothing, is a typed problem", async () => {
    const answers: [number, string, string][] = [
      [200, "<html>hello</html>", "not_found"],
      [404, "", "not_found"],
      [429, "", "rate_limited"],
      [503, "", "unreachable"],
    ];
    for (const [status, body, code] of answers) {
      const { source, context } = await makeRemote({
        before: (_request, response) => {
          response.writeHead(status, { "Content-Type": "text/html" }).end(body);
          return true;
        },
      });
      expect([status, await source.check(context())]).toMatchObject([status, { ok: false, problem: { code } }]);
    }
  });

  test("that hangs is left when the run is aborted", async () => {
    const { run, context, remote } = await makeRemote({ before: () => true });
    const controller = new AbortController();
    const running = run(context({}, { signal: controller.signal }));
    for (; remote.connections() === 0;) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error("cancelled"));
    await expect(running).rejects.toThrow("cancelled");
  });
});

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
