import { isApiError } from "#api/errors.ts";
import { SEALED_TABLES, type SealedTable } from "#storage/records/sealed.ts";
import type { Store } from "#storage/store.ts";
import type { Vault } from "#storage/vault.ts";

export interface RekeyProgress {
  /** Envelopes looked at, of all. */
  done: number;
  total: number;
  /** Those that the newest key seals since now. */
  resealed: number;
  /** Those that no key here opens. */
  unreadable: number;
}

const PAGE = 200;

/**
 * Seals everything again that an older key has sealed. What is done stays done: after an interruption it goes on with what
 * is left.
 */
export async function rekey(
  { store, vault }: { store: Store; vault: Vault },
  onProgress: (progress: RekeyProgress) => void,
): Promise<RekeyProgress> {
  const progress: RekeyProgress = { done: 0, total: await store.sealed.count(), resealed: 0, unreadable: 0 };
  // Keys of that record.
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

/** Undefined for what the newest key has sealed already. */
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
