import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, onTestFinished, test } from "vitest";
import { makeSpool, piecesOf, takeWhole } from "#core/spool.ts";
import { makeOwnSpool } from "../spool.ts";
import { makeZip } from "./zip-files.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import type { ExtractLimits } from "#extract/limits.ts";
import { makeExtractor, type ExtractorOptions } from "#extract/pool.ts";
import { permissionFlags } from "#extract/spawn-child.ts";
import type { Extracted, Extractor, NotExtracted } from "#extract/extractor.ts";
import { buildChildren } from "./build-child.ts";
import { findMisdelivered } from "./fuzz.ts";
import { bytesOf, extractFile, makePdf, requestOf } from "./documents.ts";
import { verifies } from "../requirements.ts";
import { tempDir } from "../temp-dir.ts";

let folder = "";
let open: Extractor[] = [];
const warnings: string[] = [];

beforeAll(async () => {
  folder = await buildChildren(`pool-${process.pid}`, {
    extractor: "src/extract/child.ts",
    hostile: "test/extract/hostile-child.ts",
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

afterEach(async () => {
  await Promise.all(open.map((extractor) => extractor.close()));
  open = [];
  warnings.length = 0;
});

function makePool(
  child: "extractor" | "hostile",
  limits: Partial<ExtractLimits> = {},
  more: Partial<ExtractorOptions> = {},
): Extractor {
  const warn = (_: unknown, message: string) => void warnings.push(message);
  const log = { debug: () => undefined, info: () => undefined, warn, error: warn };
  const extractor = makeExtractor({
    childPath: join(folder, `${child}.js`),
    now: () => performance.now(),
    analyze: analyzeDocument,
    log,
    limits,
    ...more,
  });
  open.push(extractor);
  return extractor;
}

/** What the child did with a command. */
async function act(pool: Extractor, command: string, workspace = "wsp_one"): Promise<string> {
  const result = await pool.extract(requestOf("a.txt", command, { workspace }));
  return result.state === "ok" ? result.text : `${result.reason}: ${result.message}`;
}

describe("the extractor", () => {
  test("gives what extraction in one process gives, for every kind of file", async ({ expect }) => {
    const pool = makePool("extractor");
    const files: [string, string | Uint8Array][] = [
      ["a.md", "---\nauthor: Ana\n---\n# Überschrift 😀\n\ntext\n"],
      ["a.html", "<html lang=de><title>T</title><main><h1>Kopf</h1><p>Wörter</main>"],
      ["a.csv", "a,b\n1,2\n"],
      ["a.json", '{"a":[1,2]}'],
      ["a.pdf", makePdf(["Page one"])],
      ["a.bin", Uint8Array.of(1, 2, 3, 0, 255)],
      ["empty.txt", ""],
      ["latin.txt", bytesOf("Größe: groß und größer, überall schön", "latin1")],
      ["big.txt", "many words ".repeat(300_000)],
    ];
    const results = await Promise.all(files.map(([name, content]) => pool.extract(requestOf(name, content))));
    const expected: (Extracted | NotExtracted)[] = [];
    for (const [name, content] of files) expected.push(await extractFile(name, content));
    expect(results).toEqual(expected);
    expect(warnings).toEqual([]);
  });

  test("spooled bytes go through the pipe, and give what the same bytes in memory give", async ({ expect }) => {
    const { spool, folder: own } = makeOwnSpool(onTestFinished);
    const pool = makePool("extractor", {}, { spool });
    const content = Buffer.from("many words of a long text\n".repeat(200_000));
    const bytes = await spool.keep(piecesOf(content), content.length);
    if (bytes === undefined || bytes instanceof Uint8Array) throw new Error("They are not spooled.");
    const request = { ...requestOf("big.txt", ""), bytes };
    expect(await pool.extract(request)).toEqual(await pool.extract(requestOf("big.txt", content)));
    expect(readdirSync(own)).toEqual([]);
    bytes.close();
    expect(await pool.extract(request).catch(String)).toContain("closed");
  });

  test("files inside a file come back spooled where they are many bytes, in memory where they are few", async ({
    expect,
  }) => {
    const { spool, folder: own } = makeOwnSpool(onTestFinished);
    const pool = makePool("extractor", {}, { spool });
    const members = { "a.txt": "a".repeat(3_000_000), "b.txt": "few", "c.txt": "c".repeat(2_000_000) };
    const large = await pool.extract({ ...requestOf("a.zip", makeZip(members)), readsArchives: true });
    const small = await pool.extract({ ...requestOf("b.zip", makeZip({ "b.txt": "few" })), readsArchives: true });
    const childrenOf = (result: typeof large) => (result.state === "ok" ? (result.children ?? []) : []);
    expect(childrenOf(small).map(({ bytes }) => bytes)).toEqual([Uint8Array.from(Buffer.from("few"))]);
    expect(readdirSync(own)).toEqual([]);
    for (const [at, { bytes }] of childrenOf(large).entries()) {
      expect(bytes).not.toBeInstanceOf(Uint8Array);
      expect(Buffer.from(await takeWhole(bytes)).toString()).toBe(Object.values(members)[at]);
    }
    expect(childrenOf(large)).toHaveLength(3);
  });

  test("files inside a file that the disk does not take are read again later", async ({ expect }) => {
    const full = makeSpool("/nowhere", () => openFile("/dev/full", "w"));
    const pool = makePool("extractor", {}, { spool: full });
    const zip = makeZip({ "a.txt": "a".repeat(3_000_000) });
    const result = await pool.extract({ ...requestOf("a.zip", zip), readsArchives: true });
    expect(result).toMatchObject({ state: "no_text", reason: "failed", retryable: true });
    expect(result).toMatchObject({ message: expect.stringContaining("disk of kb's data folder is full") });
    expect(await pool.extract(requestOf("a.txt", "words"))).toMatchObject({ state: "ok", text: "words" });
  });

  test("hundreds of files come back each to its own request, through recycled children (short form)", async ({
    expect,
  }) => {
    const pool = makePool("extractor", { recycleAfterTextFiles: 60 });
    expect(await findMisdelivered(pool, 200)).toEqual([]);
    for (const { files } of pool.stats()) expect(files).toBeLessThanOrEqual(60);
  });

  test("children are replaced sooner over documents than over plain text", async ({ expect }) => {
    const pool = makePool("extractor", { recycleAfterFiles: 3, recycleAfterTextFiles: 1_000 }, { size: 1 });
    for (let index = 0; index < 5; index++) await pool.extract(requestOf("a.txt", "words"));
    expect(pool.stats().map((child) => child.files)).toEqual([5]);
    const pid = pool.stats()[0]?.pid;
    for (let index = 0; index < 3; index++) await pool.extract(requestOf("a.html", "<p>words</p>"));
    await pool.extract(requestOf("a.txt", "words"));
    expect(pool.stats().some((child) => child.pid !== pid && child.files === 1)).toBe(true);
  });

  test("a file above the cap never reaches a child", async ({ expect }) => {
    const pool = makePool("extractor", { maxBytes: 10 });
    expect(await pool.extract(requestOf("a.txt", "eleven bytes"))).toMatchObject({
      reason: "too_large",
      retryable: false,
    });
    expect(pool.stats()).toEqual([]);
  });

  test("without work its children end", async ({ expect }) => {
    const pool = makePool("extractor", { idleMs: 50 });
    await pool.extract(requestOf("a.txt", "words"));
    await expect.poll(() => pool.stats()).toEqual([]);
    expect(await pool.extract(requestOf("a.txt", "again"))).toMatchObject({ state: "ok", text: "again" });
  });

  test("a child that a file left large ends soon, and the next file has another", async ({ expect }) => {
    const pool = makePool("extractor", { idleMs: 600_000, largeRssBytes: 1 });
    await pool.extract(requestOf("a.txt", "words"));
    await expect.poll(() => pool.stats(), { timeout: 20_000 }).toEqual([]);
    expect(await pool.extract(requestOf("a.txt", "again"))).toMatchObject({ state: "ok", text: "again" });
  });

  test("closed, it refuses, and what was on its way is refused too", async ({ expect }) => {
    const pool = makePool("hostile");
    const waiting = [act(pool, "hang"), act(pool, "hang"), act(pool, "more")].map((work) =>
      work.catch((error: unknown) => String(error)),
    );
    await pool.close();
    expect(await Promise.all(waiting)).toEqual(Array(3).fill("ApiError: The extractor is closed."));
    await expect(act(pool, "words")).rejects.toThrow("closed");
  });
});

describe("a hostile file", () => {
  test.for([
    ["spin", "failed: Reading the file took more than 1 seconds of CPU time."],
    ["hang", "failed: Reading the file took longer than 10 seconds."],
    ["heap", "failed: Reading the file took more memory than allowed."],
    ["buffers", "failed: Reading the file took more memory than allowed."],
    ["exit", "failed: Reading the file ended the extraction process (exit code 0)."],
    ["kill", "failed: Reading the file ended the extraction process (SIGKILL)."],
  ] as const)(
    "that makes a parser %s ends its child only; files beside and behind it are read",
    async ([command, answer], { expect }) => {
      const limits = { timeoutMs: 1_000, maxRssBytes: 400 * 1_048_576, heapMegabytes: 24 };
      const pool = makePool(
        "hostile",
        command === "heap" || command === "buffers" ? { ...limits, timeoutMs: 20_000 } : limits,
        { size: 1 },
      );
      const commands = ["one", "two", command, "three", "four", "five"];
      const answers = await Promise.all(commands.map((words) => act(pool, words)));
      expect(answers).toEqual(["read one", "read two", answer, "read three", "read four", "read five"]);
    },
  );

  test("a file that waits has ten times as long as one that works", async ({ expect }) => {
    const pool = makePool("hostile", { timeoutMs: 400 }, { size: 1 });
    expect(await act(pool, "sleep 1500")).toBe("slept");
  });

  test("a file answers only for the time that it took itself", async ({ expect }) => {
    const pool = makePool("hostile", { timeoutMs: 1_000 }, { size: 1 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => act(pool, "work 400")));
    expect(answers).toEqual(Array(6).fill("worked"));
    expect(pool.stats().map(({ files }) => files)).toEqual([6]);
  });

  test("a file that dies of what others left behind is read by a fresh child", async ({ expect }) => {
    const pool = makePool("hostile", {}, { size: 1 });
    await act(pool, "remember");
    expect(await act(pool, "once")).toBe("read at the second try");
  });

  test("only a file that took too long is worth another try", async ({ expect }) => {
    const pool = makePool("hostile", { timeoutMs: 300 });
    expect(await pool.extract(requestOf("a.txt", "hang"))).toMatchObject({ reason: "failed", retryable: true });
    expect(await pool.extract(requestOf("a.txt", "exit"))).toMatchObject({ reason: "failed", retryable: false });
  });

  verifies(
    "extract:jailed",
    "finds no environment, no files, no programs, no network and no code from text",
    async ({ expect }) => {
      const server = createServer((socket) => socket.destroy());
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const target = join(tmpdir(), `kb-extract-${process.pid}`);
      try {
        const pool = makePool("hostile");
        expect(await act(pool, "environment")).toBe("{}");
        expect(await act(pool, "read /etc/hostname")).toContain("ERR_ACCESS_DENIED");
        expect(await act(pool, `read ${join(process.cwd(), "src", "server", "ports", "extractor.ts")}`)).toContain(
          "ERR_ACCESS_DENIED",
        );
        expect(await act(pool, `write ${target}`)).toContain("ERR_ACCESS_DENIED");
        expect(await act(pool, `write ${join(folder, "x.js")}`)).toContain("ERR_ACCESS_DENIED");
        expect(await act(pool, "run /bin/true")).toContain("ERR_ACCESS_DENIED");
        expect(await act(pool, `import ${join(process.cwd(), "vitest.config.ts")}`)).toMatch(
          /ERR_ACCESS_DENIED|ERR_UNKNOWN_FILE_EXTENSION/u,
        );
        expect(await act(pool, `connect ${port}`)).toContain("no network");
        expect(await act(pool, `fetch http://127.0.0.1:${port}/`)).toContain("fetch is not defined");
        expect(await act(pool, "code")).toContain("EvalError");
        expect(existsSync(target)).toBe(false);
        expect(warnings).toEqual([]);
      } finally {
        server.close();
      }
    },
  );

  test("has two pipes and nothing else open, and its noise is no answer", async ({ expect }) => {
    const pool = makePool("hostile");
    expect(await act(pool, "noise")).toBe("quiet");
    const [child] = pool.stats();
    if (process.platform !== "linux") return;
    // Node's own event loop needs a few: epoll, eventfd, its wake-up pipe.
    const { readlinkSync } = await import("node:fs");
    const opened = readdirSync(`/proc/${child?.pid}/fd`).map((fd) => readlinkSync(`/proc/${child?.pid}/fd/${fd}`));
    expect(opened.filter((link) => !/^(?:socket|pipe|anon_inode):|^\/dev\/null$|io_uring/u.test(link))).toEqual([]);
    expect(opened.filter((link) => link.startsWith("socket:")).length).toBe(2);
  });
});

describe("workspaces", () => {
  verifies("extract:workspaces-apart", "never share a child, and none is kept waiting for ever", async ({ expect }) => {
    const pool = makePool("hostile", {}, { size: 1 });
    const pids = new Map<string, Set<string>>();
    const run = async (workspace: string) => {
      const pid = await act(pool, "pid", workspace);
      pids.set(workspace, (pids.get(workspace) ?? new Set()).add(pid));
    };
    await Promise.all(["one", "two", "one", "three", "two", "one"].map((name) => run(`wsp_${name}`)));
    const all = [...pids.values()].flatMap((set) => [...set]);
    expect(pids.size).toBe(3);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe("abort", () => {
  test("ends the waiting at once, for files in line and files at work", async ({ expect }) => {
    const pool = makePool("hostile", {}, { size: 1 });
    const controller = new AbortController();
    const large = Buffer.concat([bytesOf("hang "), Buffer.alloc(100_000, 0x20)]);
    const atWork = pool.extract(requestOf("a.txt", large), controller.signal);
    const inLine = pool.extract(requestOf("a.txt", "words"), controller.signal);
    const other = act(pool, "other");
    controller.abort(new Error("enough"));
    await expect(atWork).rejects.toMatchObject({ name: "AbortError", cause: new Error("enough") });
    await expect(inLine).rejects.toMatchObject({ name: "AbortError" });
    // The child that hung is gone, so the next file is read long before the time cap.
    expect(await other).toBe("read other");
    await expect(pool.extract(requestOf("a.txt", "x"), controller.signal)).rejects.toMatchObject({
      name: "AbortError",
    });
  });
});

describe("starting", () => {
  test("names the permission model as the version of Node names it", ({ expect }) => {
    const first = (version: string) => permissionFlags(version, join(folder, "extractor.js"))[0];
    expect(["v18.20.0", "v20.20.2", "v22.12.0", "v22.13.0", "v23.4.0", "v24.1.0"].map(first)).toEqual([
      undefined,
      "--experimental-permission",
      "--experimental-permission",
      "--permission",
      "--experimental-permission",
      "--permission",
    ]);
    expect(permissionFlags("v24.1.0", join(folder, "extractor.js"))[1]).toBe(`--allow-fs-read=${folder}/`);
  });

  test("no child runs without the permission model, however often starts fail, and it goes on when they don't", async ({
    expect,
  }) => {
    // A Node that starts only once `ready` is there: a machine that is too busy for a while.
    const [node, ready, seen] = ["node.sh", "ready", "seen"].map((name) => join(tempDir(), name));
    writeFileSync(
      node ?? "",
      `#!/bin/sh\necho "$@" >> ${seen}\n[ -e ${ready} ] || exit 9\nexec ${process.execPath} "$@"\n`,
      { mode: 0o755 },
    );
    const pool = makePool("hostile", {}, { node: { path: node ?? "", version: process.version } });
    for (let n = 0; n < 3; n++) {
      expect(await pool.extract(requestOf("a.txt", "words"))).toMatchObject({
        reason: "failed",
        retryable: true,
        message: expect.stringContaining("could not start"),
      });
    }
    expect(warnings).toContain("extraction processes do not start; files are tried again later");
    writeFileSync(ready ?? "", "");
    expect(await act(pool, "words")).toBe("read words");
    const starts = readFileSync(seen ?? "", "utf8")
      .trim()
      .split("\n");
    expect(starts.length).toBeGreaterThan(5);
    expect(starts.filter((line) => !/^--(?:experimental-)?permission /.test(line))).toEqual([]);
  });

  test("a child that can't start fails files, and says so", async ({ expect }) => {
    const pool = makePool("hostile", {}, { childPath: join(folder, "missing.js") });
    expect(await pool.extract(requestOf("a.txt", "words"))).toMatchObject({ reason: "failed", retryable: true });
    expect(warnings).toContain("extraction processes do not start; files are tried again later");
  });
});
