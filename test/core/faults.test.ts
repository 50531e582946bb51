import { describe, test } from "vitest";
import { parseDocument } from "yaml";
import { findFault, makeFaultLog, parseFault, withoutWords } from "#core/faults.ts";

/** What is thrown there. */
async function thrownBy(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
}

describe("a fault of kb", () => {
  test("is an error of the language without a code", async ({ expect }) => {
    const words: Record<string, unknown> = {};
    const faults = [
      () => (words["parse"] as () => void)(),
      () => new Date(Number.NaN).toISOString(),
      () => "x".repeat(-1),
      () => new Function("return nowhere")(),
    ];
    for (const act of faults) expect(findFault(await thrownBy(act))?.frames.length, String(act)).toBeGreaterThan(0);
    const others = [
      () => new URL("no address"),
      () => new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.of(0xff)),
      // A port that is never asked, so that nothing is.
      () => fetch("http://127.0.0.1:1/"),
      () =>
        Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNRESET" }) })),
      () => JSON.parse("{words"),
      () => Promise.reject(Object.assign(new TypeError("x"), { code: "ERR_X" })),
      () => Promise.reject(new Error("no class of its own")),
      () => Promise.reject("a text"),
    ];
    for (const act of others) expect(findFault(await thrownBy(act)), String(act)).toBeUndefined();
  });

  test("is told without a word of the file, whatever the message holds", async ({ expect }) => {
    const secret = "salary of Ana\n    at salaryOfAna (/salary/of/ana.md:1:1)\n    at file:///salary.md:2:2";
    for (const error of [new TypeError(secret), new RangeError(`${secret} again`), new SyntaxError(secret)]) {
      const told = withoutWords(error);
      expect(JSON.stringify(told)).not.toMatch(/salary/i);
      expect(told.frames[0]).toMatch(/faults\.test\.ts:\d+:\d+\)?$/u);
    }
    const changed = new TypeError("first");
    changed.message = "salary";
    expect(JSON.stringify(withoutWords(changed))).not.toContain("first");
    const named = Object.assign(new Error("x"), { name: "salary of Ana" });
    expect(withoutWords(named).name).toBe("Error");
    // A parser's own words, with a line of the document.
    const quoting = await thrownBy(() => parseDocument("a: *salary").toJS());
    expect(JSON.stringify(withoutWords(quoting))).not.toContain("salary");
  });

  test("of another process is no more than a class and places", ({ expect }) => {
    const frames = ["at read (file:///srv/kb/dist/x.js:1:2)", "words", "at a b c", 7, `at ${"x".repeat(400)} (/a:1:1)`];
    expect(parseFault({ name: "TypeError", frames, more: "words" })).toEqual({
      name: "TypeError",
      frames: [frames[0]],
    });
    const many = Array.from({ length: 50 }, () => frames[0]);
    expect(parseFault({ name: "RangeError", frames: many })?.frames).toHaveLength(12);
    for (const hostile of [null, "x", {}, { name: "words", frames: [] }, { name: "TypeError", frames: "x" }])
      expect(parseFault(hostile)).toBeUndefined();
  });

  test("is logged as an error with its stack, once per place and hour", ({ expect }) => {
    const lines: unknown[] = [];
    const clock = { now: 1_000 };
    const log = makeFaultLog({ error: (fields, message) => void lines.push([fields, message]) }, () => clock.now);
    const fault = { name: "TypeError", frames: ["at a (/dist/a.js:1:1)", "at b (/dist/b.js:1:1)"] };
    for (let i = 0; i < 1_000; i++) log.note(fault, { connectorId: `con_${i}` });
    log.note({ ...fault, frames: ["at c (/dist/c.js:1:1)"] }, {});
    expect(lines).toEqual([
      [{ connectorId: "con_0", fault: "TypeError", stack: fault.frames }, "kb has a bug"],
      [{ fault: "TypeError", stack: ["at c (/dist/c.js:1:1)"] }, "kb has a bug"],
    ]);
    clock.now += 3_600_000;
    log.note(fault, {});
    expect(lines).toHaveLength(3);
  });
});
