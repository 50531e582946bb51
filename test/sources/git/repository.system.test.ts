import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bytesOf } from "#sources/file-scope/paths.ts";
import { commitRaw, digestOf, git, itemsOf, makeRepository, type GitKept } from "./fixture.ts";

const bytes = (text: string) => Buffer.from(text, "utf8");

describe("what of a repository is an item", () => {
  test("files of any name, each with its folders, date and who changed it last", async () => {
    const { write, commit, run, git } = makeRepository();
    write("docs/guide.md", "guide");
    commit("Guide", "--author", "Bo <bo@old.test>", "--date", "2026-01-02T03:04:05Z");
    write(".mailmap", "Bo Berg <bo@example.test> <bo@old.test>\n");
    commit("Mailmap");
    const items = itemsOf(await run());
    const guide = items.find(({ externalId }) => externalId === "docs/guide.md");
    expect(guide).toMatchObject({
      kind: "file",
      title: "guide.md",
      place: "repo",
      path: ["docs"],
      mimeType: "text/markdown",
      size: 5,
      author: { name: "Bo Berg", email: "bo@example.test", claimed: true },
      containers: [
        { type: "repository", id: "repo", name: "repo" },
        { type: "folder", id: "docs", name: "docs" },
      ],
      content: { type: "fetch" },
      access: { known: true, all: [["workspace"]] },
    });
    expect(guide?.updatedAt).toBe(Number(git("log", "-1", "--format=%ct000", "--", "docs")));
    expect(guide?.author).not.toHaveProperty("principal");
  });

  test("names as hostile as bytes allow harm no one and hide nothing else", async () => {
    const { root, run, source, context } = makeRepository();
    const names = [
      ["100644", bytes("fine.md")],
      ["100644", bytes("new\nline.md")],
      ["100644", bytes(`a\n${"e".repeat(40)} blob 3`)],
      ["100644", bytes("tab\tand\u0007bell.md")],
      ["100644", bytes("-rf")],
      ["100644", bytes("--output=x")],
      ["100644", bytes(":(glob)**")],
      ["100644", bytes("\u202egnp.exe")],
      ["100644", bytes("__proto__")],
      ["100644", bytes("x".repeat(3_000))],
      ["100644", bytes("y".repeat(5_000))],
      ["100644", bytes("..")],
      ["100644", bytes(".")],
      ["100644", bytes(".git")],
      ["100644", bytes(".GIT")],
      ["100644", bytes("a/../../b")],
      ["100644", bytes("/etc/passwd")],
      ["100644", Buffer.from([0x6e, 0xff, 0xfe, 0x2e, 0x6d, 0x64])],
      ["120000", bytes("link")],
      ["160000", bytes("submodule")],
      ["100644", bytes("z".repeat(20_000))],
    ] as const;
    commitRaw(
      root,
      names.map(([mode, name]) => [mode, name, `text of ${name.toString("latin1").slice(0, 9)}`] as const),
    );
    const events = await run();
    const taken = itemsOf(events).map(({ externalId }) => externalId);
    expect(taken.toSorted()).toEqual(
      names
        .slice(0, 10)
        .map(([, name]) => name.toString("utf8"))
        .concat("./n%FF%FE.md")
        .toSorted(),
    );
    expect(
      digestOf(events)
        .filter((line) => line.startsWith("!"))
        .toSorted(),
    ).toEqual(
      [
        "!.: excluded_by_policy",
        "!..: excluded_by_policy",
        "!.GIT: excluded_by_policy",
        "!.git: excluded_by_policy",
        "!/etc/passwd: excluded_by_policy",
        "!a/../../b: excluded_by_policy",
        "!link: excluded_by_policy",
        "!submodule: excluded_by_policy",
        `!${"y".repeat(4_000)}: excluded_by_policy`,
        `!/${"z".repeat(3_999)}: excluded_by_policy`,
      ].toSorted(),
    );
    expect(itemsOf(events).every(({ title }) => title.trim() !== "")).toBe(true);
    const second = makeTextReader(source, context);
    for (const externalId of taken)
      expect(await second(externalId)).toBe(`text of ${bytesOf(externalId).toString("latin1").slice(0, 9)}`);
    for (const externalId of [
      ".git",
      "..",
      "link",
      "submodule",
      "/etc/passwd",
      "a/../../b",
      "no",
      "/commit/x",
      "x\0y",
    ]) {
      await expect(second(externalId)).rejects.toThrow(expect.objectContaining({ code: "source_not_found" }));
    }
  });

  test("what has no text says why, and is found by its name", async () => {
    const { write, commit, run, context } = makeRepository();
    write(".gitattributes", "*.dat binary\n*.pdf binary\n*.psd filter=lfs diff=lfs merge=lfs -text\n");
    write("b.pdf", "%PDF-1.4");
    write("a.dat", "looks like text");
    write("b.psd", `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 1234567\n`);
    write("c.bin", `version https://git-lfs.github.com/spec/v1\noid sha256:${"b".repeat(64)}\nsize 7\n`);
    write("empty.txt", "");
    write("large.txt", "x".repeat(3_000));
    write("large.woff2", "x");
    write("plain.txt", "text");
    commit();
    const items = itemsOf(await run(context({ maxFileMb: 0.002 })));
    expect(
      items.map(({ externalId, content, size, fields }) => [externalId, content, size, fields?.["storedIn"]]),
    ).toEqual([
      [".gitattributes", { type: "fetch", ref: expect.stringMatching(/^[0-9a-f]{40}$/) }, 68, undefined],
      ["a.dat", { type: "none", reason: "unsupported_type" }, 15, undefined],
      ["b.pdf", { type: "fetch", ref: expect.stringMatching(/^[0-9a-f]{40}$/) }, 8, undefined],
      ["b.psd", { type: "none", reason: "unsupported_type" }, 1_234_567, "Git LFS"],
      ["c.bin", { type: "none", reason: "unsupported_type" }, 7, "Git LFS"],
      ["empty.txt", { type: "none", reason: "empty" }, 0, undefined],
      ["large.txt", { type: "none", reason: "too_large" }, 3_000, undefined],
      ["large.woff2", { type: "none", reason: "unsupported_type" }, 1, undefined],
      ["plain.txt", { type: "fetch", ref: expect.stringMatching(/^[0-9a-f]{40}$/) }, 4, undefined],
    ]);
  });

  test("secrets by name and what the scope leaves out are no items", async () => {
    const { write, commit, run, context, source } = makeRepository();
    for (const path of ["src/a.ts", "src/b.md", "vendor/x/y.md", "vendor/z.md", ".env", "keys/id_rsa", "c.md"])
      write(path);
    commit();
    const scope = { include: ["*.md", "*.ts", ".env", "id_rsa"], exclude: ["vendor"] };
    expect(digestOf(await run(context(), { scope }))).toEqual([
      "!.env: excluded_by_policy",
      "!keys/id_rsa: excluded_by_policy",
      "!vendor: excluded_by_scope",
      "+c.md",
      "+src/a.ts",
      "+src/b.md",
      "complete",
    ]);
    await expect(makeTextReader(source, context)(".env")).rejects.toThrow();
    expect(
      ["vendor/z.md", "c.md", "/commit/1"].map((externalId) => source.inScope?.(scope, { externalId, containers: [] })),
    ).toEqual([false, true, true]);
    const again = { mode: "full", cursor: null, scope } as const;
    const all = itemsOf(await run(context({ secretFiles: true }), again, () => false, true));
    expect(all.map(({ externalId }) => externalId)).toEqual([".env", "c.md", "keys/id_rsa", "src/a.ts", "src/b.md"]);
  });

  test("messages of commits, when they are wanted, come and go with their commits", async () => {
    const { write, commit, run, context, git } = makeRepository();
    write("a.md");
    const first = commit("First\n\nWith a body.");
    const second = commit("");
    const ctx = context({ commits: true });
    const items = itemsOf(await run(ctx));
    expect(items.slice(1).map(({ externalId, title, kind, content }) => [externalId, title, kind, content])).toEqual([
      [`/commit/${second}`, `Commit ${second.slice(0, 12)}`, "message", { type: "none", reason: "empty" }],
      [`/commit/${first}`, "First", "message", { type: "inline", text: "First\n\nWith a body.\n" }],
    ]);
    const third = commit("Third");
    expect(digestOf(await run(ctx))).toEqual([`+/commit/${third}`, "end"]);
    git("reset", "--quiet", "--hard", first);
    const other = commit("Other");
    expect(digestOf(await run(ctx))).toEqual([`+/commit/${other}`, `-/commit/${third}`, `-/commit/${second}`, "end"]);
  });

  test("is that of the branch or tag that was chosen", async () => {
    const { write, commit, run, context, git, source } = makeRepository();
    write("a.md");
    commit();
    git("tag", "-a", "v1", "-m", "One");
    git("checkout", "--quiet", "-b", "feature/x");
    write("b.md");
    commit();
    git("checkout", "--quiet", "main");
    const idsAt = async (ref: string) =>
      itemsOf(await run(context({ ref }), { cursor: null, mode: "full" }, () => false, true)).map((i) => i.externalId);
    expect([await idsAt("feature/x"), await idsAt("v1"), await idsAt("main")]).toEqual([
      ["a.md", "b.md"],
      ["a.md"],
      ["a.md"],
    ]);
    expect(await source.check(context({ ref: "gone" }))).toMatchObject({
      ok: false,
      problem: { code: "not_found", field: "ref" },
    });
  });
});

describe("what changed", () => {
  test("is told by what differs between two commits, in the order that lets renames keep their place", async () => {
    const { write, commit, run, git } = makeRepository();
    for (const path of ["a.md", "b.md", "c.md", "d.md", "e.md"]) write(path, `${path} line\n`.repeat(100));
    commit();
    expect(digestOf(await run()).at(-1)).toBe("complete");
    git("rm", "--quiet", "b.md");
    write("moved/b2.md", `${"b.md line\n".repeat(100)}and a little more`);
    git("mv", "a.md", "b.md");
    git("rm", "--quiet", "c.md");
    write("d.md", "another text");
    write("f.md", "new");
    commit();
    expect(digestOf(await run())).toEqual(["b.md>moved/b2.md", "a.md>b.md", "+d.md", "+f.md", "-a.md", "-c.md", "end"]);
    expect(digestOf(await run())).toEqual(["end"]);
  });

  test("of `.gitattributes` judges files again that did not change themselves", async () => {
    const { write, commit, run } = makeRepository();
    write("a.dat", "text");
    write("b.md");
    commit();
    await run();
    write(".gitattributes", "*.dat binary\n");
    commit();
    const events = await run();
    expect(digestOf(events)).toEqual(["+.gitattributes", "+a.dat", "=b.md", "complete"]);
    expect(itemsOf(events)[1]?.content).toEqual({ type: "none", reason: "unsupported_type" });
  });

  test("by a forced push to another history leaves exactly the files of the new one", async () => {
    const { write, commit, run, git, versions } = makeRepository();
    for (const path of ["a.md", "b.md", "c.md"]) write(path);
    commit();
    write("d.md");
    commit();
    await run();
    git("checkout", "--quiet", "--orphan", "fresh");
    git("rm", "--quiet", "-rf", ".");
    write("a.md");
    write("z.md", "z");
    commit("Fresh");
    git("branch", "--quiet", "-M", "main");
    expect(digestOf(await run()).at(-1)).toBe("end");
    expect([...versions.keys()].sort()).toEqual(["a.md", "z.md"]);
    git("reset", "--quiet", "--hard", "HEAD");
    expect(digestOf(await run())).toEqual(["end"]);
  });

  test("back to an older commit gives the files their older dates", async () => {
    const { write, commit, run, git } = makeRepository();
    write("a.md", "one");
    const first = commit();
    const committedAt = Number(git("log", "-1", "--format=%ct"));
    write("a.md", "two");
    commit();
    await run();
    git("reset", "--quiet", "--hard", first);
    const [item] = itemsOf(await run());
    expect(item?.updatedAt).toBe(committedAt * 1_000);
  });

  test("of a file into a link takes the item away", async () => {
    const { root, run } = makeRepository();
    commitRaw(root, [
      ["100644", bytes("a"), "text"],
      ["100644", bytes("b"), "text b"],
    ]);
    await run();
    commitRaw(root, [
      ["120000", bytes("a"), "/etc/passwd"],
      ["100644", bytes("b"), "text b"],
    ]);
    expect(digestOf(await run())).toEqual(["!a: excluded_by_policy", "-a", "end"]);
  });

  test("in an interrupted run is not forgotten when the branch is set elsewhere meanwhile", async () => {
    const { write, commit, run, git, versions } = makeRepository();
    write("a.md");
    const first = commit();
    await run();
    write("only-here.md");
    commit();
    await run(undefined, {}, (event) => event.t === "upsert" && event.item.externalId === "only-here.md");
    expect(versions.has("only-here.md")).toBe(true);
    git("reset", "--quiet", "--hard", first);
    write("b.md");
    commit();
    await run();
    expect([...versions.keys()].sort()).toEqual(["a.md", "b.md"]);
  });
});

describe("where a run before stopped", () => {
  test("is ended first, also when the run that does so stops in its turn", async () => {
    const { write, commit, run, git, versions } = makeRepository();
    write("a.md");
    const first = commit();
    await run();
    for (const path of ["one.md", "two.md"]) {
      git("reset", "--quiet", "--hard", first);
      write(path);
      commit();
      await run(undefined, {}, (event) => event.t === "upsert" && event.item.externalId === path);
    }
    git("reset", "--quiet", "--hard", first);
    await run();
    expect([...versions.keys()]).toEqual(["a.md"]);
  });

  test("in a listing leads to another one, though there was a whole one before", async () => {
    const { write, commit, run } = makeRepository();
    write("a.md");
    commit();
    await run();
    write("b.md");
    commit();
    await run(undefined, { mode: "full" }, (event) => event.t === "upsert");
    expect(digestOf(await run())).toEqual(["=a.md", "=b.md", "complete"]);
    expect(digestOf(await run())).toEqual(["end"]);
  });

  test("before there were sessions counts", async () => {
    const { write, commit, run } = makeRepository();
    write("a.md");
    commit();
    const last = (await run()).findLast((event) => event.t === "checkpoint")?.cursor.feed;
    write("b.md");
    commit();
    const cursor = { ...last, walk: null } as unknown as GitKept;
    expect(digestOf(await run(undefined, { cursor }))).toEqual(["+b.md", "end"]);
  });
});

describe("a repository that is not as it was", () => {
  test("without the branch is an error, never a deletion", async () => {
    const { write, commit, run, git, context } = makeRepository();
    write("a.md");
    commit();
    git("branch", "work");
    const ctx = context({ ref: "work" });
    await run(ctx);
    git("branch", "--quiet", "-D", "work");
    await expect(run(ctx)).rejects.toThrow(expect.objectContaining({ code: "source_not_found", field: "ref" }));
  });

  test("empty from the beginning has no items; emptied later it is an error", async () => {
    const { write, commit, run, root, source, context } = makeRepository();
    expect(await source.check(context())).toEqual({ ok: true, warnings: ["The repository is empty."] });
    expect(digestOf(await run())).toEqual(["complete"]);
    write("a.md");
    commit();
    expect(digestOf(await run())).toEqual(["+a.md", "complete"]);
    git(root, "update-ref", "-d", "refs/heads/main");
    await expect(run()).rejects.toThrow(expect.objectContaining({ code: "source_unavailable" }));
  });

  test("packed, repacked and with packed refs reads the same", async () => {
    const { write, commit, run, git, root } = makeRepository();
    write("a.md");
    commit();
    await run();
    git("gc", "--quiet");
    expect(digestOf(await run())).toEqual(["end"]);
    write("b.md");
    commit();
    git("gc", "--quiet");
    expect(digestOf(await run())).toEqual(["+b.md", "end"]);
    writeFileSync(join(root, ".git/HEAD"), git("rev-parse", "HEAD"));
    expect(digestOf(await run())).toEqual(["end"]);
  });

  test("whose mirror is lost is read again, and nothing is removed by mistake", async () => {
    const { write, commit, run, source, versions } = makeRepository();
    for (const path of ["a.md", "b.md"]) write(path);
    commit();
    await run();
    await source.forget?.("con_aaaaaaaaaaaaaaaa");
    expect(digestOf(await run())).toEqual(["end"]);
    expect(digestOf(await run(undefined, { mode: "full", cursor: null }))).toEqual(["=a.md", "=b.md", "complete"]);
    expect([...versions.keys()]).toEqual(["a.md", "b.md"]);
  });

  test("items asked for one by one are read as they are now", async () => {
    const { write, commit, run } = makeRepository();
    for (const path of ["a.md", "b.md", ".env"]) write(path);
    commit();
    await run();
    write("a.md", "other");
    commit();
    const events = await run(undefined, { mode: "items", externalIds: ["a.md", "gone.md", ".env"] });
    expect(digestOf(events)).toEqual(["!.env: excluded_by_policy", "-.env", "+a.md", "-gone.md", "end"]);
  });
});

type Reader = ReturnType<typeof makeRepository>;

function makeTextReader(source: Reader["source"], context: Reader["context"]) {
  return async (externalId: string) =>
    Buffer.from((await source.fetchContent?.(context(), { externalId }))?.bytes ?? []).toString("latin1");
}
