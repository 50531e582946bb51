import { expect, test } from "vitest";
import { FORMER_TEXT_MS, makeFormerText } from "#sources/former-text.ts";

function makeState() {
  const values = new Map<string, unknown>();
  return {
    values,
    state: {
      get: async (key: string) => values.get(key),
      put: (key: string, value: unknown) => void values.set(key, value),
    },
  };
}

test("a text that can't be read any more is kept for seven days, over several runs, and then goes", async () => {
  const { state } = makeState();
  let at = 1_000;
  const inRun = () => makeFormerText({ state, now: () => at });
  expect(await inRun().keeps("a")).toBe(true);
  at += FORMER_TEXT_MS - 1;
  expect(await inRun().keeps("a")).toBe(true);
  expect(await inRun().keeps("b")).toBe(true);
  at += 1;
  expect(await inRun().keeps("a")).toBe(false);
  expect(await inRun().keeps("b")).toBe(true);
});

test("the days begin again once it could be read", async () => {
  const { state } = makeState();
  let at = 1_000;
  const former = makeFormerText({ state, now: () => at });
  await former.keeps("a");
  await former.forget("a");
  at += FORMER_TEXT_MS;
  expect(await former.keeps("a")).toBe(true);
});

test("what is remembered fits into a value of the state, however many items fail", async () => {
  const { state, values } = makeState();
  const former = makeFormerText({ state, now: () => 1_800_000_000_000 });
  const kept = [];
  for (let i = 0; i < 1_600; i++) kept.push(await former.keeps(`https://example.test/${"long/".repeat(40)}${i}`));
  expect(kept.filter(Boolean)).toHaveLength(1_500);
  for (const value of values.values()) expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThan(65_536);
});
