import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "tsup";
import { findPackageRoot } from "#core/spawn.ts";

/**
 * Builds child entries as the product's build does (ESM, chunks, packages outside) and gives the folder. Built anew in
 * every test file, below node_modules, so that a stale `dist` proves nothing and imports of packages are found.
 */
export async function buildChildren(name: string, entries: Record<string, string>): Promise<string> {
  const root = findPackageRoot();
  const outDir = join(root, "node_modules", ".cache", "kb-extract", name);
  mkdirSync(outDir, { recursive: true });
  await build({
    config: false,
    entry: Object.fromEntries(Object.entries(entries).map(([key, path]) => [key, join(root, path)])),
    outDir,
    format: ["esm"],
    target: "node20",
    platform: "node",
    splitting: true,
    clean: true,
    silent: true,
  });
  return outDir;
}
