import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = join(import.meta.dirname, "results.json");

/** What every client is asked to do, in this order. */
export const STEPS = ["sign-in", "list", "search", "restart", "refresh"] as const;
export type Step = (typeof STEPS)[number];

/** `not offered`: by this client without a model, or with a token, which isn't refreshed. */
export type Outcome = "passed" | "failed" | "not offered";

/** How far a client came the last time that it was tried. */
export interface Result {
  name: string;
  version: string;
  registry: "npm" | "PyPI";
  credential: "OAuth" | "token";
  steps: Record<Step, Outcome>;
  /** The first line of what failed. */
  reason?: string;
}

/** The committed results. */
export function readResults(): Result[] {
  // Written by this file.
  return JSON.parse(readFileSync(FILE, "utf8")) as Result[];
}

export function writeResults(results: readonly Result[]): void {
  writeFileSync(FILE, `${JSON.stringify(results, undefined, 2)}\n`);
}
