import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HeldBytes, makeSpool } from "#core/spool.ts";
import { makeByteBudget } from "#server/sync/bytes/byte-budget.ts";

const folder = join(tmpdir(), `kb-spool-${process.pid}`);

/** A spool that works; its folder is made when something large comes. */
export const SPOOL = makeSpool(folder);

process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** What the syncs of a worker take the bytes of files with. */
export const makeSyncBytes = () => ({ spool: SPOOL, budget: makeByteBudget(256 * 1024 * 1024) });

/** A spool in a folder of its own, which the test looks into. */
export function makeOwnSpool(atEnd: (remove: () => void) => void) {
  const own = mkdtempSync(join(tmpdir(), "kb-spool-"));
  atEnd(() => rmSync(own, { recursive: true, force: true }));
  return { folder: own, spool: makeSpool(own) };
}

/** Bytes that are too few to be spooled. */
export function inMemory(bytes: HeldBytes): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  throw new Error("The bytes are spooled.");
}
