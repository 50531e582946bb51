import { type ApiError, isApiError } from "#api/errors.ts";

/** Whether records can be read and written now, from the database's latest answers. */
export interface StorageHealth {
  /** Records a failure, from any use of the database. */
  note(error: unknown): void;
  /** Returns why records can't be stored or read; a full disk is retried at most once a second. */
  findFault(): Promise<ApiError | undefined>;
  /** Calls `listener` on each change of state: with the fault, or undefined when it is over. */
  onChange(listener: (fault: ApiError | undefined) => void): void;
}

const TRY_AGAIN_MS = 1_000;

/** @param probe  stores something small and undoes it; throws the errors of storing */
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
    // A failure here was recorded where it happened.
    const isBack = await probe().then(
      () => true,
      () => false,
    );
    if (isBack) change(undefined);
    asking = undefined;
  }

  return {
    note(error) {
      // Nothing that happens here repairs a damaged file.
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
