import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { makeFaultLog } from "#core/faults.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { extractInProcess } from "#extract/extract.ts";
import type { Format } from "#extract/format.ts";
import { FrameReader } from "#extract/frames.ts";
import { DEFAULT_EXTRACT_LIMITS } from "#extract/limits.ts";
import { decodeResult, encodeResult } from "#extract/wire.ts";
import type { Extractor } from "#extract/extractor.ts";
import { inMemory } from "../../spool.ts";
import { end, item, makeHarness, type Script, WORKSPACE } from "./harness.ts";

const WORDS = "the salary of Ana";

/** A reader with a mistake: what it trips over is quoted in the error. */
const broken: Format = {
  extract({ decode }) {
    const { text } = decode();
    if (text.includes("trip")) throw new TypeError(`${WORDS}: ${text} is not a function`);
    if (text.includes("quote")) JSON.parse(`{${WORDS}`);
    return { state: "ok", text, sections: [], properties: {} };
  },
};

/** As in a child: the answer goes through its pipe. */
const extractor: Pick<Extractor, "extract"> = {
  async extract(request) {
    const formats = { "text/plain": { version: 1, load: async () => broken } };
    const tools = { analyze: analyzeDocument, now: () => 0, cpuMs: () => 0, formats };
    const result = await extractInProcess(
      { ...request, bytes: inMemory(request.bytes) },
      DEFAULT_EXTRACT_LIMITS,
      tools,
    );
    const [frame] = new FrameReader().push(Buffer.concat(encodeResult(result)));
    return decodeResult(frame ?? { head: null, bodies: [] });
  },
};

async function makeWorld(files: Record<string, string>, script?: Script) {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const to = (level: string) => (fields: Record<string, unknown>, message: string) =>
    void lines.push({ level, fields, message });
  const log = { debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") };
  const clock = { now: 0 };
  const faults = makeFaultLog(log, () => clock.now);
  const listing: Script = function* () {
    for (const id of Object.keys(files)) yield { t: "upsert", item: item(id, "", { content: { type: "fetch" } }) };
    yield end();
  };
  const kb = await makeHarness(script ?? listing, { extractor, faults, log });
  kb.source.fetchContent = async (_ctx, { externalId }) => ({
    bytes: Buffer.from(files[externalId] ?? ""),
    fileName: `${externalId}.txt`,
  });
  const told = () => JSON.stringify(lines, (_, value) => (value instanceof Error ? value.stack : value));
  return { kb, lines, told, errors: () => lines.filter(({ level }) => level === "error") };
}

describe("a failure of the server's own machine while an item is read", () => {
  const FAILURES = ["database_unusable", "resources_exhausted"] as const;

  test.for(FAILURES)("makes the run wait and fails no item: %s", async (code, { expect }) => {
    const { kb } = await makeWorld({ a: "one", b: "two", c: "three" });
    const { fetchContent } = kb.source;
    let isShort = true;
    kb.source.fetchContent = async (ctx, asked) => {
      if (isShort && asked.externalId === "b") throw new ApiError(code, { message: "The machine can't." });
      if (!fetchContent) throw new Error("Unreachable: the world gives one.");
      return fetchContent(ctx, asked);
    };
    const sync = await kb.sync("full");
    expect(sync).toMatchObject({ state: "waiting", problem: { code }, counts: { failed: 0 } });
    isShort = false;
    kb.clock.now += 60_000;
    await kb.worker.runUntilIdle();
    expect(await kb.store.in(WORKSPACE).syncs.find(sync.syncId)).toMatchObject({ state: "succeeded" });
    expect((await kb.items()).map(({ indexState }) => indexState)).toEqual(["indexed", "indexed", "indexed"]);
  });

  test("ends the run where the database is damaged", async ({ expect }) => {
    const { kb } = await makeWorld({ a: "one" });
    kb.source.fetchContent = async () => {
      throw new ApiError("database_damaged", { message: "The database is damaged." });
    };
    expect(await kb.sync("full")).toMatchObject({ state: "failed", counts: { failed: 0 } });
    expect(await kb.items()).toEqual([]);
  });
});

describe("a mistake of kb in a sync", () => {
  test("is logged with its stack and without words, and counted; its item stays failed", async ({ expect }) => {
    const files = { a: "trip one", b: "trip two", c: "fine", d: "quote" };
    const { kb, errors, told } = await makeWorld(files);
    const sync = await kb.sync("full");
    expect(sync.counts).toMatchObject({ seen: 4, upserted: 1, failed: 3, faults: 2 });
    expect((await kb.items()).map(({ textReason }) => textReason)).toEqual(["failed", "failed", null, "failed"]);
    // One place, so one line.
    expect(errors()).toMatchObject([{ message: "kb has a bug", fields: { fault: "TypeError" } }]);
    expect(errors()[0]?.fields["stack"]).toContainEqual(expect.stringMatching(/faults\.test\.ts/u));
    expect(told()).not.toMatch(/salary|trip/u);
  });

  test("of a source ends the run, which counts it", async ({ expect }) => {
    const { kb, errors, told } = await makeWorld({}, function* () {
      yield { t: "progress", done: 0 };
      throw new RangeError(WORDS);
    });
    const sync = await kb.sync("full");
    expect([sync.state, sync.problem?.code, sync.counts.faults]).toEqual(["failed", "internal", 1]);
    expect(errors()).toMatchObject([{ fields: { fault: "RangeError", syncId: sync.syncId } }]);
    expect(told()).not.toContain("salary");
  });

  test("is no parser's complaint, whose words are not logged either", async ({ expect }) => {
    const { kb, errors, told, lines } = await makeWorld({}, function* () {
      yield { t: "progress", done: Number(JSON.parse(`{${WORDS}`)) };
    });
    const sync = await kb.sync("full");
    expect([sync.state, sync.counts.faults, errors()]).toEqual(["failed", undefined, []]);
    const line = lines.find(({ message }) => message === "The run failed.");
    expect(line?.fields).toMatchObject({ error: { name: "SyntaxError" } });
    expect(told()).not.toContain("salary");
  });
});
