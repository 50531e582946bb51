import { ApiError } from "#api/errors.ts";

/** @param status  the response's, if the server answered: the failure then concerns this one request */
export function unavailable(message: string, status?: number): ApiError {
  return new ApiError("source_unavailable", { message, ...(status !== undefined && { details: { status } }) });
}

export function notFound(message: string, status?: number): ApiError {
  return new ApiError("source_not_found", { message, ...(status !== undefined && { details: { status } }) });
}

/** An id or a name within a message. */
export function shown(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
