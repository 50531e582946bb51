import { ApiError } from "#api/errors.ts";

/** The refusal of a path that lies in no allowed folder, with the ways to allow it. `field` is the setting at fault. */
export function outsideRoots(path: string, field: string): ApiError {
  return new ApiError("root_not_allowed", {
    message: `${path} is not inside a folder that kb may read.`,
    hint: `Allow it on the server's machine, as an owner: kb roots add ${inShell(path)} (or set KB_LOCAL_ROOTS).`,
    field,
  });
}

/** The path as one word of a shell, whatever it holds. */
function inShell(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
