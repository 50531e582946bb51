import { ApiError } from "#api/errors.ts";

/**
 * Returns a signal whose reason names the provider that didn't answer in time. A plain timeout would be reported as an
 * error of kb.
 */
export function timeLimit(name: string, ms: number): AbortSignal {
  const controller = new AbortController();
  const message = `${name} takes too long to answer.`;
  setTimeout(() => controller.abort(new ApiError("source_unavailable", { message })), ms).unref();
  return controller.signal;
}
