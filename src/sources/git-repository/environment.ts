import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AddressGuard } from "#net/address-guard.ts";
import type { GitEnvironment } from "./mirror.ts";
import { runGit } from "./program.ts";

/** Server settings for reading repositories. */
export interface GitPlaces {
  /** Returns the folders that may contain repositories on this machine. */
  allowedRoots(): Promise<readonly string[]>;
  /** kb's own data folder, which contains the mirrors. */
  dataFolder: string;
  guard: AddressGuard;
  /** The `PATH` in which git and ssh are found. */
  searchPath: string;
}

/** The oldest supported git. It reads names with line feeds safely and can pin addresses. */
const OLDEST = [2, 38] as const;

export async function whyUnavailable({ program }: GitEnvironment): Promise<string | undefined> {
  const { home: _home, ...rest } = program;
  const call = { signal: AbortSignal.timeout(10_000), timeoutMs: 5_000 };
  const output = await runGit({ ...rest, home: "/" }, ["--version"], call).catch(() => undefined);
  const [, major = "0", minor = "0"] = /^git version (\d+)\.(\d+)/.exec(output?.stdout.toString("utf8") ?? "") ?? [];
  if (output?.code !== 0) return "git is not installed here, or not in PATH.";
  const isOld = Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
  return isOld ? `git ${major}.${minor} is too old. kb needs ${OLDEST.join(".")} or newer.` : undefined;
}

/** Makes the environment. Call `prepare` before each use. */
export function makeEnvironment({
  allowedRoots,
  dataFolder,
  guard,
  searchPath,
}: GitPlaces): GitEnvironment & { prepare(): Promise<void> } {
  const folder = join(dataFolder, "git");
  const home = join(folder, "home");
  const askpass = join(folder, "askpass");
  return {
    allowedRoots,
    dataFolder,
    guard,
    program: { searchPath, home },
    folder,
    askpass,
    async prepare() {
      await mkdir(home, { recursive: true, mode: 0o700 });
      await writeFile(askpass, ASKPASS, { mode: 0o700 });
    },
  };
}

/** Prints the lines at file descriptors 3 (names) and 4 (passwords). The script itself contains no secret. */
const ASKPASS = `#!/bin/sh
case "$1" in
  [Uu]sername*) IFS= read -r line <&3 ;;
  *) IFS= read -r line <&4 ;;
esac
printf '%s\\n' "$line"
`;
