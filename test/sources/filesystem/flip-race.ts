import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { isApiError } from "#api/errors.ts";
import { openInside } from "#sources/filesystem/open-inside.ts";
import { openRoot } from "#sources/filesystem/root.ts";
import type { makeFolder } from "./fixture.ts";

/** Flips a file and its folder between the real thing and a link to the outside, in another process, as fast as it can. */
const FLIPPER = `
  const fs = require("node:fs");
  const [root, outside] = process.argv.slice(1);
  const swap = (path, target) => {
    try { fs.renameSync(path, path + ".real"); fs.symlinkSync(target, path); } catch {}
    try { fs.unlinkSync(path); fs.renameSync(path + ".real", path); } catch {}
  };
  for (;;) { swap(root + "/d", outside); swap(root + "/d/f.txt", outside + "/f.txt"); }
`;

/** Reads `d/f.txt` again and again while it is flipped; says how often the outside came through. */
export async function flipRace(folder: ReturnType<typeof makeFolder>, reads: number) {
  const outside = join(folder.base, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "f.txt"), "OUTSIDE");
  folder.write("d/f.txt", "inside");
  const root = await openRoot(folder.root, {
    allowedRoots: async () => [folder.root],
    dataFolder: join(folder.base, "data"),
  });
  const flipper = spawn(process.execPath, ["-e", FLIPPER, folder.root, outside], { stdio: "ignore" });
  onTestFinished(() => void flipper.kill("SIGKILL"));
  const outcome = { read: 0, refused: 0, leaked: 0 };
  let attempts = 0;
  // The flipper needs a moment to start: reads before the first refusal do not count.
  while (attempts < reads) {
    const text = await readOnce(root, "d/f.txt");
    if (text === undefined) outcome.refused += 1;
    else if (text === "inside") outcome.read += 1;
    else outcome.leaked += 1;
    if (outcome.refused > 0) attempts += 1;
  }
  flipper.kill("SIGKILL");
  return outcome;
}

async function readOnce(root: Awaited<ReturnType<typeof openRoot>>, rel: string): Promise<string | undefined> {
  try {
    const file = await openInside(root, rel);
    try {
      return Buffer.from(await file.read(100)).toString();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isApiError(error, "source_not_found")) return undefined;
    throw error;
  }
}
