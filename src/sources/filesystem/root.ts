import type { BigIntStats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { ApiError } from "#api/errors.ts";
import { outsideRoots } from "#sources/file-scope/outside-roots.ts";
import { bytesOf, hasByteSegment, isByteSegment, plainPath, segmentsOf } from "#sources/file-scope/paths.ts";
import type { Places } from "./config.ts";

/**
 * A readable folder in its state at the beginning of the run. Everything below it is opened through `open-inside.ts`.
 */
export interface RootFolder {
  /** The folder's real absolute path. */
  path: string;
  dev: bigint;
  /** `dev:inode`, which is stable as long as it is the same folder. */
  identity: string;
  /** Real paths that are never entered, inside or outside the root. */
  forbidden: readonly string[];
  /** `dev:inode` of the data folder, which a bind mount can show under another path. */
  dataFolderIdentity: string | undefined;
}

/**
 * Folders of the kernel and of running processes. They never contain documents, and reading some of them blocks or
 * reads other processes. Source: S36.
 */
const SYSTEM_FOLDERS = ["/proc", "/sys", "/dev", "/run"];

/**
 * Opens the configured folder after all checks of S36: the path is absolute, equal to or below an allowed root, its own
 * real path (a link could be redirected after an admin chose it), and not a system folder, `.git` or the data folder.
 *
 * @throws ApiError `root_not_allowed` for an invalid configuration, `source_unavailable` if the folder can't be read
 * now; paths outside the allowed roots are never accessed
 */
export async function openRoot(configured: string, places: Places): Promise<RootFolder> {
  const path = resolve(configured);
  const allowed = await places.allowedRoots();
  if (!isAbsolute(configured) || !allowed.some((root) => isWithin(path, resolve(root))))
    throw outsideRoots(configured, "root");

  const real = await realpath(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  if (real !== path) {
    throw new ApiError("root_not_allowed", {
      message: `${path} is or contains a symbolic link. Give the folder's real path: ${real}.`,
      field: "root",
    });
  }
  const forbidden = [...SYSTEM_FOLDERS, await realPathOr(places.dataFolder)];
  const realRoots = await Promise.all(allowed.map(realPathOr));
  if (!realRoots.some((root) => isWithin(path, root))) throw outsideRoots(path, "root");
  if (isForbidden(path, forbidden)) {
    throw new ApiError("root_not_allowed", {
      message: `kb never reads ${path}: it belongs to the system, to a repository's internals or to kb.`,
      field: "root",
    });
  }

  const stats = await stat(path, { bigint: true }).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  if (!stats.isDirectory()) {
    throw new ApiError("root_not_allowed", { message: `${path} is not a folder.`, field: "root" });
  }
  const dataFolderIdentity = await stat(places.dataFolder, { bigint: true }).then(identityOf, () => undefined);
  return { path, dev: stats.dev, identity: identityOf(stats), forbidden, dataFolderIdentity };
}

/** Returns true if `path` is `folder` or is below it. Both paths must be absolute and normalized. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Returns true if the absolute path is in a folder that is never entered, or in the internals of a repository. */
export function isForbidden(path: string, forbidden: readonly string[]): boolean {
  return forbidden.some((folder) => isWithin(path, folder)) || path.split(sep).includes(".git");
}

/** Returns `dev:inode` of a file or folder. */
export function identityOf(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}`;
}

/** Returns the absolute path of an id below the root, for checks; `""` is the root. */
export function absolutePath(root: RootFolder, rel: string): string {
  return rel === "" ? root.path : join(root.path, ...plainPath(rel).split("/"));
}

/** Returns the path for system calls, as bytes if a name in it isn't valid UTF-8. */
export function systemPath(folder: string, rel: string): string | Buffer {
  if (rel === "") return folder;
  if (!hasByteSegment(rel)) return join(folder, ...rel.split("/"));
  return Buffer.concat([Buffer.from(folder.endsWith(sep) ? folder : folder + sep), bytesOf(rel)]);
}

/**
 * Returns true for a path in the form that the walk produces: relative, with `/` between segments, none of them empty,
 * `.` or `..`. On Windows no segment may contain `\` or `:` (drives, alternate data streams).
 */
export function isCleanRelativePath(rel: string): boolean {
  if (rel.length > 8192 || rel.includes("\0")) return false;
  if (sep === "\\" && /[\\:]/.test(rel)) return false;
  const isName = (segment: string) => segment !== "" && segment !== "." && segment !== "..";
  return segmentsOf(rel).every((segment) => isName(segment) && (sep === "/" || !isByteSegment(segment)));
}

/** Returns the system's code of a failed call, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

async function realPathOr(path: string): Promise<string> {
  // A folder that doesn't exist yet (a data folder before the first start, a root that isn't mounted) has no other real
  // path.
  return realpath(path).catch(() => resolve(path));
}

function unreadable(path: string, cause: unknown): ApiError {
  return new ApiError("source_unavailable", {
    message: `The folder ${path} can't be read now (${errorCode(cause) ?? "unknown error"}). Check that it is mounted and that kb's user can open it.`,
    field: "root",
    cause,
  });
}
