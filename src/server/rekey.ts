import { isApiError } from "#api/errors.ts";
import { SEALED_TABLES, type SealedTable } from "#storage/records/sealed.ts";
import type { Store } from "#storage/records/store.ts";
import type { Vault } from "#storage/vault.ts";

export interface RekeyProgress {
  /** Sealed values checked so far, out of all. */
  done: number;
  total: number;
  /** Values sealed again with the newest key in this run. */
  resealed: number;
  /** Values that none of the keys can open. */
  unreadable: number;
}

const PAGE = 200;

/**
 * Seals again everything that was sealed with an older key. Progress is stored, so after an interruption it continues
 * with the rest.
 */
export async function rekey(
  { store, vault }: { store: Store; vault: Vault },
  onProgress: (progress: RekeyProgress) => void,
): Promise<RekeyProgress> {
  const progress: RekeyProgress = { done: 0, total: await store.sealed.count(), resealed: 0, unreadable: 0 };
  // The record's keys are the table names.
  for (const table of Object.keys(SEALED_TABLES) as SealedTable[]) {
    for (let after: readonly string[] | undefined; ;) {
      const page = await store.sealed.page(table, after, PAGE);
      await store.transaction(async (tx) => {
        for (const row of page) {
          const again = sealAgain(vault, table, row);
          if (again === "unreadable") progress.unreadable++;
          else if (again !== undefined) {
            await tx.sealed.reseal(table, row, again);
            progress.resealed++;
          }
        }
      });
      progress.done += page.length;
      onProgress(progress);
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      after = last.key;
    }
  }
  return progress;
}

/** Undefined if the value is already sealed with the newest key. */
function sealAgain(
  vault: Vault,
  table: SealedTable,
  { key, sealed }: { key: readonly string[]; sealed: string },
): string | undefined {
  if (!vault.isOutdated(sealed)) return undefined;
  const place = { table, row: key, column: "sealed" };
  try {
    return vault.seal(place, vault.open(place, sealed));
  } catch (error) {
    if (isApiError(error, "secret_unreadable")) return "unreadable";
    throw error;
  }
}
