import { expect, test } from "vitest";
import { makeKit } from "../server/mcp/kit.ts";
import { rankingLine } from "#cli/records/explanation.ts";
import { kb, makeWorld } from "./fakes.ts";

test("kb search --explain tells an admin how each score came about, and a member what it takes", async () => {
  const server = await makeKit();
  const owner = await server.addOwner();
  await server.addItems(owner, [
    { title: "Travel rules", text: "Travel by train." },
    { title: "Lunch", text: "Soup." },
  ]);
  const run = async (scopes: ("kb:api" | "kb:admin")[], ...more: string[]) => {
    const env = { KB_URL: "http://127.0.0.1:7700", KB_TOKEN: await server.token(owner, scopes) };
    const fetch: typeof globalThis.fetch = async (address, init) =>
      server.app.request(address as string, init as RequestInit);
    return kb(makeWorld({ env, real: { fetch } }), "search", "travel", "--explain", ...more);
  };
  const told = await run(["kb:api", "kb:admin"]);
  expect([told.code, told.stdout.trimEnd().split("\t").slice(-2)]).toEqual([
    0,
    [
      expect.stringMatching(/^\d\.\d+$/),
      expect.stringMatching(/has all words.*travel: [\d.]+ \(1× in title, 0× in place, 1× in text; in 1 item\)/),
    ],
  ]);
  expect(told.stderr).toContain("Scored over the 2 items you can see");
  const json = JSON.parse((await run(["kb:api", "kb:admin"], "--json")).stdout);
  expect(json.results[0].explanation.score).toBeGreaterThan(0);
  const refused = await run(["kb:api"]);
  expect([refused.code, refused.stdout]).toEqual([4, ""]);
  expect(refused.stderr).toContain("kb:admin");
});

test("the ranking of an older server, which names no feedback, is told all the same", () => {
  const ranking = { items: 2, averageLength: 3, factors: [{ factor: "rarity", weight: 1, does: "" }] };
  expect(rankingLine(ranking)).toContain("Weights: rarity 1.");
  expect(rankingLine({ ...ranking, feedback: ["tunnel"] })).toContain("Words of the first hits: tunnel.");
});
