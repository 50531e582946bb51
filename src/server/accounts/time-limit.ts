import { ApiError } from "#api/errors.ts";

/** A signal whose reason names the party at fault: a plain timeout would be reported as an error of kb. */
export function timeLimit(name: string, ms: number): AbortSignal {
  const controller = new AbortController();
  const message = `${name} takes too long to answer.`;
  setTimeout(() => controller.abort(new ApiError("source_unavailable", { message })), ms).unref();
  return controller.signal;
}
