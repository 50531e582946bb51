import { ApiError } from "#api/errors.ts";

/**
 * Builds the error for a path outside all allowed folders, with the ways to allow it. `field` is the invalid setting.
 */
export function outsideRoots(path: string, field: string): ApiError {
  return new ApiError("root_not_allowed", {
    message: `${path} is not inside an allowed folder.`,
    hint: `As an owner, allow it on the server: kb roots add ${inShell(path)} (or set KB_LOCAL_ROOTS).`,
    field,
  });
}

/** Quotes the path as one word for a shell, regardless of its characters. */
function inShell(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
