import { expect, test } from "vitest";
import { makeOddRecords } from "#sources/listed.ts";
import { countAdded } from "#sources/confluence/count-added.ts";
import type { ConfluenceConfig } from "#sources/confluence/config.ts";

const EVERYTHING = { include: [], exclude: [] };
// Nothing else of it is read.
const CONFIG = { personalSpaces: false } as ConfluenceConfig;

function count(spaces: number, pages: number | undefined, from: object, to: object = {}) {
  const asked: string[] = [];
  const client = {
    spaces: async () =>
      Array.from({ length: spaces }, (_, i) => ({
        id: `${i}`,
        key: `S${i}`,
        name: "",
        type: "global",
        status: "current",
      })),
    odd: makeOddRecords(),
    countPages: async (key: string) => (asked.push(key), pages),
  };
  const answer = countAdded(client, CONFIG, { from: { ...EVERYTHING, ...from }, to: { ...EVERYTHING, ...to } });
  return answer.then((added) => ({ added, asked }));
}

test("only added spaces are asked for, with one request each", async () => {
  expect(await count(4, 60, { exclude: ["1", "2"] })).toEqual({
    added: { items: 120, calls: 18 },
    asked: ["S1", "S2"],
  });
  expect(await count(4, 60, {}, { include: ["1"] })).toEqual({ added: { items: 0, calls: 0 }, asked: [] });
});

test("is unknown where the site doesn't tell, and for too many spaces", async () => {
  expect((await count(2, undefined, { include: ["0"] })).added).toBeUndefined();
  expect(await count(80, 1, { include: ["0"] })).toEqual({ added: undefined, asked: [] });
});
