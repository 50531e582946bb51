import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { runsOf } from "#server/sync/run/run-session.ts";
import type { Scope } from "#core/scope.ts";
import { pathOf } from "#sources/file-scope/paths.ts";
import { isApiError } from "#api/errors.ts";
import { identityOf } from "#sources/filesystem/root.ts";
import { type FilesystemKept, idsOf, makeFolder, skipsOf, type FolderEvent } from "./fixture.ts";
import { runParts } from "../stored.ts";

const ALL: Scope = { include: [], exclude: [] };

describe("what is content", () => {
  test("files come in sorted order with title, path, place, folders and times", async () => {
    const folder = makeFolder();
    folder.write("b.md", "hello");
    folder.write("a/deep/note.txt", "note");
    const found = await folder.events();
    expect(idsOf(found)).toEqual(["a/deep/note.txt", "b.md"]);
    const [first] = found;
    const stats = statSync(join(folder.root, "a/deep/note.txt"), { bigint: true });
    expect(first).toEqual({
      t: "upsert",
      item: {
        externalId: "a/deep/note.txt",
        kind: "file",
        title: "note.txt",
        hasFileTitle: true,
        place: "Team docs",
        path: ["a", "deep"],
        identityHint: `${stats.dev}:${stats.ino}`,
        version: `${stats.ino}:4:${stats.mtimeNs}`,
        mimeType: "text/plain",
        size: 4,
        createdAt: Date.parse("2026-03-01T08:00:00.000Z"),
        updatedAt: Date.parse("2026-03-01T08:00:00.000Z"),
        containers: [
          { type: "folder", id: "a", name: "a", isHome: true },
          { type: "folder", id: "a/deep", name: "deep", isHome: true, parentId: "a" },
        ],
        content: { type: "fetch" },
        access: { known: true, all: [["workspace"]] },
      },
    });
    expect(found.at(-1)).toEqual({ t: "end", listing: "complete", permissions: "current" });
    expect(found.at(-2)).toEqual({ t: "progress", done: 2, total: 2 });
  });

  test("empty, too large and textless files are items without text", async () => {
    const folder = makeFolder();
    folder.write("a-empty.txt", "");
    folder.write("b-large.txt", "x".repeat(3_000));
    folder.write("c-type.woff2");
    const found = await folder.events(folder.context({ maxFileMb: 0.002 }));
    expect(found.flatMap((event) => (event.t === "upsert" ? [event.item.content] : []))).toEqual([
      { type: "none", reason: "empty" },
      { type: "none", reason: "too_large" },
      { type: "none", reason: "unsupported_type" },
    ]);
  });

  test("hidden files, secret files and repository internals stay out until asked for, internals always", async () => {
    const folder = makeFolder();
    for (const rel of [".git/config", "sub/.git/HEAD", ".hidden/x.md", "id_rsa", "prod.env", "ok.md"])
      folder.write(rel);
    const shy = await folder.events();
    expect(idsOf(shy)).toEqual(["ok.md"]);
    expect(skipsOf(shy)).toEqual([
      ".hidden: excluded_by_scope",
      "id_rsa: excluded_by_policy",
      "prod.env: excluded_by_policy",
    ]);
    const open = await folder.events(folder.context({ hidden: true, secretFiles: true }));
    expect(idsOf(open)).toEqual([".hidden/x.md", "id_rsa", "ok.md", "prod.env"]);
  });

  test("a folder left out is one event, not one for each file in it", async () => {
    const folder = makeFolder();
    for (let i = 0; i < 20; i++) folder.write(`build/${i}.txt`);
    folder.write("docs/a.md");
    const found = await folder.events(folder.context(), { scope: { include: [], exclude: ["build"] } });
    expect(skipsOf(found)).toEqual(["build: excluded_by_scope"]);
    expect(idsOf(found)).toEqual(["docs/a.md"]);
  });

  test("64 folders deep is read, and a deeper folder is one event", async () => {
    const folder = makeFolder();
    const deep = Array(64).fill("d").join("/");
    folder.write(`${deep}/a.md`);
    folder.write(`${deep}/more/b.md`);
    const found = await folder.events();
    expect(idsOf(found)).toEqual([`${deep}/a.md`]);
    expect(skipsOf(found)).toEqual([`${deep}/more: excluded_by_policy`]);
  });

  test("folders that programs make stay out, told by name or by the file beside or in them, unless asked for", async () => {
    const folder = makeFolder();
    for (const rel of ["web/package.json", "web/dist/a.md", "web/node_modules/x/readme.md", "rust/Cargo.toml"])
      folder.write(rel);
    for (const rel of ["rust/target/b.md", "env/pyvenv.cfg", "env/c.md", "tmp/CACHEDIR.TAG", "tmp/d.md"])
      folder.write(rel);
    // Somebody's own documents, in folders of the same names.
    for (const rel of ["books/target/e.md", "books/dist/f.md", "books/build/g.md", "env2/h.md"]) folder.write(rel);
    const found = await folder.events();
    expect(idsOf(found).filter((id) => id.endsWith(".md"))).toEqual([
      "books/build/g.md",
      "books/dist/f.md",
      "books/target/e.md",
      "env2/h.md",
    ]);
    expect(skipsOf(found)).toEqual(
      ["env", "rust/target", "tmp", "web/dist", "web/node_modules"].map((rel) => `${rel}: generated`),
    );
    expect(found.at(-2)).toMatchObject({ t: "progress", done: 6, total: 6 });
    expect(idsOf(await folder.events(folder.context({ generated: true }))).length).toBe(13);
    folder.write(".kbignore", "!/web/dist/\n!env/\n");
    const taken = idsOf(await folder.events());
    expect(taken.filter((id) => /^(web\/dist|env\/|web\/node|rust\/t)/.test(id))).toEqual([
      "env/c.md",
      "env/pyvenv.cfg",
      "web/dist/a.md",
    ]);
    expect((await folder.source.browse?.(folder.context(), { parent: "web" }))?.nodes.map(({ id }) => id)).toEqual([
      "web/dist",
      "web/package.json",
    ]);
    const one = await folder.events(folder.context(), { mode: "items", externalIds: ["rust/target/b.md"] });
    expect(one).toContainEqual({ t: "delete", externalId: "rust/target/b.md" });
  });

  test("nested ignore files count as in git: inner before outer, negation, and nothing below an ignored folder", async () => {
    const folder = makeFolder();
    folder.write(".gitignore", "*.log\nbuild/\n/top.txt\n");
    folder.write("keep/.gitignore", "!important.log\n!build/\n");
    folder.write(".kbignore", "private/\n");
    for (const rel of ["a.log", "top.txt", "sub/top.txt", "build/x.md", "private/p.md", "z.md"]) folder.write(rel);
    for (const rel of ["keep/important.log", "keep/other.log", "keep/build/y.md", "keep/build/y.log"])
      folder.write(rel);
    expect(idsOf(await folder.events())).toEqual(["keep/build/y.md", "keep/important.log", "sub/top.txt", "z.md"]);

    const git = (...args: string[]) => execFileSync("git", args, { cwd: folder.root, encoding: "utf8" });
    git("init", "-q");
    const byGit = git("ls-files", "--others", "--exclude-standard").trim().split("\n");
    const withoutKbignore = byGit.filter((rel) => !rel.includes(".gitignore") && !/^(private|\.kbignore)/.test(rel));
    expect(idsOf(await folder.events()).sort()).toEqual(withoutKbignore.sort());

    const all = idsOf(await folder.events(folder.context({ gitignore: false })));
    expect(all).toContain("build/x.md");
    expect(all).not.toContain("private/p.md");
  });

  test("an ignore file that is too large or holds a bomb is told, and the walk goes on", async () => {
    const folder = makeFolder();
    folder.write(".gitignore", `${"**/a/".repeat(40)}b\n*.tmp\n`);
    folder.write("big/.gitignore", "x\n".repeat(40_000));
    folder.write(`${"a/".repeat(40)}c.md`);
    folder.write("x.tmp");
    const found = await folder.events();
    expect(idsOf(found)).toEqual([`${"a/".repeat(40)}c.md`]);
    expect(skipsOf(found).filter((skip) => skip.endsWith("failed"))).toEqual([
      ".gitignore: failed",
      "big/.gitignore: failed",
    ]);
    expect(found.at(-1)).toEqual({ t: "end", listing: "complete", permissions: "current" });
  });

  test("the scope includes by pattern or by a browsed path, and enters only where something can be", async () => {
    const folder = makeFolder();
    for (const rel of ["docs/a.md", "docs/b.txt", "docs/[x]/c.md", "other/d.md"]) folder.write(rel);
    const ids = async (include: string[], exclude: string[] = []) =>
      idsOf(await folder.events(folder.context(), { scope: { include, exclude } }));
    expect(await ids(["/docs"])).toEqual(["docs/[x]/c.md", "docs/a.md", "docs/b.txt"]);
    expect(await ids(["docs/[x]"])).toEqual(["docs/[x]/c.md"]);
    expect(await ids(["*.md"], ["docs/a.md"])).toEqual(["docs/[x]/c.md", "other/d.md"]);
    expect(await ids(["docs/*.txt"])).toEqual(["docs/b.txt"]);
    await expect(ids(["**/a/**/b/**/c"])).rejects.toMatchObject({ code: "connector_scope_invalid", field: "include" });
    const inScope = (externalId: string) =>
      folder.source.inScope?.({ include: ["/docs"], exclude: ["*.txt"] }, { externalId, containers: [] });
    expect([inScope("docs/a.md"), inScope("docs/b.txt"), inScope("other/d.md")]).toEqual([true, false, false]);
  });

  test("names keep their bytes in ids and are composed for readers", async () => {
    const folder = makeFolder();
    const decomposed = "Caf\u0065\u0301.md";
    const composed = "Caf\u00e9.md";
    folder.write(decomposed);
    folder.write(composed);
    const found = await folder.events();
    expect(idsOf(found)).toEqual([decomposed, composed]);
    expect(found.flatMap((event) => (event.t === "upsert" ? [event.item.title] : []))).toEqual([composed, composed]);
  });

  describe.skipIf(process.platform !== "linux")("names that are no UTF-8", () => {
    const names = ["a\xe4.txt", "a\xf6.txt", "b\xe4/c\xe4.md", "b\xe4/plain.md", "a%E4.txt", ".\xe4/hidden.md"];
    const makeNamed = () => {
      const folder = makeFolder();
      for (const name of names) folder.writeBytes(name);
      return folder;
    };
    const taken = ["./a%E4.txt", "./a%F6.txt", "./b%E4/./c%E4.md", "./b%E4/plain.md", "a%E4.txt"];

    test("each is an item of its own, with its bytes in the ID, and its text can be read", async () => {
      const folder = makeNamed();
      const found = await folder.events();
      expect(idsOf(found)).toEqual(taken);
      const items = found.flatMap((event) => (event.t === "upsert" ? [event.item] : []));
      expect(items.map(({ title, path }) => [...(path ?? []), title].join("/"))).toEqual([
        "aä.txt",
        "aö.txt",
        "bä/cä.md",
        "bä/plain.md",
        "a%E4.txt",
      ]);
      expect(items[2]?.containers).toMatchObject([{ id: "./b%E4", name: "bä" }]);
      expect(skipsOf(found)).toEqual(["./.%E4: excluded_by_scope"]);
      expect(found.at(-1)).toMatchObject({ listing: "complete" });
      for (const externalId of taken) {
        const content = await folder.source.fetchContent?.(folder.context(), { externalId });
        const read = content && "bytes" in content ? Buffer.from(content.bytes).toString("latin1") : undefined;
        expect(read).toBe(names.find((name) => pathOf(Buffer.from(name, "latin1")) === externalId));
      }
    });

    test("are found again one by one, resumed after, counted, browsed and chosen", async () => {
      const folder = makeNamed();
      const one = await folder.events(folder.context(), {
        mode: "items",
        externalIds: ["./b%E4/./c%E4.md", "./gone%E4"],
      });
      expect(idsOf(one)).toEqual(["./b%E4/./c%E4.md"]);
      expect(one).toContainEqual({ t: "delete", externalId: "./gone%E4" });
      const root = identityOf(statSync(folder.root, { bigint: true }));
      const walk = { runId: "r", checkpoint: { root, after: "./b%E4/./c%E4.md" }, done: 3, failed: [] };
      expect(idsOf(await folder.events(folder.context(), { runId: "r", cursor: { walk } }))).toEqual([
        "./b%E4/./c%E4.md",
        "./b%E4/plain.md",
        "a%E4.txt",
      ]);
      const added = await folder.source.countAdded?.(folder.context(), {
        from: { include: ["b*/"], exclude: [] },
        to: ALL,
      });
      expect(added?.items).toBe(3);
      const top = await folder.source.browse?.(folder.context(), { parent: null });
      expect(top?.nodes.map(({ id, title }) => [id, title])).toEqual([
        ["./a%E4.txt", "aä.txt"],
        ["./a%F6.txt", "aö.txt"],
        ["./b%E4", "bä"],
        ["a%E4.txt", "a%E4.txt"],
      ]);
      const below = await folder.source.browse?.(folder.context(), { parent: "./b%E4" });
      expect(below?.nodes.map(({ id }) => id)).toEqual(["./b%E4/./c%E4.md", "./b%E4/plain.md"]);
    });

    test("scopes and ignore files reach them by pattern, by their bytes and as they were chosen", async () => {
      const folder = makeNamed();
      const ids = async (scope: Partial<Scope>) =>
        idsOf(await folder.events(folder.context(), { scope: { ...ALL, ...scope } }));
      expect(await ids({ exclude: ["./b%E4"] })).toEqual(["./a%E4.txt", "./a%F6.txt", "a%E4.txt"]);
      expect(await ids({ exclude: ["*.txt"] })).toEqual(["./b%E4/./c%E4.md", "./b%E4/plain.md"]);
      expect(await ids({ include: ["./b%E4/./c%E4.md"] })).toEqual(["./b%E4/./c%E4.md"]);
      expect(await ids({ exclude: [".*"] })).toEqual(taken);
      folder.writeBytes(".gitignore", "/b\xe4/\n");
      folder.writeBytes(".kbignore", "a?.txt\n");
      expect(await ids({})).toEqual(["a%E4.txt"]);
    });

    test("no ID leads anywhere else", async () => {
      const folder = makeNamed();
      folder.writeBytes("../outside\xe4.txt");
      symlinkSync(folder.base, join(folder.root, "up"));
      for (const externalId of [
        "up/./outside%E4.txt",
        "./../outside%E4.txt",
        "./..%2Foutside%E4.txt",
        "./a%e4.txt",
        "./%61%E4.txt",
        "./b%E4/../a%E4.txt",
        ".",
      ])
        await expect(folder.source.fetchContent?.(folder.context(), { externalId })).rejects.toMatchObject({
          code: "source_not_found",
        });
    });
  });
});

describe("what is never followed or read", () => {
  test("links, FIFOs, kb's own data and other file systems are left out", async () => {
    const folder = makeFolder();
    const data = join(folder.root, "state");
    const inside = makeFolder({ allowedRoots: async () => [folder.root], dataFolder: data });
    folder.write("state/kb.db");
    folder.write("real/a.md");
    symlinkSync(folder.base, join(folder.root, "up"));
    symlinkSync("real", join(folder.root, "alias"));
    execFileSync("/usr/bin/env", ["mkfifo", join(folder.root, "pipe")]);
    const found: FolderEvent[] = [];
    for await (const event of runsOf(inside.source)?.(folder.context(), FULL) ?? []) found.push(event as FolderEvent);
    expect(idsOf(found)).toEqual(["real/a.md"]);
    expect(skipsOf(found)).toEqual([
      "alias: excluded_by_policy",
      "pipe: unsupported_type",
      "state: excluded_by_policy",
      "up: excluded_by_policy",
    ]);
    await expect(inside.source.fetchContent?.(folder.context(), { externalId: "state/kb.db" })).rejects.toMatchObject({
      code: "source_not_found",
    });
  });

  test("what other users may not read is for private connectors, a hard link to a private key included", async () => {
    const folder = makeFolder();
    const key = folder.write("../secret-key", "key");
    folder.write("open.md");
    folder.write("closed/a.md");
    chmodSync(key, 0o600);
    linkSync(key, join(folder.root, "innocent.txt"));
    chmodSync(join(folder.root, "closed"), 0o750);
    const shared = await folder.events();
    expect(idsOf(shared)).toEqual(["open.md"]);
    expect(skipsOf(shared)).toEqual(["closed: excluded_by_policy", "innocent.txt: excluded_by_policy"]);
    expect(idsOf(await folder.events(folder.context({}, "private")))).toEqual([
      "closed/a.md",
      "innocent.txt",
      "open.md",
    ]);
    expect(idsOf(await folder.events(folder.context({ includeRestricted: true })))).toHaveLength(3);
    await expect(folder.source.fetchContent?.(folder.context(), { externalId: "innocent.txt" })).rejects.toMatchObject({
      code: "source_not_found",
    });
  });

  test("what kb's user may not open is policy, and the listing stays complete", async () => {
    const folder = makeFolder();
    folder.write("locked/a.md");
    folder.write("mine-not.md");
    folder.write("open.md");
    chmodSync(folder.base, 0o755);
    chmodSync(join(folder.root, "locked"), 0o005);
    chmodSync(join(folder.root, "mine-not.md"), 0o004);
    const found = await asOrdinaryUser(() => folder.events());
    chmodSync(join(folder.root, "locked"), 0o755);
    expect(idsOf(found)).toEqual(["open.md"]);
    expect(skipsOf(found)).toEqual(["locked: excluded_by_policy", "mine-not.md: excluded_by_policy"]);
    expect(found.at(-1)).toEqual({ t: "end", listing: "complete", permissions: "current" });
  });
});

describe("one run after another", () => {
  test("an unchanged file is seen, in batches of at most 500, and only the edited one is handed over", async () => {
    const folder = makeFolder();
    for (let i = 0; i < 1_100; i++) folder.write(`d${i % 7}/${i}.txt`);
    const stored = versions(await folder.events());
    const edited = folder.write("d3/3.txt", "longer than before");
    const again = await folder.events(
      { ...folder.context(), ...runParts((id) => stored.get(id)) },
      { mode: "incremental" },
    );
    expect(idsOf(again)).toEqual(["d3/3.txt"]);
    const batches = again.flatMap((event) => (event.t === "seen" ? [event.externalIds.length] : []));
    expect(batches.reduce((sum, size) => sum + size, 0)).toBe(1_099);
    expect(Math.max(...batches)).toBeLessThanOrEqual(500);
    expect(edited).toContain("d3/3.txt");
  });

  test("an edit that leaves size and time alone is found when the file was fresh", async () => {
    const folder = makeFolder();
    const path = folder.write("a.txt", "one");
    const stamp = new Date("2100-01-01T00:00:00.000Z");
    utimesSync(path, stamp, stamp);
    const first = versions(await folder.events());
    expect(first.get("a.txt")).toMatch(/:new$/);
    const settled = new Date("2099-12-31T23:59:50.000Z");
    utimesSync(path, settled, settled);
    expect(idsOf(await folder.events({ ...folder.context(), ...runParts((id) => first.get(id)) }))).toEqual(["a.txt"]);
  });

  test("a renamed file keeps its identity; a file with two links has none", async () => {
    const folder = makeFolder();
    folder.write("old.md", "text");
    const identities = async () =>
      (await folder.events()).flatMap((event) => (event.t === "upsert" ? [event.item.identityHint] : []));
    const [before] = await identities();
    renameSync(join(folder.root, "old.md"), join(folder.root, "new.md"));
    expect(await identities()).toEqual([before]);
    linkSync(join(folder.root, "new.md"), join(folder.root, "twin.md"));
    expect(await identities()).toEqual([undefined, undefined]);
  });

  test("a run resumes at its checkpoint; another run starts at the beginning, so that it may say complete", async () => {
    const folder = makeFolder({ batching: { upserts: 3, seen: 3 } });
    for (const rel of ["a/1.md", "a/2.md", "b.md", "b/3.md", "c.md"]) folder.write(rel);
    const all = await folder.events(folder.context(), { runId: "syn_1" });
    const cursor = all.find((event) => event.t === "checkpoint")?.cursor;
    expect(cursor?.walk).toMatchObject({ runId: "syn_1", checkpoint: { after: "b/3.md" }, done: 3 });
    const resumed = await folder.events(folder.context(), { runId: "syn_1", cursor: cursor ?? null });
    expect(idsOf(resumed)).toEqual(["b/3.md", "b.md", "c.md"]);
    const next = await folder.events(folder.context(), { runId: "syn_2", cursor: cursor ?? null });
    expect(idsOf(next)).toHaveLength(5);
  });

  test("a folder that was put in the place of another one meanwhile is listed from its beginning", async () => {
    const folder = makeFolder({ batching: { upserts: 2, seen: 2 } });
    for (const rel of ["a.md", "b.md", "c.md"]) folder.write(rel);
    const all = await folder.events(folder.context(), { runId: "syn_1" });
    const cursor = all.find((event) => event.t === "checkpoint")?.cursor ?? null;
    renameSync(folder.root, `${folder.root}-former`);
    for (const rel of ["a.md", "d.md"]) folder.write(rel);
    const resumed = await folder.events(folder.context(), { runId: "syn_1", cursor });
    expect(idsOf(resumed)).toEqual(["a.md", "d.md"]);
  });

  test("folders without files are places to go on from, too, and what failed before an interruption still counts", async () => {
    const folder = makeFolder({ batching: { listings: 2 } });
    for (const name of ["a", "b", "c", "d", "e"]) mkdirSync(join(folder.root, name, "below"), { recursive: true });
    const events = await folder.events(folder.context(), { runId: "syn_1" });
    const places = events.flatMap((event) => (event.t === "checkpoint" ? [event] : []));
    expect(places.map(({ cursor, listings }) => `${cursor.walk?.checkpoint.after} ${listings}`)).toEqual([
      "a/below 2",
      "b/below 2",
      "c/below 2",
      "d/below 2",
      "e/below 2",
      "undefined 0",
    ]);
    const [, second] = places;
    if (second === undefined) throw new Error("There is no second place.");
    const resumed = await folder.events(folder.context(), { runId: "syn_1", cursor: second.cursor });
    expect(resumed.flatMap((event) => (event.t === "checkpoint" ? [event.cursor.walk?.checkpoint.after] : []))).toEqual(
      ["c", "d", "e", undefined],
    );
    // A folder that could not be read an hour ago is not deleted because the walk was interrupted since.
    const { walk } = second.cursor;
    const failed = [{ container: { type: "folder", id: "a" } as const }];
    const after = await folder.events(folder.context(), {
      runId: "syn_1",
      cursor: { ...second.cursor, ...(walk && { walk: { ...walk, failed } }) },
    });
    expect(after.at(-1)).toMatchObject({ t: "end", listing: "complete", notLookedAt: failed });
    expect(after.find((event) => event.t === "checkpoint")?.cursor.walk).toMatchObject({ failed });
  });

  test("a file edited or removed during the walk is as it was or as it is, and the next run is right", async () => {
    const folder = makeFolder();
    for (const rel of ["a.md", "m.md", "z.md"]) folder.write(rel);
    const stored = new Map<string, string | undefined>();
    for await (const event of walkAll(folder)) {
      if (event.t !== "upsert") continue;
      stored.set(event.item.externalId, event.item.version);
      if (event.item.externalId === "a.md") folder.write("a.md", "edited after it was handed over");
      if (event.item.externalId === "m.md") rmSync(join(folder.root, "z.md"));
    }
    const next = await folder.events({ ...folder.context(), ...runParts((id) => stored.get(id)) });
    expect(idsOf(next)).toEqual(["a.md"]);
    expect(next.some((event) => event.t === "seen" && event.externalIds.includes("z.md"))).toBe(false);
  });

  test("single items are judged again: there, gone, left out", async () => {
    const folder = makeFolder();
    for (const rel of ["a/x.md", "a/id_rsa", "b/y.md"]) folder.write(rel);
    folder.write("b/.kbignore", "*");
    const externalIds = ["a/x.md", "a/gone.md", "a/id_rsa", "b/y.md", "../secret-key", "a"];
    const found = await folder.events(folder.context(), { mode: "items", externalIds });
    expect(found.map((event) => (event.t === "upsert" ? `upsert ${event.item.externalId}` : label(event)))).toEqual([
      "upsert a/x.md",
      "delete a/gone.md",
      "skip a/id_rsa",
      "delete a/id_rsa",
      "skip b/y.md",
      "delete b/y.md",
      "delete ../secret-key",
      "delete a",
      "end",
    ]);
  });

  test("a root that is gone, exchanged or empty where another was is unavailable, not deleted", async () => {
    const folder = makeFolder();
    folder.write("a.md");
    const cursor = (await folder.events()).find((event) => event.t === "checkpoint")?.cursor ?? null;
    renameSync(folder.root, `${folder.root}-unmounted`);
    await expect(folder.events(folder.context(), { cursor })).rejects.toMatchObject({ code: "source_unavailable" });
    mkdirSync(folder.root);
    await expect(folder.events(folder.context(), { cursor })).rejects.toMatchObject({ code: "source_unavailable" });
    // Nor where a run that was stopped has met it, with a file in it by accident.
    const { dev, ino } = statSync(folder.root, { bigint: true });
    const checkpoint = { root: `${dev}:${ino}`, after: "" };
    const met = { ...cursor, walk: { runId: "syn_9", checkpoint, done: 0, failed: [] } };
    await expect(folder.events(folder.context(), { cursor: met })).rejects.toMatchObject({
      code: "source_unavailable",
    });
    rmSync(folder.root, { recursive: true });
    renameSync(`${folder.root}-unmounted`, folder.root);
    rmSync(join(folder.root, "a.md"));
    expect((await folder.events(folder.context(), { cursor })).at(-1)).toEqual({
      t: "end",
      listing: "complete",
      permissions: "current",
    });
  });

  test.each([
    [
      "a first run that was interrupted",
      (root: string) => ({ walk: { ...WALK, checkpoint: { root, after: "a.md" } } }),
    ],
    ["a run before there were sessions", (root: string) => ({ ...WALK, after: "a.md", root, hasFailed: false })],
  ])("an empty root that is not the one of %s is unavailable", async (_of, cursorOf) => {
    const folder = makeFolder();
    for (const root of ["1:2", identityOf(statSync(folder.root, { bigint: true }))])
      for (const mode of ["full", "incremental", "items"] as const) {
        const cursor = cursorOf(root) as FilesystemKept;
        const ended = folder.events(folder.context(), { mode, cursor, externalIds: ["a.md"] }).then(
          (events) => label(events.at(-1) ?? { t: "end", listing: "partial", permissions: "current" }),
          (error: unknown) => isApiError(error) && error.code,
        );
        expect(await ended).toBe(root === "1:2" ? "source_unavailable" : "end");
      }
  });

  test("a root that goes away during the walk ends the run with an error", async () => {
    const folder = makeFolder({ batching: { upserts: 1, seen: 1 } });
    for (let i = 0; i < 100; i++) folder.write(`d${i}/a.md`);
    const walking = async () => {
      for await (const event of walkAll(folder)) {
        if (event.t === "upsert" && event.item.externalId === "d0/a.md") renameSync(folder.root, `${folder.root}-x`);
      }
    };
    await expect(walking()).rejects.toMatchObject({ code: "source_unavailable" });
  });
});

test("a walk of 5,000 files lists a folder only when it gets there, so memory holds no tree", async () => {
  const folder = makeFolder();
  for (let i = 0; i < 50; i++) {
    const dir = join(folder.root, `d${i + 10}`);
    mkdirSync(dir);
    for (let k = 0; k < 100; k++) writeFileSync(join(dir, `${k}.txt`), "x");
  }
  const found: string[] = [];
  for await (const event of walkAll(folder)) {
    if (event.t !== "upsert") continue;
    // A list made beforehand would not know this file.
    if (found.length === 4_000) folder.write("d59/late.txt");
    found.push(event.item.externalId);
  }
  expect(found).toHaveLength(5_001);
  expect(found.at(-1)).toBe("d59/late.txt");
});

test("an aborted walk stops at once, names no end and leaves nothing open", async () => {
  const folder = makeFolder();
  for (let i = 0; i < 50; i++) folder.write(`d${i}/a.md`);
  const controller = new AbortController();
  const found: string[] = [];
  for await (const event of runsOf(folder.source)?.(folder.context({}, "workspace", controller.signal), FULL) ?? []) {
    found.push(event.t);
    controller.abort();
  }
  expect(found).toEqual(["upsert"]);
  rmSync(folder.root, { recursive: true });
});

/** Root may open everything: then the work is done as `nobody`. The group stays, so it is the group's rights that refuse. */
async function asOrdinaryUser<Result>(work: () => Promise<Result>): Promise<Result> {
  const user = process.geteuid?.();
  if (user !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(user);
  }
}

/** What the books hold of a run that was interrupted. */
const WALK = { runId: "syn_1", done: 1, failed: [] };

/** A first full run without a store behind it. */
const FULL = {
  mode: "full",
  scope: { include: [], exclude: [] },
  cursor: null,
} as const;

function walkAll(folder: ReturnType<typeof makeFolder>): AsyncIterable<SyncEvent> {
  const walked = runsOf(folder.source)?.(folder.context(), FULL);
  if (walked === undefined) throw new Error("the source has no sessions");
  return walked;
}

function versions(events: readonly FolderEvent[]): Map<string, string | undefined> {
  return new Map(
    events.flatMap((event) => (event.t === "upsert" ? [[event.item.externalId, event.item.version] as const] : [])),
  );
}

function label(event: FolderEvent): string {
  return "externalId" in event ? `${event.t} ${event.externalId}` : event.t;
}
