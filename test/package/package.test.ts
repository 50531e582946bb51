import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanEnv } from "../e2e/server-process.ts";
import { findFreePort } from "../e2e/newcomer.ts";
import { makeSamples } from "../extract/mutations.ts";
import { pack, unpackBesideModules } from "./install.ts";

const dir = mkdtempSync(join(tmpdir(), "kb-package-"));
const folder = join(dir, "package");
let cli = "";

beforeAll(async () => {
  const out = join(dir, "out");
  mkdirSync(out);
  cli = unpackBesideModules(await pack(out), dir);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), "utf8"));

describe("the package", () => {
  test("holds the program, its docs and what belongs to them, and nothing of its development", () => {
    expect(readdirSync(folder).toSorted()).toEqual([
      "README.md",
      "THIRD_PARTY_NOTICES.md",
      "dist",
      "docs",
      "node_modules",
      "npm-shrinkwrap.json",
      "package.json",
      "sbom.cdx.json",
    ]);
    const files = readdirSync(join(folder, "dist"), { recursive: true, encoding: "utf8" });
    expect(files.filter((name) => /\.(?:map|ts|tsx)$|metafile/u.test(name))).toEqual([]);
    expect(read("package.json")).not.toHaveProperty("devDependencies");
  });

  test("names the exact version of all that is installed beside it, and of all that is inside", () => {
    const { packages } = read("npm-shrinkwrap.json") as { packages: Record<string, Record<string, string>> };
    const { dependencies } = packages[""] as unknown as { dependencies: Record<string, string> };
    for (const [name, version] of Object.entries(dependencies)) {
      expect(packages[`node_modules/${name}`]).toMatchObject({
        version,
        integrity: expect.stringMatching(/^sha512-/u),
      });
    }
    expect(JSON.stringify(packages)).not.toMatch(/"resolved"|"dev"/u);
    const { components } = read("sbom.cdx.json") as { components: { name: string }[] };
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["react", "zod", "yaml", "gpt-tokenizer", "unpdf"]));
    expect(names).not.toContain("vitest");
    const notices = readFileSync(join(folder, "THIRD_PARTY_NOTICES.md"), "utf8");
    for (const name of ["react", "yaml", "commander"]) expect(notices).toMatch(new RegExp(`^## ${name} \\d`, "mu"));
  });
});

test("npm pack packs nothing, and names the command that makes a whole package", async () => {
  const root = new URL("../..", import.meta.url).pathname;
  const packed = promisify(execFile)("npm", ["pack", "--dry-run"], { cwd: root });
  await expect(packed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("Run `npm run package`") });
});

/** One file for each kind of reader; the others are tried on the installed package, by the system tests. */
const FILES = ["a.txt", "a.html", "a.pdf", "a.docx", "a.xlsx", "a.eml", "a.ipynb"];
const TEXTS = {
  "table.csv": "name,about\nfirst,words of a document\n",
  "front.md": "---\ntitle: Harbour\nowner: Ana\n---\n# Tides\n\nWords of a document with front matter.\n",
  "api.yaml":
    'openapi: 3.1.0\ninfo: { title: Depot, version: "1" }\npaths:\n  /a:\n    get: { summary: Words of a document }\n',
};

interface Hit {
  kbId: string;
  title: string;
  fields: object;
}

test("reads files of many formats, finds them, and answers an agent", { timeout: 90_000 }, async () => {
  const home = join(dir, "home");
  const files = join(home, "files");
  mkdirSync(files, { recursive: true });
  const samples = makeSamples().filter(({ name }) => FILES.includes(name));
  expect(samples.map(({ name }) => name).toSorted()).toEqual(FILES.toSorted());
  for (const { name, bytes } of samples) writeFileSync(join(files, name), bytes);
  for (const [name, text] of Object.entries(TEXTS)) writeFileSync(join(files, name), text);

  const env = cleanEnv(home, { KB_PORT: String(await findFreePort()) });
  const kb = (...args: string[]) => promisify(execFile)(process.execPath, [cli, ...args], { cwd: home, env });
  // The commands' own answers.
  const json = async <T>(...args: string[]) => JSON.parse((await kb(...args, "--json")).stdout) as T;
  try {
    expect((await kb("--version")).stdout).toMatch(/^0\.1\.0-dev/u);
    await kb("quickstart", "files");
    const found = await json<{ results: Hit[] }>("search", "words document", "--limit", "50");
    const { files: listed } = await json<{ files: { kbId: string; externalId: string }[] }>("files", "list");
    const nameOf = new Map(listed.map(({ kbId, externalId }) => [kbId, externalId]));
    expect(new Set(found.results.map(({ kbId }) => nameOf.get(kbId)))).toEqual(
      new Set([...FILES, ...Object.keys(TEXTS)]),
    );
    expect(found.results.find(({ title }) => title === "Harbour")?.fields).toMatchObject({ owner: "Ana" });

    const bridge = kb("mcp");
    const params = { name: "kb_search", arguments: { query: "tides", maxTokens: 400 } };
    bridge.child.stdin?.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
    expect((await bridge).stdout).toContain("Harbour");
  } finally {
    await kb("stop");
  }
});
