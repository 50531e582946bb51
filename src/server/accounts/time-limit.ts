import { ApiError } from "#api/errors.ts";

/** A signal whose reason says whose fault it is: the bare one of a timer would be told as a mistake of kb. */
export function timeLimit(name: string, ms: number): AbortSignal {
  const controller = new AbortController();
  const message = `${name} takes too long to answer.`;
  setTimeout(() => controller.abort(new ApiError("source_unavailable", { message })), ms).unref();
  return controller.signal;
}
