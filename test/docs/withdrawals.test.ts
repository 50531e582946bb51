import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeSourceRegistry } from "#sources/registry.ts";
import { NO_NETWORK } from "../network.ts";
import { toCells, WITHDRAWALS } from "../sources/withdrawals.ts";

test("the table of permissions.md is the one that is played before each source", () => {
  const text = readFileSync(new URL("../../docs/permissions.md", import.meta.url), "utf8");
  const [, section = ""] = /^### How long it takes$([\s\S]*?)^##/m.exec(text) ?? [];
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  const cells = rows.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  // Below its head and the rule under it.
  expect(cells.slice(2)).toEqual(toCells(WITHDRAWALS));
});

test("each source that mirrors the permissions of people is in it, and those that hear of changes twice", async () => {
  const registry = makeSourceRegistry({
    allowedRoots: async () => [],
    dataFolder: "/var/lib/kb",
    isOpenToStrangers: false,
    guard: NO_NETWORK,
    searchPath: "",
  });
  const mirrors = (await registry.list()).filter(({ spec }) => spec.acl !== "connector" && spec.hasPeople === true);
  const names = (isTold: boolean) => WITHDRAWALS.filter((row) => row.isTold === isTold).map(({ name }) => name);
  expect(names(false).sort()).toEqual(mirrors.map(({ spec }) => spec.name).sort());
  expect(mirrors.map(({ spec }) => spec.name)).toEqual(expect.arrayContaining(names(true)));
});
