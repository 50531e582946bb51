import { type ApiError, isApiError } from "#api/errors.ts";

/** Whether records can be read and written now, by what the database answered last. */
export interface StorageHealth {
  /** Takes note of a failure, wherever the database was asked. */
  note(error: unknown): void;
  /** Why records can't be stored or read; a full disk is tried again, at most once a second. */
  findFault(): Promise<ApiError | undefined>;
  /** Told each time the state changes: the fault, or undefined when it is over. */
  onChange(listener: (fault: ApiError | undefined) => void): void;
}

const TRY_AGAIN_MS = 1_000;

/** @param probe  stores something small and takes it back; throws what storing throws */
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
    // What fails here was noted where it failed.
    const isBack = await probe().then(
      () => true,
      () => false,
    );
    if (isBack) change(undefined);
    asking = undefined;
  }

  return {
    note(error) {
      // A damaged file heals by nothing that happens here.
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
    onChange: (told) => void (listener = told),
  };
}
