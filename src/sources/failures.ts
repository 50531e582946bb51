/** Interprets the failure of one requested thing in the same way for every provider. */
import { type ApiError, isApiError } from "#api/errors.ts";
import type { ContainerRef } from "./item.ts";
import type { RefusalCode, Result, Skip } from "./outcomes.ts";

const REFUSALS = ["source_forbidden", "source_not_found", "source_gone"] as const;

/** Returns why the source refused one thing; undefined for every other failure. */
export function refusalOf(error: unknown): RefusalCode | undefined {
  return REFUSALS.find((code) => isApiError(error, code));
}

/**
 * Returns what was read, or undefined if the source refuses it: data that this credential can't see grants no access.
 */
export async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (refusalOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Returns what was read, or undefined if it doesn't exist. */
export async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isApiError(error, "source_not_found")) throw error;
    return undefined;
  }
}

/**
 * Returns the status if a server answered with a failure, which then concerns only this thing. Undefined if no answer
 * came, and for every other failure.
 */
export function failedStatus(error: unknown): number | undefined {
  const status = isApiError(error, "source_unavailable") ? error.details?.["status"] : undefined;
  return typeof status === "number" ? status : undefined;
}

/** Returns what was read, or undefined if the answer could not be parsed. */
export async function ifUnderstood<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (failedStatus(error) !== OK) throw error;
    return undefined;
  }
}

const OK = 200;

/**
 * Builds the event for a thing that can't be read now. Its stored item stays unchanged, the failure is counted, and the
 * thing is retried.
 */
export function failedSkip(externalId: string, message: string): Skip {
  return { t: "skip", externalId, reason: "failed", message, retryable: true };
}

/** Builds the event for a thing that isn't read, for a reason that a retry would not change. */
export function leftOut(externalId: string, reason: Skip["reason"], message: string): Skip {
  return { t: "skip", externalId, reason, message, retryable: false };
}

/** Builds the event for a thing that the source refuses. */
export function refused(externalId: string, code: RefusalCode): Refused {
  return { t: "refused", what: { externalId }, code };
}

export function refusedContainer(container: ContainerRef, code: RefusalCode): Refused {
  return { t: "refused", what: { container }, code };
}

type Refused = Extract<Result, { t: "refused" }>;

/**
 * This many failures in a row may have one common cause, such as a shared template, so they don't prove that everything
 * fails.
 */
const IN_A_ROW = 5;

export type Failures = ReturnType<typeof makeFailures>;

/**
 * Separates failures of single things from an outage: after each five in a row it checks the provider with `probe`.
 *
 * @param probe  throws when the provider is down
 */
export function makeFailures(probe: () => Promise<unknown>) {
  let inARow = 0;
  let down: unknown;

  /**
   * Checks that an error concerns only this one thing.
   * @throws the error if it concerns more than this thing, or the error of `probe`, which concerns everything wherever
   * it is caught
   */
  async function requireOfOne(error: unknown): Promise<void> {
    if (error === down || failedStatus(error) === undefined) throw error;
    if (++inARow % IN_A_ROW > 0) return;
    down = await failureOf(probe);
    if (down !== undefined) throw down;
  }

  return {
    /** Records that one thing was read. */
    well(): void {
      inARow = 0;
    },
    requireOfOne,
    /**
     * Reads one of several lists of a thing. If only this list fails, its error is returned, so that the other lists
     * are still read.
     * @throws errors that concern more than this list
     */
    async *alone<Event>(list: ListReading<Event>): AsyncGenerator<Event, ApiError | undefined> {
      try {
        if (list instanceof Promise) await list;
        else yield* list;
        inARow = 0;
        return undefined;
      } catch (error) {
        await requireOfOne(error);
        if (!isApiError(error)) throw error;
        return error;
      }
    },
    /**
     * Builds the event for a thing that is refused or fails while others work.
     * @throws errors that concern more than this thing
     */
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

/** A list that is being read. Its records are either reported as events or only collected. */
export type ListReading<Event> = AsyncIterable<Event> | Promise<void>;

/** Returns the error of a call. A refusal counts as an answer, since the provider is up. */
async function failureOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return refusalOf(error) === undefined ? error : undefined;
  }
}
