import type { ChildProcess } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { checkBuild } from "#core/build.ts";
import { startProgram } from "#core/spawn.ts";
import type { ExtractLimits, InnerLimits } from "./limits.ts";

export interface SpawnOptions {
  /** The program to run: this process's Node, unless a test uses another. */
  nodePath: string;
  nodeVersion: string;
  childPath: string;
  limits: ExtractLimits;
}

/**
 * Starts an extraction child with minimal privileges: no environment, no descriptors except two pipes, a heap cap, no code from strings, and read
 * access to its own program only, by Node's permission model. Source: S44.
 *
 * @throws ApiError `resources_exhausted`
 */
export function spawnChild(options: SpawnOptions): ChildProcess {
  checkBuild();
  const { limits, childPath } = options;
  const { maxBytes, maxTextLength, pdfTimeoutMs } = limits;
  const flags = [
    ...permissionFlags(options.nodeVersion, childPath),
    `--max-old-space-size=${limits.heapMegabytes}`,
    // Limits the memory for short-lived objects: Node's default of 16 MB costs each child 15 MB more and isn't faster.
    "--max-semi-space-size=4",
    "--disallow-code-generation-from-strings",
    "--no-warnings",
  ];
  return startProgram(
    options.nodePath,
    [...flags, childPath, JSON.stringify({ maxBytes, maxTextLength, pdfTimeoutMs } satisfies InnerLimits)],
    {
      env: {},
      cwd: dirname(childPath),
      stdio: ["pipe", "ignore", "ignore", "pipe"],
      windowsHide: true,
    },
  );
}

/** Returns the options of the permission model with the names that this version of Node uses; empty if it has none. */
export function permissionFlags(nodeVersion: string, childPath: string): string[] {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/u, "").split(".").map(Number);
  if (major < 20) return [];
  const isStable = major > 23 || (major === 23 && minor >= 5) || (major === 22 && minor >= 13);
  return [
    isStable ? "--permission" : "--experimental-permission",
    ...readablePaths(childPath).map((path) => `--allow-fs-read=${path}`),
  ];
}

/** Returns the child's own folder, its package.json, and every node_modules folder that may contain its imports. */
function readablePaths(childPath: string): string[] {
  // A missing file isn't an error here: the child's failed start reports it, like any other reason.
  const folder = dirname(existsSync(childPath) ? realpathSync(childPath) : childPath);
  const paths = [`${folder}${sep}`];
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, "node_modules"))) paths.push(`${join(at, "node_modules")}${sep}`);
    if (existsSync(join(at, "package.json"))) paths.push(join(at, "package.json"));
    if (at === dirname(at)) return paths;
  }
}
