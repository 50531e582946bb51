/** What a failure says of the one thing that was asked for, the same for every provider. */
import { isApiError } from "#api/errors.ts";
import type { RefusalCode, Result, Skip } from "./outcomes.ts";

const REFUSALS = ["source_forbidden", "source_not_found", "source_gone"] as const;

/** Why the source would not show one thing; undefined for every other failure. */
export function refusalOf(error: unknown): RefusalCode | undefined {
  return REFUSALS.find((code) => isApiError(error, code));
}

/** What was read; undefined when it is refused: what this credential may not know lets nobody in. */
export async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (refusalOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The status with which a server answered and failed: at this one thing, then. Undefined when nothing came, and for every other failure. */
export function failedStatus(error: unknown): number | undefined {
  const status = isApiError(error, "source_unavailable") ? error.details?.["status"] : undefined;
  return typeof status === "number" ? status : undefined;
}

/** What was read; undefined when the answer isn't understood. */
export async function ifUnderstood<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (failedStatus(error) !== OK) throw error;
    return undefined;
  }
}

const OK = 200;

/** One thing that can't be read now: it stays as it is, is counted, and is tried again. */
export function failedSkip(externalId: string, message: string): Skip {
  return { t: "skip", externalId, reason: "failed", message, retryable: true };
}

/** What comes from one template fails for one reason: so many in a row say nothing of the others. */
const IN_A_ROW = 5;

export type Failures = ReturnType<typeof makeFailures>;

/**
 * Tells failures of single things from one of all: after each five in a row the provider is asked whether it is well.
 *
 * @param probe  throws when it isn't
 */
export function makeFailures(probe: () => Promise<unknown>) {
  let inARow = 0;
  let down: unknown;

  /** @throws the error when it is about more than this one thing, or what `probe` throws: that is about all, wherever it is caught */
  async function requireOfOne(error: unknown): Promise<void> {
    if (error === down || failedStatus(error) === undefined) throw error;
    if (++inARow % IN_A_ROW > 0) return;
    down = await failureOf(probe);
    if (down !== undefined) throw down;
  }

  return {
    /** One was read. */
    well(): void {
      inARow = 0;
    },
    requireOfOne,
    /** What is said of one that is refused, or fails, alone. @throws what is about more than it */
    async outcomeOf(
      externalId: string,
      error: unknown,
      message: string,
    ): Promise<Extract<Result, { t: "refused" | "skip" }>> {
      const code = refusalOf(error);
      if (code !== undefined) return { t: "refused", what: { externalId }, code };
      await requireOfOne(error);
      return failedSkip(externalId, message);
    },
  };
}

/** What a call failed with. One that is refused was answered: who refuses is well. */
async function failureOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return refusalOf(error) === undefined ? error : undefined;
  }
}
