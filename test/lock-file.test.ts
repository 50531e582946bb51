import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface LockFile {
  packages: Record<string, { version?: string; optionalDependencies?: Record<string, string> }>;
}

/**
 * `npm install` leaves a platform's package out when the registry does not have it, and `npm ci` then refuses the whole
 * file on every machine. Source: docs/decisions/0007.
 */
test("the lock file holds every package that it names, for every platform", () => {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as LockFile;
  const known = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
  const named = Object.values(packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  const unnumbered = Object.entries(packages).filter(([, { version }]) => version === undefined || version === "");
  expect(unnumbered.map(([path]) => path)).toEqual([]);
});
