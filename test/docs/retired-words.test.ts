import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RETIRED_WORDS, type RetiredWord } from "./retired-words.ts";

const root = new URL("../..", import.meta.url).pathname;

const files = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...["src", "test", "docs", "scripts"].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: "utf8" })
      .filter(
        (file) => /\.(?:tsx?|md|css)$/.test(file) && !/^generated\/|^api\/generated\/|^docs\/retired-words/.test(file),
      )
      .map((file) => `${top}/${file}`),
  ),
].map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** The lines of a file that bring a retired word back, as `path:line: word → replacement`. */
function findRetired(path: string, text: string, retired: readonly RetiredWord[] = RETIRED_WORDS): string[] {
  const looked = retired.filter(({ only, allowed = {} }) => (only?.test(path) ?? true) && !(path in allowed));
  return text
    .split("\n")
    .flatMap((line, at) =>
      looked
        .filter(({ pattern }) => pattern.test(line))
        .map(({ word, instead }) => `${path}:${at + 1}: ${word} → ${instead}`),
    );
}

test("no retired word comes back, in code, comments, tests or docs", () => {
  expect(files.length).toBeGreaterThan(900);
  expect(files.flatMap(({ path, text }) => findRetired(path, text))).toEqual([]);
});

test("no retired word is in the name of a file", () => {
  const names = files.flatMap(({ path }) => findRetired(path, path.replaceAll(/[/.-]/g, " ")));
  expect(names.filter((name) => !name.startsWith("src/text/fold.ts"))).toEqual([]);
});

test("every place that keeps a retired word has it, and says why", () => {
  for (const { word, pattern, allowed = {} } of RETIRED_WORDS) {
    for (const [path, reason] of Object.entries(allowed)) {
      expect(reason).not.toBe("");
      const file = files.find((each) => each.path === path);
      expect(file && pattern.test(`${path}\n${file.text}`), `${word} in ${path}`).toBe(true);
    }
  }
});

test("the check sees each word in an identifier, a sentence and a path", () => {
  const brought: [string, string][] = [
    ["src/server/mcp/a.ts", "const era = eraOfHeader(version);"],
    ["src/storage/index/write/a.ts", "/** Until the next fold. */"],
    ["src/server/search/a.ts", "function makeScene(): Scene {"],
    ["src/server/a.ts", "export function makeGatherer() {"],
    ["src/server/http/a.ts", "const DOOR_RULES: Record<string, DoorRule> = {}"],
    ["src/server/a.ts", "troubles: readonly PushTrouble[];"],
    ["src/sources/change-notifications.ts", "hint(hint: Hint): void;"],
    ["src/server/http/a.ts", "authenticate(rule, knock)"],
    ["docs/a.md", "the rules of the house"],
    ["src/server/connectors/a.ts", "(parts: ConnectorDeps, actor: Actor)"],
    ["src/server/sync/a.ts", "known.partsOf(externalId)"],
    ["src/server/a.ts", "function read(given: SearchArguments) {"],
    ["src/server/a.ts", "give the id to who runs it"],
    ["docs/a.md", "The index knows nothing of it."],
    ["test/server/a.test.ts", "the list is read anew"],
    ["test/server/a.test.ts", "// Whoever calls waits."],
    ["src/server/a.ts", "  message: `There is none in ${folder}.`,"],
    ["docs/a.md", "What stands on the page is read."],
    ["src/server/sync/a.ts", "await tellEnd(emit, tx);"],
    ["src/server/a.ts", "const told = await find();"],
    ["src/server/a.ts", "interface Standing {"],
    ["src/server/sync/a.ts", "markAlive(item, sink);"],
    ["src/storage/a.ts", "async hasten(at: number) {"],
    ["src/storage/a.ts", "await sourcePeople.doubt(connectorId);"],
    ["src/server/a.ts", "await removeWithheld(deps);"],
    ["src/server/a.ts", "claimStrangers(item, authority)"],
  ];
  expect(brought.filter(([path, line]) => findRetired(path, line).length === 0)).toEqual([]);
  expect(
    new Set(brought.flatMap(([path, line]) => findRetired(path, line).map((found) => found.split(": ")[1]))).size,
  ).toBe(RETIRED_WORDS.length);
  expect(findRetired("src/server/a.ts", "  /** It stands beside the other. */")).toEqual([]);
  expect(findRetired("src/text/fold.ts", "foldWord(word) // in a folder with a camera")).toEqual([]);
});
