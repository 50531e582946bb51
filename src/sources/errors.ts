import { ApiError } from "#api/errors.ts";

/** @param status  status of the response, if the server answered: the failure then concerns only this request */
export function unavailable(message: string, status?: number): ApiError {
  return new ApiError("source_unavailable", { message, ...(status !== undefined && { details: { status } }) });
}

export function notFound(message: string, status?: number): ApiError {
  return new ApiError("source_not_found", { message, ...(status !== undefined && { details: { status } }) });
}

/** Formats an id or a name for use within a message. */
export function shown(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
