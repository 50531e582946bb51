/** The wire format of Drive's files, as `emulate` speaks it; it has no permissions, changes or shared drives. */
import { inMemory, SPOOL } from "../../spool.ts";
import { createEmulator } from "emulate";
import { expect, onTestFinished, test } from "vitest";
import { makeClient } from "#sources/google-drive/client.ts";
import { GOOGLE, GoogleDriveConfig } from "#sources/google-drive/config.ts";
import { makeGoogleDriveSource } from "#sources/google-drive/index.ts";
import { readContent } from "#sources/content.ts";
import { openWays } from "../../kit/network.ts";

const FOLDER = "application/vnd.google-apps.folder";

test("folders and files are listed page by page, and read", { timeout: 60_000 }, async () => {
  const files = Array.from({ length: 7 }, (_, nth) => ({
    id: `file_${nth}`,
    user_email: "anna@acme.test",
    name: `notes-${nth}.txt`,
    mime_type: "text/plain",
    parent_ids: ["folder_a"],
    data: `Notes of day ${nth}.`,
  }));
  const folder = {
    id: "folder_a",
    user_email: "anna@acme.test",
    name: "Days",
    mime_type: FOLDER,
    parent_ids: ["root"],
  };
  const seed = {
    users: [{ email: "anna@acme.test", name: "Anna" }],
    drive_items: [folder, ...files],
  };
  const emulator = await createEmulator({ service: "google", port: 0, seed: { google: seed } } as never);
  onTestFinished(() => emulator.close());
  const apiUrl = emulator.url.replace("localhost", "127.0.0.1").replace(/\/$/, "");
  const account = {
    key: "acc_1",
    origins: [apiUrl],
    accessToken: async () => "of-anna",
    refresh: async () => "of-anna",
  };
  const source = makeGoogleDriveSource({ places: { ...GOOGLE, apiUrl } });
  const config = GoogleDriveConfig.parse({});
  const { http } = openWays(
    { source: source as never, config, credentials: {}, account, signal: new AbortController().signal },
    () => undefined,
  );
  const client = makeClient({ http }, { ...GOOGLE, apiUrl });

  const pages: string[][] = [];
  for await (const page of client.list("'folder_a' in parents", undefined, undefined, 3))
    pages.push(page.files.map(({ id }) => id));
  expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
  expect(pages.flat().sort()).toEqual(files.map(({ id }) => id));
  expect(await client.get("file_3")).toMatchObject({ id: "file_3", name: "notes-3.txt", parents: ["folder_a"] });
  expect(await client.find("file_99")).toBeUndefined();
  const { body } = await client.download("file_3", 1_000);
  expect(Buffer.from(inMemory((await readContent({ stream: body }, SPOOL)) ?? new Uint8Array())).toString()).toBe(
    "Notes of day 3.",
  );
});
