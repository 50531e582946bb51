import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = new URL("..", import.meta.url).pathname;

/** What a build is made of, besides the packages that the lock file names. */
const INPUTS = ["package.json", "package-lock.json", "tsup.config.ts", "vite.config.ts"];

/** The files that decide what a build holds, relative to the root, in a fixed order. */
export function inputFiles(): string[] {
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));
  return [...INPUTS, ...sources.toSorted()];
}

/** 16 hex digits that are equal for equal sources. */
export function buildId(): string {
  const hash = createHash("sha256");
  for (const file of inputFiles())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update("\0");
  return hash.digest("hex").slice(0, 16);
}

/**
 * `0.1.0-dev.20261126.g1a2b3c4`: the version in package.json that is being worked towards, the day of the commit (UTC) and the
 * commit, with `.dirty` where files differ from it. Without a repository `0.1.0-dev`.
 */
export function buildVersion(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    // A folder inside somebody else's repository is no clone of this one.
    if (git("rev-parse", "--show-prefix") !== "") return `${version}-dev`;
    const [seconds, commit] = git("log", "-1", "--format=%ct %h", "--abbrev=8").split(" ");
    const day = new Date(Number(seconds) * 1_000).toISOString().slice(0, 10).replaceAll("-", "");
    const isDirty = git("status", "--porcelain", "--untracked-files=no") !== "";
    return `${version}-dev.${day}.g${commit}${isDirty ? ".dirty" : ""}`;
  } catch {
    return `${version}-dev`;
  }
}
