import { ApiError } from "#api/errors.ts";

/** Builds the error for a status that the source didn't list in `allow`. */
export function failureOf(
  status: number,
  host: string,
  { isSigned, headers = {} }: { isSigned: boolean; headers?: Readonly<Record<string, unknown>> },
): ApiError {
  const details = { status, ...(Object.keys(headers).length > 0 && { headers }) };
  const says = `(HTTP ${status})`;
  switch (status) {
    case 401:
      // The refusal of an unsigned request doesn't concern the credential. Otherwise any page could disable the
      // connector.
      return isSigned
        ? new ApiError("source_unauthorized", {
            message: `${host} rejected the credentials ${says}.`,
            field: "credentials",
            details,
          })
        : new ApiError("source_forbidden", { message: `${host} asks for credentials ${says}.`, details });
    case 403:
      return new ApiError("source_forbidden", { message: `${host} refused access ${says}.`, details });
    case 404:
      return new ApiError("source_not_found", { message: `${host} has nothing at this address ${says}.`, details });
    case 410:
      return new ApiError("source_gone", { message: `${host} no longer has this ${says}.`, details });
    default:
      return new ApiError("source_unavailable", { message: `${host} can't answer this now ${says}.`, details });
  }
}

/** Builds the error for a status that means that the cursor is too old. */
export function cursorExpired(status: number, host: string): ApiError {
  return new ApiError("cursor_expired", {
    message: `${host} no longer knows the point where the last sync ended (HTTP ${status}). The next sync reads everything.`,
    details: { status },
  });
}

/** Builds the error for a failure before a status arrived. An ApiError stays unchanged. */
export function unreachable(host: string, cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (codeOf(cause) === "ERR_INVALID_CHAR") {
    // The cause is left out because no part of a header may be shown.
    return new ApiError("source_unauthorized", {
      message: `The credentials for ${host} contain characters that can't be sent.`,
      field: "credentials",
    });
  }
  return new ApiError("source_unavailable", { message: `${host} can't be reached now.`, cause });
}

/** Returns true if an established connection broke. A new connection may succeed. */
export function isBroken(error: unknown): boolean {
  return BROKEN.has(codeOf(error) ?? "");
}

const BROKEN = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "HPE_INVALID_EOF_STATE"]);

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
