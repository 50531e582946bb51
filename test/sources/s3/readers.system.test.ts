import { describe, onTestFinished, test } from "vitest";
import type { Source } from "#sources/contract.ts";
import { makeS3Source } from "#sources/s3/index.ts";
import { openReaders, playReaders } from "../own-readers.ts";
import { findMoto, startMoto } from "./moto.ts";

const PYTHON = findMoto();
const KEYS = ["a.md", "b/1.txt", "b/2.txt", "b/c d+e.md", "ü.md", "z.txt"];

describe.skipIf(PYTHON === undefined)("s3 in the server, with a real server", { timeout: 240_000 }, () => {
  test("the readers of the config find what is there, at any time: first, after others read, and after 26 hours", async () => {
    if (PYTHON === undefined) return;
    const moto = await startMoto(PYTHON);
    onTestFinished(() => moto.stop());
    await moto.change(KEYS.map((key) => ({ key, text: `text of ${key}` })));
    // Its configurations were parsed by its own schema.
    const source = makeS3Source({ batching: { upserts: 2, seen: 3 } }) as unknown as Source;
    const endpoint = `http://127.0.0.1:${moto.port}`;
    const config = { endpoint, region: "eu-west-1", bucket: "files" };
    const world = await openReaders({
      source,
      connect: async ({ groupId }) => ({
        body: { config: { ...config, readers: [groupId] }, credentials: moto.users.reader },
      }),
      list: () => moto.keysOf(moto.users.reader),
    });
    await playReaders(world, {
      config,
      act: () =>
        moto.change([
          { key: "b/1.txt", text: "other words, as time went on" },
          { key: "new/since.md", text: "new" },
          { key: "z.txt" },
          { key: "b/2.txt" },
          { key: "e/2.txt", text: "text of b/2.txt" },
        ]),
    });
  });
});
