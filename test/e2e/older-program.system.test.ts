/** An index that a program has left in whose bundle the YAML parser had lost its names. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { openWriter } from "#storage/sqlite.ts";
import { tempDir } from "../temp-dir.ts";
import { signInAdmin, startServerProcess } from "./server-process.ts";

const FRONT_MATTER = "---\ntitle: Harbour\nowner: Ana\n---\n# Tides\n\nHigh water at the lighthouse.\n";
const API = `openapi: 3.1.0
info: { title: Depot, version: "1" }
paths:
  /parcels:
    post: { operationId: sendParcel, summary: Sends a parcel }
`;

/**
 * Makes the database what that program has left (Markdown `failed`, the API as the text it is), with the first versions of the
 * readers that it had.
 */
function leaveAsBefore(file: string): void {
  const connection = openWriter(file, "normal");
  try {
    connection.execute(
      `update items set textReason = 'failed', retryAt = null, indexState = 'failed', textHash = null, textChars = 0,
       sections = '[]', title = "key", indexHash = 'failed',
       textMessage = 'The file can''t be read as text/markdown: parseDocument is not a function.'
       where externalId like '%.md' and externalId <> 'plain.md'`,
      [],
    );
    const ids = "(select kbId from items where textReason = 'failed' or externalId = 'api.yaml')";
    connection.execute(`delete from item_texts where kbId in ${ids}`, []);
    connection.execute(
      `insert into item_texts (workspaceId, kbId, chunk, start, text, line)
       select workspaceId, kbId, 0, 0, ?, 1 from items where externalId = 'api.yaml'`,
      [API],
    );
    connection.execute(
      "update items set textHash = 'raw', sections = '[]', indexHash = 'raw' where externalId = 'api.yaml'",
      [],
    );
    connection.execute("update items set readerVersion = 1", []);
  } finally {
    connection.close();
  }
}

test("a data folder of before is mended by itself: what older readers have read is read again", async ({ expect }) => {
  const dataDir = join(tempDir(), "data");
  const folder = join(tempDir(), "files");
  mkdirSync(folder);
  for (const n of [1, 2, 3]) writeFileSync(join(folder, `front-${n}.md`), FRONT_MATTER);
  writeFileSync(join(folder, "plain.md"), "# Plain\n\nNo front matter.\n");
  writeFileSync(join(folder, "api.yaml"), API);
  const env = { KB_LOCAL_ROOTS: folder };
  const before = await startServerProcess(dataDir, env);
  const then = await signInAdmin(before.url);
  // Nobody asks for anything, and no schedule does.
  const body = { providerId: "filesystem", name: "Docs", config: { root: folder, watch: false }, schedule: null };
  const { connector } = (await then("POST", "/api/connectors", { ...body, access: { visibility: "workspace" } })).json;
  const path = `/api/connectors/${connector.id}`;
  await expect.poll(async () => (await then("GET", path)).json.connector.counts.indexed).toBe(5);
  await before.stop();
  leaveAsBefore(join(dataDir, "kb.db"));

  const after = await startServerProcess(dataDir, env);
  const now = await signInAdmin(after.url);
  const counts = async () => (await now("GET", path)).json.connector.counts;
  await expect.poll(counts).toMatchObject({ indexed: 5, failed: 0, toReadAgain: 0 });
  await expect
    .poll(async () => (await now("GET", `${path}/syncs`)).json.syncs[0])
    .toMatchObject({ trigger: "reader", mode: "items", state: "succeeded", progress: { total: 5 } });
  const { syncs } = (await now("GET", `${path}/syncs`)).json;
  expect([syncs.length, syncs[0].counts]).toMatchObject([2, { seen: 5, failed: 0, deleted: 0 }]);
  const search = async (query: string) =>
    (await now("GET", `/api/connectors/search?query=${encodeURIComponent(query)}`)).json.results;
  expect(await search("lighthouse")).toHaveLength(3);
  expect((await search("owner:ana tides"))[0]).toMatchObject({ title: "Harbour" });
  expect((await search("sends a parcel"))[0]).toMatchObject({ title: "Depot" });
});
