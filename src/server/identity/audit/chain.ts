import { createHash } from "node:crypto";
import type { AuditCheck } from "#api/audit.ts";
import { defined } from "#core/defined.ts";
import { type AuditRow, canonicalJson, chainText } from "#storage/audit-chain.ts";
import type { AuditStore } from "#storage/records/audit.ts";

type ReadableChain = Pick<AuditStore, "readChain">;

/** Rows read at once; they take some milliseconds of this thread and under a megabyte. */
const PAGE = 500;

/**
 * Yields every row of the chain, the oldest first, a page at a time with a pause between pages. `since` omits older
 * rows.
 */
export async function* readRows(audit: ReadableChain, since?: number): AsyncGenerator<AuditRow[], void> {
  for (let after = 0; ;) {
    const rows = await audit.readChain({ after, limit: PAGE, ...defined({ since }) });
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.seq;
    // Reading is synchronous, so the pause lets other work run.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Checks the whole chain: the numbers have no gaps, each hash matches its row, and each row is linked to the previous
 * one.
 */
export async function checkChain(audit: ReadableChain): Promise<AuditCheck> {
  const found: AuditCheck = {
    isIntact: true,
    entries: 0,
    brokenAt: null,
    firstSeq: null,
    lastSeq: null,
    lastHash: null,
  };
  let before: AuditRow | undefined;
  for await (const rows of readRows(audit)) {
    for (const row of rows) {
      found.entries += 1;
      found.firstSeq ??= row.seq;
      if (found.brokenAt === null && !follows(row, before)) found.brokenAt = row.seq;
      before = row;
    }
  }
  const lastSeq = before?.seq ?? null;
  return { ...found, isIntact: found.brokenAt === null, lastSeq, lastHash: before?.hash ?? null };
}

/** A row as it is exported: the fields that its hash covers, and the hash. */
export function exportLine({ hash, ...row }: AuditRow): string {
  // This is exactly the text that was hashed, so that readers don't have to reconstruct it. The hash comes last.
  return `${chainText(row).slice(0, -1)},"hash":${canonicalJson(hash)}}\n`;
}

function follows(row: AuditRow, before: AuditRow | undefined): boolean {
  if (before !== undefined && row.seq !== before.seq + 1) return false;
  // A row without a hash is older than the chain, so only other such rows may precede it.
  if (row.hash === null) return row.previousHash === null && (before === undefined || before.hash === null);
  if (before !== undefined && row.previousHash !== before.hash) return false;
  return createHash("sha256").update(chainText(row)).digest("hex") === row.hash;
}
