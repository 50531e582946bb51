import { expect, test } from "vitest";
import { makeFileTime } from "#extract/file-time.ts";
import { extractInProcess, type ExtractTools } from "#extract/extract.ts";
import { DEFAULT_EXTRACT_LIMITS } from "#extract/limits.ts";
import type { Format } from "#extract/format.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { requestOf } from "./documents.ts";

/** A machine on which each look at the clock takes so long, and this program does so much of the work. */
function makeMachine(clockMs: number, cpuMs: number) {
  let looks = 0;
  return { now: () => ++looks * clockMs, cpuMs: () => looks * cpuMs };
}

const LINES = 1_000;
const slow: Format = {
  extract({ hasTime }) {
    let text = "";
    let line = 0;
    while (line < LINES && hasTime()) text += `line ${++line}\n`;
    return { state: "ok", text, sections: [], properties: {}, isCut: line < LINES };
  },
};

async function read(machine: Pick<ExtractTools, "now" | "cpuMs">) {
  const formats = { "text/plain": { version: 1, load: async () => slow } };
  const result = await extractInProcess(
    { ...requestOf("a.txt", ""), bytes: Buffer.from("words") },
    DEFAULT_EXTRACT_LIMITS,
    {
      analyze: analyzeDocument,
      formats,
      ...machine,
    },
  );
  if (result.state !== "ok") throw new Error(result.message);
  return result;
}

test("a file on a busy machine is read to its end: its CPU time counts", async () => {
  const { text, properties, isOutOfTime } = await read(makeMachine(100, 10));
  expect(text).toContain(`line ${LINES}\n`);
  expect([properties, isOutOfTime]).toEqual([{}, undefined]);
});

test("a file that uses up its time is cut, and says why", async () => {
  const { text, properties, isOutOfTime } = await read(makeMachine(100, 100));
  expect(text).toContain("line 100\n");
  expect(text).not.toContain("line 200\n");
  expect(properties["truncated"]).toMatch(
    /^Only the first \d+ characters were read, because the file took too long\.$/u,
  );
  expect(isOutOfTime).toBe(true);
});

test("one that hardly works has ten times as long by the clock", () => {
  const time = makeFileTime(1_000, makeMachine(100, 0));
  let looks = 0;
  while (time.hasTime()) looks++;
  expect(looks).toBe(99);
  expect([time.hasTime(), time.isOver()]).toEqual([false, true]);
});

test("time that no one asked for is not over", () => {
  const machine = makeMachine(100_000, 100_000);
  expect(makeFileTime(1_000, machine).isOver()).toBe(false);
});
