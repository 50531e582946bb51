/** The files of the nouns and the table that is made from them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { command, oneOf, ownFields, route, several, type CommandData } from "#cli/line/command.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { COMMANDS, SECTIONS as LISTED } from "#cli/generated/table.ts";
import { namedCommands } from "#cli/line/names.ts";
import { findNoun, SECTIONS } from "#cli/start/nouns.ts";
import { formatCliTable, makeCliTable } from "../../scripts/cli-table.ts";
import { makeDocument } from "../../scripts/openapi.ts";

/** Never called. The type check reads it, and fails when one of these lines has no error. */
export function refusedByTheCompiler(): void {
  const data = {
    summary: "",
    arguments: { "<id>": "", "[words...]": "" },
    options: { "-k, --date-kind <kind>": oneOf(["due", "created"], ""), "--scope <scope>": several(""), "--wait": "" },
    examples: ["kb"],
  } as const satisfies CommandData;
  command(data, async ({ args, options }) => {
    const [id, words, kind, scopes, wait]: [
      string,
      readonly string[],
      "due" | "created" | undefined,
      readonly string[],
      boolean,
    ] = [args.id, args.words, options.dateKind, options.scope, options.wait];
    void [id, words, kind, scopes, wait];
    // @ts-expect-error -- an argument that it does not take
    void args.name;
    // @ts-expect-error -- an option that it does not have
    void options.force;
    // @ts-expect-error -- a word that is none of its choices
    if (options.dateKind === "updated") return;
  });
  route("get", "/api/groups", "groups");
  // @ts-expect-error -- a list that the answer does not have
  route("get", "/api/groups", "teams");
  // @ts-expect-error -- a path that is none
  route("get", "/api/teams");
  // @ts-expect-error -- a field that the record does not have
  ownFields<{ name: string }>("name", "title");
}

describe("the table of commands", () => {
  test("is what the files of the nouns and the contract give", async ({ expect }) => {
    const table = await makeCliTable(makeDocument());
    expect(table).toEqual({ sections: LISTED, commands: COMMANDS });
    expect(formatCliTable(table)).toContain('"name":"tokens list"');
  });

  test("lists no exit code twice: 0, 1 and 2 are every command's", ({ expect }) => {
    const twice = COMMANDS.filter(({ exitCodes = [] }) => exitCodes.some((code) => code <= EXIT.usage));
    expect(twice.map(({ name }) => name)).toEqual([]);
  });

  test("has every noun that has a file, and each agrees with its file", async ({ expect }) => {
    const nouns = SECTIONS.flatMap((section) => Object.keys(section.nouns));
    const files = readdirSync("src/cli/commands").filter((name) => name.endsWith(".ts"));
    expect(files.map((name) => name.replace(".ts", "")).toSorted()).toEqual(nouns.toSorted());
    for (const noun of nouns) {
      const loaded = await findNoun(noun)?.load();
      const named = loaded === undefined ? [] : namedCommands(noun, loaded);
      const listed = COMMANDS.filter(({ name }) => name.split(" ")[0] === noun);
      expect(named.map(({ name, summary, aliases }) => ({ name, summary, aliases }))).toEqual(
        listed.map(({ name, summary, aliases }) => ({ name, summary, aliases })),
      );
      for (const each of named) expect(typeof each.run).toBe("function");
    }
  });

  test("lists a renamed field under its new name, and refuses a list that is gone", async ({ expect }) => {
    const text = JSON.stringify(makeDocument());
    const renamed = await makeCliTable(JSON.parse(text.replaceAll('"lastUsedAt"', '"usedAt"')));
    const fields = renamed.commands.find(({ name }) => name === "tokens list")?.fields;
    expect(fields).toContain("usedAt");
    expect(fields).not.toContain("lastUsedAt");
    const gone = JSON.parse(text.replaceAll('"tokens"', '"apiTokens"')) as unknown;
    await expect(makeCliTable(gone)).rejects.toThrow('has no "tokens"');
  });
});

test("every command that the source names in a sentence is there", ({ expect }) => {
  const names = new Set(COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  const verbs = new Set([...names].flatMap((name) => name.split(" ").slice(1)));
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path));
  const named = files.flatMap((path) =>
    [...readFileSync(join("src", path), "utf8").matchAll(/\bkb ([a-z]+) ([a-z-]+)/g)]
      .filter(([, , verb = ""]) => verbs.has(verb))
      .map(([, noun, verb]) => ({ path, name: `${noun} ${verb}` })),
  );
  expect(named.length).toBeGreaterThan(100);
  // The product's name, and parts of sentences.
  const prose = new Set(["connector search", "never reads", "then reads", "may use", "can use"]);
  expect(named.filter(({ name }) => !names.has(name) && !prose.has(name))).toEqual([]);
});
