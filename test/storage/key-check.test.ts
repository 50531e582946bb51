import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDataFolder, readFolderKey } from "#storage/data-folder.ts";
import { noteKey, requireSameKey } from "#storage/key-check.ts";
import { makeServer } from "../helpers.ts";
import { tempDir } from "../temp-dir.ts";

test("a key other than the one that the database was used with is refused until it is accepted", async () => {
  const { store } = await makeServer();
  const dir = tempDir();
  const folder = openDataFolder(dir);
  const first = folder.openKey(false);
  await requireSameKey(store.installation, first, dir);
  await requireSameKey(store.installation, readFolderKey(dir), dir);
  rmSync(join(dir, "secret.key"));
  const other = folder.openKey(false);
  folder.release();
  await expect(requireSameKey(store.installation, other, dir)).rejects.toMatchObject({
    code: "data_folder_unusable",
    message: expect.stringContaining("kb admin accept-key"),
  });
  await noteKey(store.installation, other);
  await requireSameKey(store.installation, other, dir);
  await expect(requireSameKey(store.installation, first, dir)).rejects.toMatchObject({ code: "data_folder_unusable" });
});
