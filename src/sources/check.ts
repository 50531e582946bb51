import type { SourceProblem } from "#api/common.ts";
import { type ApiError, type ErrorCode, isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "./context.ts";
import type { SourceStanding } from "./contract.ts";

export type CheckOutcome = SourceStanding | { ok: false; problem: SourceProblem };

/** A source that can be used, and as whom; or what is wrong though nothing failed. */
type Found = Omit<SourceStanding, "ok"> | { problem: SourceProblem };

/** What people are told of a failure: what is wrong, what to do, and which part of the config or `credentials` it is about. */
type Words = Partial<Pick<SourceProblem, "code" | "message" | "hint" | "field">>;

/** Words by the code of the failure. Without its own, a failure keeps its message, and `otherwise` adds what it lacks. */
export type FailureWords = Partial<Record<ErrorCode, Words>> & { otherwise?: Words };

/**
 * Whether a source can be used. A failure becomes a problem, in the source's own words.
 *
 * @param words  for every failure, or for this one
 * @param look  asks the source; what it throws is the problem
 * @throws what is a mistake of the program, and the reason of an abort
 */
export async function runCheck(
  { signal }: Pick<SourceContext<unknown>, "signal">,
  words: FailureWords | ((error: ApiError) => FailureWords),
  look: () => Promise<Found>,
): Promise<CheckOutcome> {
  try {
    const found = await look();
    if ("problem" in found) return { ok: false, problem: found.problem };
    const { warnings = [], ...standing } = found;
    return { ok: true, ...standing, ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    signal.throwIfAborted();
    if (!isApiError(error)) throw error;
    return { ok: false, problem: describe(error, typeof words === "function" ? words(error) : words) };
  }
}

function describe({ code, message, hint, field, retryAfterMs }: ApiError, words: FailureWords): SourceProblem {
  const own = words[code];
  if (own) return { code, message, ...defined({ hint, field }), ...own };
  const { otherwise = {} } = words;
  return { code, message, ...otherwise, ...defined({ hint, field, retryAfterMs }) };
}
