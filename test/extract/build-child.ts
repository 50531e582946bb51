import { mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "tsup";
import { onTestFinished } from "vitest";
import { findPackageRoot } from "#core/spawn.ts";

/**
 * Builds child entries as the product's build does (ESM, chunks, packages outside) and gives the folder. Built again in
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

/** Builds one program until the test ends; gives its file. It starts several times as fast as TypeScript does. */
export async function buildChild(path: string): Promise<string> {
  const name = basename(path, ".ts");
  const folder = await buildChildren(`${name}-${process.pid}`, { [name]: path });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, `${name}.js`);
}
