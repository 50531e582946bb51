import { ApiError } from "#api/errors.ts";

/** The refusal of a path that lies in no allowed folder, with the ways to allow it. `field` is the setting at fault. */
export function outsideRoots(path: string, field: string): ApiError {
  return new ApiError("root_not_allowed", {
    message: `${path} is not inside an allowed folder.`,
    hint: `As an owner, allow it on the server: kb roots add ${inShell(path)} (or set KB_LOCAL_ROOTS).`,
    field,
  });
}

/** The path as one word of a shell, whatever it holds. */
function inShell(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
