import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, open, readdir, readlink, realpath, rename, writeFile, type FileHandle } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { ApiError, isApiError } from "#api/errors.ts";
import { outsideRoots } from "#sources/file-scope/outside-roots.ts";
import { isRefName } from "./config.ts";

/** The folders that may contain a repository. */
export interface LocalPlaces {
  allowedRoots(): Promise<readonly string[]>;
  /** kb's own data folder. No repository is read from it. */
  dataFolder: string;
}

/** A repository on this machine. It is read as files, and git itself never runs in it. */
export type LocalRepository = Awaited<ReturnType<typeof openLocal>>;

/**
 * Opens the repository at a path: a folder that contains `.git`, or a bare repository. Only its refs and objects are
 * read, each file by a function that follows no link out of the repository. Its configuration, hooks, attributes and
 * filters are never read. References to objects elsewhere (`alternates`, a `.git` file, `commondir`) are refused.
 * Source: S38.
 *
 * @throws ApiError `root_not_allowed`, `source_not_found`, `source_unavailable`
 */
export async function openLocal(path: string, places: LocalPlaces) {
  await requireAllowed(path, places);
  const folder = await findGitFolder(path);
  for (const leads of ["objects/info/alternates", "objects/info/http-alternates", "commondir"]) {
    if (await readSmall(folder, leads)) throw leadsElsewhere(path, leads);
  }
  return {
    /**
     * Returns the branch that is checked out, such as `refs/heads/main`; undefined if a single commit is checked out.
     */
    head: (): Promise<{ ref?: string; oid?: string }> => readHead(folder, path),
    /** Returns the id of the object that a full ref name points at. */
    resolve: (ref: string): Promise<string | undefined> => resolveRef(folder, ref, 0),
    /** Lists the commits whose parents are missing. */
    async shallow(): Promise<string[]> {
      const lines = (await readSmall(folder, "shallow"))?.split("\n") ?? [];
      return lines.filter((line) => OID.test(line));
    },
    /** Lists the names of packs, without `.pack`. */
    async packs(): Promise<string[]> {
      const names = await listFolder(folder, "objects/pack");
      const packs = names.filter((name) => /^pack-[0-9a-f]{40,64}\.pack$/.test(name));
      return packs.map((name) => name.slice(0, -".pack".length));
    },
    /** Opens a pack for reading. The caller closes it. */
    async openPack(name: string): Promise<FileHandle> {
      const file = await openInside(folder, `objects/pack/${name}.pack`);
      if (file) return file;
      throw unreadable(path);
    },
    /**
     * Copies the loose objects that `target` (an objects folder of the mirror) lacks, and verifies each of them.
     * Returns their number.
     */
    copyLoose: (target: string, signal: AbortSignal): Promise<number> => copyLoose(folder, target, signal),
  };
}

/** An object id, which is SHA-1 or SHA-256. */
const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const MAX_REF_BYTES = 64 * 1024 * 1024;
/**
 * A loose object that is larger than this when decompressed is left out, because it would be too large for any
 * connector.
 */
const MAX_LOOSE_BYTES = 1024 * 1024 * 1024;
const unzip = promisify(inflate);

async function requireAllowed(path: string, { allowedRoots, dataFolder }: LocalPlaces): Promise<void> {
  const roots = await Promise.all((await allowedRoots()).map(realOr));
  if (!roots.some((root) => isWithin(path, root))) throw outsideRoots(path, "url");
  const real = await realpath(path).catch((cause: unknown) => {
    throw new ApiError("source_not_found", { message: `There is no repository at ${path}.`, field: "url", cause });
  });
  if (real !== path) {
    throw new ApiError("root_not_allowed", {
      message: `${path} is or contains a symbolic link. Give the repository's real path: ${real}.`,
      field: "url",
    });
  }
  if (isWithin(path, await realOr(dataFolder))) {
    throw new ApiError("root_not_allowed", { message: `kb never reads ${path}: it belongs to kb.`, field: "url" });
  }
}

async function findGitFolder(path: string): Promise<string> {
  for (const folder of [join(path, ".git"), path]) {
    const isFolder = await openPath(folder, FOLDER_FLAGS).then(async (handle) => {
      await handle?.close();
      return handle !== undefined;
    });
    if (isFolder && (await readSmall(folder, "HEAD")) !== undefined) return folder;
    if (folder !== path && (await readSmall(path, ".git"))) throw leadsElsewhere(path, ".git");
  }
  throw new ApiError("source_not_found", { message: `There is no git repository at ${path}.`, field: "url" });
}

async function readHead(folder: string, path: string): Promise<{ ref?: string; oid?: string }> {
  const text = (await readSmall(folder, "HEAD"))?.trim() ?? "";
  const ref = /^ref: (refs\/.+)$/.exec(text)?.[1];
  if (ref === "refs/heads/.invalid") {
    throw new ApiError("source_not_found", {
      message: `${path} stores its branches as a reftable, which this version does not support.`,
      field: "url",
    });
  }
  if (ref !== undefined && isRefName(ref)) return { ref };
  return OID.test(text) ? { oid: text } : {};
}

async function resolveRef(folder: string, ref: string, depth: number): Promise<string | undefined> {
  if (!ref.startsWith("refs/") || !isRefName(ref) || depth > 5) return undefined;
  const loose = (await readSmall(folder, ref))?.trim();
  if (loose !== undefined && OID.test(loose)) return loose;
  const further = loose === undefined ? undefined : /^ref: (refs\/.+)$/.exec(loose)?.[1];
  if (further !== undefined) return resolveRef(folder, further, depth + 1);
  const packed = (await readSmall(folder, "packed-refs")) ?? "";
  for (const line of packed.split("\n")) {
    const oid = line.slice(0, line.indexOf(" "));
    if (line.slice(oid.length + 1) === ref && OID.test(oid)) return oid;
  }
  return undefined;
}

async function copyLoose(folder: string, target: string, signal: AbortSignal): Promise<number> {
  let copied = 0;
  for (const fan of await listFolder(folder, "objects")) {
    if (!/^[0-9a-f]{2}$/.test(fan)) continue;
    for (const rest of await listFolder(folder, `objects/${fan}`)) {
      signal.throwIfAborted();
      if (!/^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(rest) || (await exists(join(target, fan, rest)))) continue;
      const bytes = await readInside(folder, `objects/${fan}/${rest}`, MAX_LOOSE_BYTES);
      if (bytes === undefined || !(await isObject(bytes, `${fan}${rest}`))) continue;
      await mkdir(join(target, fan), { recursive: true });
      // The file is either complete or absent, in case the process ends while writing.
      await writeFile(join(target, fan, `tmp_${rest}`), bytes, { mode: 0o444 });
      await rename(join(target, fan, `tmp_${rest}`), join(target, fan, rest));
      copied++;
    }
  }
  return copied;
}

/** Whether the decompressed bytes have this id as their hash, so that no one can store another text under the id. */
async function isObject(bytes: Buffer, oid: string): Promise<boolean> {
  try {
    const plain = await unzip(bytes, { maxOutputLength: MAX_LOOSE_BYTES });
    return (
      createHash(oid.length === 64 ? "sha256" : "sha1")
        .update(plain)
        .digest("hex") === oid
    );
  } catch {
    // The object is broken, still being written, or too large, and is skipped.
    return false;
  }
}

const FILE_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const FOLDER_FLAGS = FILE_FLAGS | (constants.O_DIRECTORY ?? 0);

async function readSmall(folder: string, rel: string): Promise<string | undefined> {
  return (await readInside(folder, rel, MAX_REF_BYTES))?.toString("utf8");
}

async function readInside(folder: string, rel: string, maxBytes: number): Promise<Buffer | undefined> {
  const file = await openInside(folder, rel);
  if (!file) return undefined;
  try {
    if ((await file.stat()).size > maxBytes) return undefined;
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Opens a regular file at exactly this path; undefined if the path contains a link. */
async function openInside(folder: string, rel: string): Promise<FileHandle | undefined> {
  const handle = await openPath(join(folder, rel), FILE_FLAGS);
  if (!handle) return undefined;
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

async function listFolder(folder: string, rel: string): Promise<string[]> {
  const path = join(folder, rel);
  const handle = await openPath(path, FOLDER_FLAGS);
  if (!handle) return [];
  try {
    return (await readdir(process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path)).sort();
  } finally {
    await handle.close();
  }
}

async function openPath(path: string, flags: number): Promise<FileHandle | undefined> {
  const handle = await open(path, flags).catch((error: unknown) => {
    if (ABSENT.has(codeOf(error))) return undefined;
    throw unreadable(path, error);
  });
  if (!handle) return undefined;
  // Linux reports where an open file is, which is safe from races. On other systems the path is compared.
  const place = process.platform === "linux" ? await readlink(`/proc/self/fd/${handle.fd}`) : await realOr(path);
  if (place === path) return handle;
  await handle.close();
  return undefined;
}

const ABSENT = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EISDIR", "ENAMETOOLONG", "EINVAL"]);

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown error";
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function realOr(path: string): Promise<string> {
  // A folder that doesn't exist yet has no other real path.
  return realpath(path).catch(() => resolve(path));
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function leadsElsewhere(path: string, what: string): ApiError {
  return new ApiError("root_not_allowed", {
    message: `${path} gets its objects from elsewhere (${what}). Connect the repository that has them, or a full clone.`,
    field: "url",
  });
}

function unreadable(path: string, cause?: unknown): ApiError {
  if (isApiError(cause)) return cause;
  return new ApiError("source_unavailable", {
    message: `${dirname(path)} can't be read now (${codeOf(cause)}). Check that kb's user can open it.`,
    field: "url",
    cause,
  });
}
