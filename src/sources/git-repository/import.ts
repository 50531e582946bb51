import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiError } from "#api/errors.ts";
import type { LocalRepository } from "./local.ts";
import { GitFailed, type GitProgram, runGit } from "./program.ts";

/** The destination for objects from a repository on this machine. */
export interface ImportTarget {
  program: GitProgram;
  /** The mirror's git directory. */
  gitDir: string;
  /** The ref in the mirror that points at the commit after the import. */
  ref: string;
}

const IMPORT_MS = 2 * 3_600_000;

/**
 * Copies the objects that a repository on this machine has and the mirror lacks. Each pack is copied once, read from an
 * open file and indexed again, so that every object is checked. Loose objects are copied one by one. Git runs only in
 * the mirror.
 *
 * @throws ApiError `source_unavailable` if the commit isn't among the objects
 */
export async function importLocal(
  repository: LocalRepository,
  oid: string,
  target: ImportTarget,
  signal: AbortSignal,
): Promise<void> {
  const { program, gitDir, ref } = target;
  const list = join(gitDir, "imported-packs");
  // The list doesn't exist before the first import.
  const known = new Set((await readFile(list, "utf8").catch(() => "")).split("\n"));
  const packs = await repository.packs();
  for (const pack of packs.filter((name) => !known.has(name))) {
    const file = await repository.openPack(pack);
    try {
      await run(["index-pack", "--stdin"], file.fd);
    } finally {
      await file.close();
    }
    known.add(pack);
    await replace(list, packs.filter((name) => known.has(name)).join("\n"));
  }
  await repository.copyLoose(join(gitDir, "objects"), signal);
  const shallow = await repository.shallow();
  if (shallow.length > 0) await replace(join(gitDir, "shallow"), `${shallow.join("\n")}\n`);
  const output = await runGit(program, ["cat-file", "-e", `${oid}^{tree}`], { gitDir, signal, timeoutMs: IMPORT_MS });
  if (output.code !== 0) {
    throw new ApiError("source_unavailable", {
      message: "The repository is missing objects: it is being changed, or it is a partial clone.",
      field: "url",
    });
  }
  await run(["update-ref", ref, oid]);

  async function run(args: readonly string[], input?: number): Promise<void> {
    const output = await runGit(program, args, { gitDir, input, signal, timeoutMs: IMPORT_MS });
    if (output.code !== 0) throw new GitFailed(args, output);
  }
}

async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}
