import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ApiError } from "#api/errors.ts";
import { shortageOf } from "./shortage.ts";

/** The programs that run outside the main thread: three kinds of worker thread and one kind of child process. */
export type SpawnEntry = "writer" | "searcher" | "counter" | "extractor";

/**
 * Returns the absolute path of a built worker or child entry, `dist/<entry>.js` of this package, for `new Worker(path)`
 * and for `spawn(process.execPath, [path])`. Finds the same file whether the caller runs bundled from `dist/` or from
 * `src/` (tsx, vitest). Node 20 cannot start a worker from TypeScript, so even then the built entry is used.
 *
 * @param from module URL to search upwards from; an argument for tests only
 * @throws ApiError `unavailable` when the entry was not built
 */
export function findSpawnEntry(entry: SpawnEntry, from: string = import.meta.url): string {
  const path = join(findPackageRoot(from), "dist", `${entry}.js`);
  if (existsSync(path)) return path;
  throw new ApiError("unavailable", {
    message: `The program file ${path} is missing, so "${entry}" cannot start.`,
    hint: "npm run build",
  });
}

/**
 * Returns the absolute path of the folder that contains this package's `package.json`, searched upwards from a module
 * URL.
 */
export function findPackageRoot(from: string = import.meta.url): string {
  let folder = dirname(fileURLToPath(from));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) {
      throw new ApiError("unavailable", {
        message: `No package.json above ${fileURLToPath(from)}.`,
        hint: "Reinstall kb-connector-search.",
      });
    }
    folder = parent;
  }
  return folder;
}

/**
 * Starts a program. If no pipes can be opened, Node returns a process without them, and reports the error a moment
 * later.
 *
 * @throws ApiError `resources_exhausted` when no pipes can be opened
 */
export function startProgram(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options);
  if ((child.stdio as ChildProcess["stdio"] | undefined) !== undefined) return child;
  child.on("error", () => undefined);
  throw shortageOf("EMFILE");
}
