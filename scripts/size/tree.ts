import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type FileSize, measure } from "./measure.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Written by `scripts/generate.ts`. */
const GENERATED = /(?:^|\/)generated\//;

export function isCounted(path: string): boolean {
  return /^src\/.*\.tsx?$/.test(path) && !GENERATED.test(path);
}

export function readTree(): FileSize[] {
  return readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .map((path) => `src/${path}`)
    .filter(isCounted)
    .sort()
    .map((path) => measure(path, readFileSync(join(ROOT, path), "utf8")));
}
