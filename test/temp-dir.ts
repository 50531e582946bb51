import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder that goes away with the test; one that runs at once with others gives its own `atEnd`. */
export function tempDir(atEnd: (remove: () => void) => void = onTestFinished): string {
  const dir = mkdtempSync(join(tmpdir(), "kb-test-"));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
