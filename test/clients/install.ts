import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A client in one exact version, as its registry has it. */
export interface Release {
  registry: "npm" | "PyPI";
  name: string;
  version: string;
  /** Other packages as they were in its time: its registry would give versions that it can't work with. */
  beside?: readonly string[];
}

/** Where clients are kept between runs: outside the checkout, whose packages they must not find. */
const CACHE = process.env["KB_TEST_CLIENTS_CACHE"] ?? join(homedir(), ".cache/kb-clients");

/** The name of a release as a folder, and in a selection of clients. */
export function idOf({ name, version }: Release): string {
  return `${name.replace(/^@/u, "").replaceAll("/", "-")}-${version}`;
}

/**
 * The folder of an installed client, installed now if it isn't there, without its install scripts.
 *
 * @throws Error when the registry or the machine can't give it
 */
export function install(release: Release): string {
  const folder = join(CACHE, idOf(release));
  if (existsSync(join(folder, "complete"))) return folder;
  mkdirSync(CACHE, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  if (release.registry === "npm") installFromNpm(release, folder);
  else installFromPypi(release, folder);
  return folder;
}

function installFromNpm({ name, version }: Release, folder: string): void {
  // Made beside its place and moved when it is whole: a run that is ended leaves no half client behind.
  const scratch = mkdtempSync(`${folder}-`);
  try {
    writeFileSync(join(scratch, "package.json"), "{}");
    run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", `${name}@${version}`], scratch);
    writeFileSync(join(scratch, "complete"), "");
    renameSync(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** In its place from the start: a virtual environment can't be moved. */
function installFromPypi({ name, version, beside = [] }: Release, folder: string): void {
  run("python3", ["-m", "venv", join(folder, "venv")], CACHE);
  run(join(folder, "venv/bin/pip"), ["install", "--quiet", `${name}==${version}`, ...beside], CACHE);
  writeFileSync(join(folder, "complete"), "");
}

function run(command: string, args: string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", timeout: 240_000 });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr.trim().slice(-300)}`);
}
