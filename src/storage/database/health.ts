import { type ApiError, isApiError } from "#api/errors.ts";

/** Whether records can be read and written now, judged by the database's latest results. */
export interface StorageHealth {
  /** Records a failure of any operation on the database. */
  note(error: unknown): void;
  /**
   * Returns why records can't be stored or read; undefined when they can. Retries a full disk at most once a second.
   */
  findFault(): Promise<ApiError | undefined>;
  /** Calls `listener` on each change of state: with the fault, or with undefined when the fault is over. */
  onChange(listener: (fault: ApiError | undefined) => void): void;
}

const TRY_AGAIN_MS = 1_000;

/**
 * Makes the state of the storage's health.
 *
 * @param probe  stores something small and undoes it; throws the errors of storing
 */
export function makeStorageHealth(probe: () => Promise<unknown>, now: () => number): StorageHealth {
  let fault: ApiError | undefined;
  let listener: (fault: ApiError | undefined) => void = () => undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  function change(to: ApiError | undefined): void {
    const isNew = fault?.code !== to?.code;
    fault = to;
    if (isNew) listener(to);
  }

  async function ask(): Promise<void> {
    // A failure of the probe was already recorded where it happened.
    const isBack = await probe().then(
      () => true,
      () => false,
    );
    if (isBack) change(undefined);
    asking = undefined;
  }

  return {
    note(error) {
      // A damaged file isn't probed, because nothing that this process does repairs it.
      if (fault?.code === "database_damaged") return;
      if (isApiError(error, "storage_full") || isApiError(error, "database_unusable")) change(error);
      if (isApiError(error, "database_damaged")) change(error);
    },
    async findFault() {
      if (fault === undefined || fault.code === "database_damaged") return fault;
      if (asking === undefined && now() - askedAt >= TRY_AGAIN_MS) {
        askedAt = now();
        asking = ask();
      }
      await asking;
      return fault;
    },
    onChange: (added) => void (listener = added),
  };
}
