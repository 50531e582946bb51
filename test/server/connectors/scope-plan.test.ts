import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { Source } from "#sources/contract.ts";
import { makeFilesystemSource } from "#sources/filesystem/index.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { fakeExtractor } from "../sync/harness.ts";
import { tempDir } from "../../temp-dir.ts";

async function makeFolderServer(change: (source: Source) => Source = (source) => source) {
  const root = tempDir();
  for (const path of ["a.md", "b/1.md", "b/2.md", "b/c/3.md", "d/4.md"]) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), `# ${path}`);
  }
  // Its configurations are parsed by its own schema.
  const folder = makeFilesystemSource({ allowedRoots: async () => [root], dataFolder: tempDir() }) as unknown as Source;
  const source = change(folder);
  const sources = { find: async () => source, list: async () => [source] };
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, { sources, extractor: fakeExtractor }),
  );
  const client = kb.as(await kb.addOwner());
  const { json } = await client.post("/api/connectors", {
    providerId: "filesystem",
    name: "Folder",
    config: { root },
    scope: { include: [], exclude: ["b"] },
    access: { visibility: "workspace" },
  });
  await kb.deps.worker.runUntilIdle();
  const id: string = json.connector.id;
  const plan = async (scope: object) => {
    const answer = await client.request("PATCH", `/api/connectors/${id}/scope?dryRun=true`, { body: scope });
    expect(answer.status, answer.text).toBe(202);
    return answer.json.plan;
  };
  return { plan };
}

test("a dry run says how many items a scope adds and removes", async () => {
  const { plan } = await makeFolderServer();
  const nothing = { removed: 0, rechecked: 2, estimatedCalls: 0 };
  expect(await plan({ include: [], exclude: [] })).toEqual({ ...nothing, added: 3 });
  expect(await plan({ include: [], exclude: ["b/c"] })).toEqual({ ...nothing, added: 2 });
  expect(await plan({ include: ["b"], exclude: [] })).toEqual({ ...nothing, added: 3, removed: 2 });
  expect(await plan({ include: ["a.md"], exclude: [] })).toEqual({ ...nothing, added: 0, removed: 1 });
});

test("a source that can't say, or won't now, leaves it open", async () => {
  const unknown = { added: null, removed: 0, rechecked: 2, estimatedCalls: null };
  for (const countAdded of [
    undefined,
    async () => undefined,
    async () => {
      throw new ApiError("source_unavailable", { message: "No one answers." });
    },
  ]) {
    const { plan } = await makeFolderServer(({ countAdded: _real, ...source }) => ({
      ...source,
      ...(countAdded && { countAdded }),
    }));
    expect(await plan({ include: [], exclude: [] })).toEqual(unknown);
  }
});
