import type { SourceProblem } from "#api/common.ts";
import { type ApiError, type ErrorCode, isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "./context.ts";
import type { SourceStanding } from "./contract.ts";

export type CheckOutcome = SourceStanding | { ok: false; problem: SourceProblem };

/** A usable source and its account, or a problem that was found without an exception. */
type Found = Omit<SourceStanding, "ok"> | { problem: SourceProblem };

/**
 * The text that people see for a failure: the problem, the next step, and the affected field of the config or of
 * `credentials`.
 */
type Words = Partial<Pick<SourceProblem, "code" | "message" | "hint" | "field">>;

/**
 * Text for each error code. A failure without its own entry keeps its message, and `otherwise` fills in missing fields.
 */
export type FailureWords = Partial<Record<ErrorCode, Words>> & { otherwise?: Words };

/**
 * Checks whether a source can be used, and turns a failure into a problem in the source's own words.
 *
 * @param words  the texts for each kind of failure
 * @param read  queries the source; an error that it throws becomes the problem
 * @throws programming errors, and the reason of an abort
 */
export async function runCheck(
  { signal }: Pick<SourceContext<unknown>, "signal">,
  words: FailureWords | ((error: ApiError) => FailureWords),
  read: () => Promise<Found>,
): Promise<CheckOutcome> {
  try {
    const found = await read();
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
