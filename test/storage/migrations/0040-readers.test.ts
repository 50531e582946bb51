import { sql } from "kysely";
import { expect, test } from "vitest";
import { up } from "#storage/migrations/0040-readers.ts";
import type { ItemsTable } from "#storage/schema.ts";
import { makeWorld } from "../access/fixtures.ts";
import { runMigration } from "./run.ts";

/** As a program without readers' versions would have left them: `reader` and version are what they are expected to get. */
const STORED: Record<
  string,
  { row: Partial<ItemsTable>; text?: string; gets: [string | null, number | null]; isOlder?: true }
> = {
  "failed Markdown": {
    row: {
      mimeType: "text/markdown",
      textReason: "failed",
      textMessage: "The file can't be read as text/markdown: parseDocument is not a function.",
    },
    gets: ["text/markdown", 1],
    isOlder: true,
  },
  "failed Markdown of another declared type": {
    row: {
      mimeType: "application/octet-stream",
      textReason: "failed",
      textMessage: "The file can't be read as text/markdown: x is not a function.",
    },
    gets: ["text/markdown", 1],
    isOlder: true,
  },
  "Markdown whose former text stayed": {
    row: {
      mimeType: "text/markdown",
      textReason: "failed",
      textMessage: "The file can't be read as text/markdown: y.",
      textHash: "h",
    },
    text: "# Former",
    gets: ["text/markdown", 1],
    isOlder: true,
  },
  "Markdown that was read": { row: { mimeType: "text/markdown" }, text: "# Title", gets: ["text/markdown", 2] },
  "an API in YAML": {
    row: { mimeType: "application/yaml" },
    text: "openapi: 3.1.0\n",
    gets: ["application/yaml", 1],
    isOlder: true,
  },
  "an API by its name alone": {
    row: { mimeType: "text/plain", key: "API.YML", title: "API" },
    text: 'swagger: "2.0"\n',
    gets: ["application/yaml", 1],
    isOlder: true,
  },
  "other YAML": { row: { mimeType: "application/yaml" }, text: "kind: Deployment\n", gets: ["application/yaml", 2] },
  "a failed PDF": {
    row: {
      mimeType: "application/pdf",
      textReason: "failed",
      textMessage: "The file can't be read as application/pdf: no pages.",
    },
    gets: ["application/pdf", 1],
  },
  "a file that ended its process": {
    row: {
      mimeType: "application/pdf",
      textReason: "failed",
      textMessage: "Reading the file took more memory than allowed.",
    },
    gets: ["*", 1],
  },
  code: { row: { mimeType: "text/x-python" }, text: "x = 1", gets: ["text/x-python", 1] },
  "what nothing reads": {
    row: { mimeType: "application/x-elf", textReason: "unsupported_type" },
    gets: ["application/x-elf", 0],
  },
  "an archive that was left closed": {
    row: { mimeType: "application/zip", textReason: "unsupported_type" },
    gets: ["application/zip", 1],
  },
  "too large": { row: { mimeType: "application/pdf", textReason: "too_large" }, gets: [null, null] },
  "a message": { row: { mimeType: null }, text: "Hello", gets: [null, null] },
};

test("stored items get the reader that read them, and what the faulty program failed at is read again", async () => {
  const world = await makeWorld();
  const { file, write, read } = world.database;
  const workspaceId = await world.workspace();
  const connectorId = await world.connector(workspaceId);
  const ids: Record<string, string> = {};
  for (const [name, { row, text = "" }] of Object.entries(STORED)) {
    const kbId = await world.item(workspaceId, { connectorId, text, key: null, ...row });
    ids[kbId] = name;
  }
  await sql`drop index items_by_reader`.execute(write);
  for (const column of ["reader", "readerVersion", "readAgainAt"])
    await sql`alter table items drop column ${sql.ref(column)}`.execute(write);

  await runMigration(file, up);
  const rows = await read.selectFrom("items").select(["kbId", "reader", "readerVersion"]).execute();
  const got = Object.fromEntries(rows.map(({ kbId, reader, readerVersion }) => [ids[kbId], [reader, readerVersion]]));
  expect(got).toEqual(Object.fromEntries(Object.entries(STORED).map(([name, { gets }]) => [name, gets])));

  const older = Object.values(STORED).filter(({ isOlder }) => isOlder).length;
  expect(await world.store.in(workspaceId).itemWrites.countOlder(connectorId, versionThen)).toBe(older);
});

/** The version that a reader had when the migration was written: they have become better since. */
function versionThen(reader: string): number {
  return Math.max(...Object.values(STORED).map(({ gets: [name, version] }) => (name === reader ? (version ?? 0) : 0)));
}
