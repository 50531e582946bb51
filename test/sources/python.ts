import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A Python that has some packages, and what it needs to find them. */
export interface Python {
  command: string;
  env: NodeJS.ProcessEnv;
}

interface Wanted {
  /** Runs without a failure where they are there. */
  probe: string;
  /** What to install for that, at exact versions. */
  packages: readonly string[];
  /** The name of the folder that they are kept in. */
  cache: string;
  /** What is not tried without, for the message. */
  what: string;
}

/**
 * The Python that `KB_TEST_PYTHON` names or the machine's own, if it has these packages; otherwise they are installed once,
 * beside the packages of this project. Undefined when there is none, which is said.
 */
export function findPythonWith({ probe, packages, cache: name, what }: Wanted): Python | undefined {
  const named = process.env["KB_TEST_PYTHON"];
  const cache = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "../.cache", name);
  const candidates: Python[] = [
    ...(named !== undefined && named !== "1" ? [{ command: named, env: process.env }] : []),
    { command: "python3", env: process.env },
    { command: "python3", env: { ...process.env, PYTHONPATH: cache } },
  ];
  const has = ({ command, env }: Python) => spawnSync(command, ["-c", probe], { env, timeout: 20_000 }).status === 0;
  const found = candidates.find(has) ?? (install(packages, cache) ? candidates.slice(-1).find(has) : undefined);
  if (found === undefined) {
    process.stderr.write(
      `${what}: not tried with a real server (no python with ${packages.join(", ")}; KB_TEST_PYTHON names one).\n`,
    );
  }
  return found;
}

function install(wanted: readonly string[], cache: string): boolean {
  mkdirSync(dirname(cache), { recursive: true });
  // Beside its place: nothing can be moved to another file system.
  const scratch = mkdtempSync(`${cache}-`);
  try {
    const venv = join(scratch, "venv");
    if (spawnSync("python3", ["-m", "venv", venv], { timeout: 60_000 }).status !== 0) return false;
    const packages = join(scratch, "packages");
    const pip = [join(venv, "bin/pip"), ["install", "--quiet", "--target", packages, ...wanted]] as const;
    if (spawnSync(pip[0], pip[1], { timeout: 180_000 }).status !== 0) return false;
    // Another test file may have been faster.
    if (!existsSync(cache)) renameSync(packages, cache);
    return true;
  } catch {
    return existsSync(cache);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
