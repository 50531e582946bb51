import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../e2e/newcomer.ts";
import { cleanEnv } from "../e2e/server-process.ts";
import { extractFile } from "../extract/documents.ts";
import { makeSamples } from "../extract/mutations.ts";
import { CLI } from "../program.ts";
import { pack } from "./install.ts";

/** Where tests are root, the program runs as somebody else: nobody may write where it is installed. */
const OTHER = process.getuid?.() === 0 ? userNamed("nobody") : undefined;

const dir = mkdtempSync(join(tmpdir(), "kb-matrix-"));
const home = join(dir, "home");
const files = join(home, "files");
let env: Record<string, string> = {};

const kb = (...args: string[]) => run(process.execPath, [CLI, ...args]);
// The commands' own answers.
const json = async <T>(...args: string[]) => JSON.parse((await kb(...args, "--json")).stdout) as T;

beforeAll(async () => {
  for (const folder of [files, join(dir, "again")]) mkdirSync(folder, { recursive: true });
  for (const { name, bytes } of makeSamples()) writeFileSync(join(files, name), bytes);
  own(dir);
  env = cleanEnv(home, { KB_PORT: String(await findFreePort()) });
  await kb("quickstart", "files");
  await kb("connectors", "update", "files", "--set", "archives=true");
  await kb("connectors", "sync", "files", "--mode", "full", "--wait");
}, 240_000);

afterAll(async () => {
  await kb("stop").catch(() => undefined);
  rmSync(dir, { recursive: true, force: true });
});

describe("the installed package", () => {
  test("is the same file, byte for byte, when it is packed again", { timeout: 120_000 }, async ({ skip }) => {
    const tarball = process.env["KB_TEST_TARBALL"];
    if (tarball === undefined) return skip();
    const again = await pack(join(dir, "again"));
    expect([basename(again), sha256(again)]).toEqual([basename(tarball), sha256(tarball)]);
  });

  test("reads a file of every format as the sources do", async () => {
    const listed = await json<{ files: Listed[] }>("files", "list", "--limit", "200");
    const byName = new Map(listed.files.map((file) => [file.externalId, file]));
    for (const { name, bytes } of makeSamples()) {
      const read = await extractFile(name, bytes, {}, { readsArchives: true });
      const file = byName.get(name);
      expect(file, name).toMatchObject({ indexState: read.state === "ok" ? "indexed" : expect.any(String) });
      if (read.state !== "ok") continue;
      expect({ name, chars: file?.textState.chars }).toEqual({ name, chars: read.text.length });
      expect({ name, fields: Object.keys(file?.fields ?? {}) }).toEqual({
        name,
        fields: expect.arrayContaining(Object.keys(read.properties ?? {})) as string[],
      });
      const word = wordOf(read.text);
      if (word === undefined) continue;
      expect({ name, word, isFound: (await found(word)).has(file?.kbId ?? "") }).toMatchObject({ isFound: true });
    }
  }, 300_000);

  test("finds the last section of every format by its name", async () => {
    const { files: listed } = await json<{ files: Listed[] }>("files", "list", "--limit", "200");
    const { stdout: token } = await kb("tokens", "create", "sections", "--scope", "kb:api");
    const headers = { authorization: `Bearer ${token.trim()}` };
    let asked = 0;
    for (const { name, bytes } of makeSamples()) {
      const read = await extractFile(name, bytes, {}, { readsArchives: true });
      const last = read.state === "ok" ? read.sections.at(-1) : undefined;
      if (read.state !== "ok" || last === undefined) continue;
      if (read.sections.some((other) => other !== last && other.name === last.name)) continue;
      asked++;
      const id = listed.find(({ externalId }) => externalId === name)?.kbId ?? "";
      const query = new URLSearchParams({ section: last.name });
      const url = `http://127.0.0.1:${env["KB_PORT"]}/api/connectors/files/${id}/content?${query.toString()}`;
      const text = await (await fetch(url, { headers })).text();
      expect({ name, section: last.name, text }).toEqual({
        name,
        section: last.name,
        text: read.text.slice(last.start),
      });
    }
    expect(asked).toBeGreaterThan(15);
  }, 120_000);

  test("serves its page, and each file that the page names", async () => {
    const url = `http://127.0.0.1:${env["KB_PORT"]}`;
    const page = await (await fetch(`${url}/login`, { headers: { accept: "text/html" } })).text();
    const named = [...page.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css|svg))"/gu)].map(([, path]) => path ?? "");
    expect(named.length).toBeGreaterThan(2);
    for (const path of named) expect((await fetch(url + path)).status, path).toBe(200);
  });

  test("stops, starts again, and has kept everything", async () => {
    const before = await json<{ files: Listed[] }>("files", "list", "--limit", "200");
    await kb("stop");
    await kb("quickstart", "files");
    const after = await json<{ files: Listed[] }>("files", "list", "--limit", "200");
    expect(after.files.map(({ kbId }) => kbId).toSorted()).toEqual(before.files.map(({ kbId }) => kbId).toSorted());
  }, 120_000);
});

interface Listed {
  kbId: string;
  externalId: string;
  indexState: string;
  fields: object;
  textState: { chars: number };
}

function sha256(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** The items that a search for a word finds, on all its pages. */
async function found(word: string): Promise<ReadonlySet<string>> {
  const kbIds = new Set<string>();
  for (let more: string[] = []; ;) {
    const { results, nextCursor } = await json<Page>("search", word, "--limit", "50", ...more);
    for (const { kbId } of results) kbIds.add(kbId);
    if (nextCursor === null) return kbIds;
    more = ["--cursor", nextCursor];
  }
}

interface Page {
  results: { kbId: string }[];
  nextCursor: string | null;
}

/** The longest word of letters, as somebody would look for it. */
function wordOf(text: string): string | undefined {
  return text.match(/\p{L}{4,20}/gu)?.reduce((longest, word) => (word.length > longest.length ? word : longest));
}

function run(command: string, args: readonly string[]) {
  return promisify(execFile)(command, [...args], { cwd: home, env, maxBuffer: 64 * 1024 * 1024, ...OTHER });
}

function userNamed(name: string): { uid: number; gid: number } {
  const [uid = 0, gid = 0] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, name], { encoding: "utf8" })));
  return { uid, gid };
}

function own(folder: string): void {
  if (OTHER === undefined) return;
  for (const name of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })]) {
    chownSync(join(folder, name), OTHER.uid, OTHER.gid);
  }
}
