import { test } from "vitest";
import { forgetting, nobodyGains, NOT_WITHHELD, type Plant } from "./nobody-gains.suite.ts";

test("no one gains an item but by the act of the connector's owner, whatever people try", () => nobodyGains(6));

const PLANTS: Record<string, Plant> = {
  "forgets to ask who may change settings and readers": forgetting("configure", "reconnect"),
  "forgets to ask who may take more into a scope": forgetting("widen_scope"),
  "forgets to ask who may replace credentials": forgetting("reconnect"),
  "forgets to ask who may let more people see it": forgetting("widen_access"),
  "shows what was read at another place, or before a take-over": NOT_WITHHELD,
};

for (const [what, plant] of Object.entries(PLANTS)) {
  test(`that is red where the server ${what}`, async ({ expect }) => {
    await expect(nobodyGains(60, plant)).rejects.toThrow(/reads ".*" after/);
  });
}
