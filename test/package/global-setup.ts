import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installGlobally, pack, unlock, unpackBesideModules } from "./install.ts";

/** System tests start the program as people get it: packed, installed with exactly its own packages, and read-only. */
export default async function setUp(): Promise<(() => void) | undefined> {
  if (process.env["KB_TEST_CLI"] !== undefined) return undefined;
  const dir = mkdtempSync(join(tmpdir(), "kb-installed-"));
  // Another user starts it, where tests are root.
  chmodSync(dir, 0o755);
  const [out, prefix, beside] = ["out", "prefix", "beside"].map((name) => join(dir, name)) as [string, string, string];
  mkdirSync(out);
  const tarball = await pack(out);
  try {
    process.env["KB_TEST_CLI"] = await installGlobally(tarball, prefix);
  } catch (error) {
    process.stderr.write(
      `The package could not be installed from a registry (${String(error).slice(0, 200)}): it is tested beside the packages of this folder.\n`,
    );
    mkdirSync(beside);
    process.env["KB_TEST_CLI"] = unpackBesideModules(tarball, beside);
  }
  process.env["KB_TEST_TARBALL"] = tarball;
  return () => {
    unlock(prefix);
    rmSync(dir, { recursive: true, force: true });
  };
}
