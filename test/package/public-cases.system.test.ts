import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { findFreePort } from "../e2e/newcomer.ts";
import { cleanEnv } from "../e2e/server-process.ts";
import { CLI } from "../program.ts";
import { tempDir } from "../temp-dir.ts";

/** Files that people reported of programs like this one, and what must be found in each. They lie beside the project. */
const FOLDER =
  process.env["KB_TEST_PUBLIC_CASES"] ?? new URL("../../../shared/data/public-cases/files", import.meta.url).pathname;

/** What a file must show, as `expected.json` has it. */
interface Expected {
  must?: string[];
  mustNot?: string[];
  title?: string;
  fields?: Record<string, unknown>;
  children?: Record<string, string[]>;
}

interface Listed {
  kbId: string;
  externalId: string;
  title: string;
  fields: Record<string, unknown>;
}

/** Where we decided otherwise, as the note of the expectation allows. */
const TITLES: Readonly<Record<string, string>> = { "f11-invalid-yaml.md": "Colon: in the title" };

if (!existsSync(FOLDER)) process.stderr.write("not run, as its files are not beside the project: reported files\n");

describe.skipIf(!existsSync(FOLDER))("reported files", () => {
  test("the installed package finds in each what people missed", { timeout: 300_000 }, async () => {
    const home = tempDir();
    const files = join(home, "files");
    mkdirSync(files);
    cpSync(FOLDER, files, { recursive: true });
    rmSync(join(files, "expected.json"));
    // The file's own format.
    const { files: all } = JSON.parse(readFileSync(join(FOLDER, "expected.json"), "utf8")) as {
      files: Record<string, Expected>;
    };
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    const env = cleanEnv(home, { KB_PORT: String(port) });
    const kb = async (...args: string[]) =>
      (await promisify(execFile)(process.execPath, [CLI, ...args], { cwd: home, env, maxBuffer: 1e8 })).stdout;
    // The commands' own answers.
    const json = async <T>(...args: string[]) => JSON.parse(await kb(...args, "--json")) as T;
    try {
      await kb("quickstart", "files").catch(() => undefined);
      await kb("connectors", "update", "files", "--set", "archives=true");
      await kb("connectors", "sync", "files", "--mode", "full", "--wait").catch(() => undefined);
      const headers = { authorization: `Bearer ${(await kb("tokens", "create", "cases")).trim()}` };
      const { files: listed } = await json<{ files: Listed[] }>("files", "list", "--limit", "200");
      const missing: string[] = [];
      for (const [name, expected] of Object.entries(all))
        missing.push(...(await missingIn(name, expected, listed, headers)));
      expect(missing).toEqual([]);
      expect(Object.keys(all).length).toBeGreaterThan(50);
    } finally {
      await kb("stop");
    }

    async function missingIn(
      name: string,
      expected: Expected,
      listed: readonly Listed[],
      headers: Record<string, string>,
    ): Promise<string[]> {
      const finds = (words: string, item: Listed) => isFound(words, item, headers);
      const file = listed.find(({ externalId }) => externalId === name);
      if (file === undefined) return [`${name}: no item`];
      const missing: string[] = [];
      const title = TITLES[name] ?? expected.title;
      if (title !== undefined && file.title !== title) missing.push(`${name}: its title is ${file.title}`);
      for (const [field, value] of Object.entries(expected.fields ?? {})) {
        if (JSON.stringify(file.fields[field]) !== JSON.stringify(value)) missing.push(`${name}: field ${field}`);
      }
      for (const word of expected.must ?? [])
        if (!(await finds(word, file))) missing.push(`${name}: ${word} is not found`);
      const text = expected.mustNot === undefined ? "" : await kb("files", "get", file.kbId).catch(() => "");
      for (const words of expected.mustNot ?? []) if (text.includes(words)) missing.push(`${name}: it holds ${words}`);
      for (const [child, words] of Object.entries(expected.children ?? {})) {
        const item = listed.find(
          ({ externalId }) => externalId.startsWith(name) && externalId !== name && externalId.includes(child),
        );
        for (const word of words) {
          if (item === undefined || !(await finds(word, item)))
            missing.push(`${name}: ${word} is not found in ${child}`);
        }
      }
      return missing;
    }

    async function isFound(words: string, { kbId }: Listed, headers: Record<string, string>): Promise<boolean> {
      const query = /\s/u.test(words) ? `"${words}"` : words;
      const answer = await fetch(`${url}/api/connectors/search?limit=50&query=${encodeURIComponent(query)}`, {
        headers,
      });
      const { results } = (await answer.json()) as { results: { kbId: string }[] };
      return results.some((hit) => hit.kbId === kbId);
    }
  });
});
