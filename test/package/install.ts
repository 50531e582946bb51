import { execFile, execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = new URL("../..", import.meta.url).pathname;

/** Makes the package of what is built, as for a release. @returns the path of the tarball */
export async function pack(out: string): Promise<string> {
  const script = join(ROOT, "scripts/package.ts");
  await promisify(execFile)(process.execPath, ["--import", "tsx", script, "--built", "--out", out], { cwd: ROOT });
  const [file = ""] = readdirSync(out).filter((name) => name.endsWith(".tgz"));
  return join(out, file);
}

/** Unpacks a tarball beside the packages that it names and no others: no network, and nothing that development needs. */
export function unpackBesideModules(tarball: string, dir: string): string {
  execFileSync("tar", ["-xzf", tarball, "-C", dir]);
  const folder = join(dir, "package");
  // The file's own format.
  const { packages } = JSON.parse(readFileSync(join(folder, "npm-shrinkwrap.json"), "utf8")) as { packages: object };
  for (const place of Object.keys(packages)) {
    // Of packages for other systems none is installed.
    if (place === "" || !existsSync(join(ROOT, place))) continue;
    const isInside = (path: string) => !path.slice(join(ROOT, place).length).includes("node_modules");
    cpSync(join(ROOT, place), join(folder, place), { recursive: true, filter: isInside });
  }
  return join(folder, "dist/cli.js");
}

/** Installs a tarball as people do, into an empty prefix that nobody may write to afterwards. @throws Error without a registry */
export async function installGlobally(tarball: string, prefix: string): Promise<string> {
  mkdirSync(prefix, { recursive: true });
  const flags = ["--global", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--prefix", prefix];
  await promisify(execFile)("npm", ["install", ...flags, tarball], { timeout: 180_000 });
  lock(prefix);
  return join(prefix, "lib/node_modules/kb-connector-search/dist/cli.js");
}

function lock(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() || entry.name === "cli.js" ? 0o555 : 0o444);
  }
  chmodSync(folder, 0o555);
}

/** What may be deleted again. */
export function unlock(folder: string): void {
  if (!existsSync(folder)) return;
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755);
  }
}
