import type { BigIntStats } from "node:fs";
import { holdsGeneratedMarker, isGeneratedFolder } from "#api/generated-folders.ts";
import type { Skip } from "#sources/outcomes.ts";
import { plainPath } from "#sources/file-scope/paths.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import type { FilesystemConfig } from "./config.ts";
import type { Patterns } from "#sources/file-scope/patterns.ts";
import { absolutePath, identityOf, isForbidden, type RootFolder } from "./root.ts";
import type { CompiledScope } from "#sources/file-scope/scope.ts";

/** Why a file or folder is left out, in the form of a skip event. */
export interface Refusal {
  reason: Skip["reason"];
  message: string;
}

/** The result for one name: include the file, leave it out with a reason, or leave it out silently. */
export type Verdict = "take" | "silent" | Refusal;

/** The ignore lists that apply in a folder, from the innermost to the outermost. */
export interface IgnoreChain {
  patterns: Patterns;
  /** The id of the folder that contains the list; `""` is the root. */
  base: string;
  outer: IgnoreChain | undefined;
}

/** The options that decide which files of a root become items. */
export interface JudgeOptions {
  root: RootFolder;
  config: FilesystemConfig;
  scope: CompiledScope;
  /** True = only the owner reads the connector, so files that other users of the machine may not read are allowed. */
  isPrivate: boolean;
}

/** A name in a folder, with everything that is known without accessing the file. */
export interface NamedPlace {
  /** The last segment of the id. */
  name: string;
  rel: string;
  isFolder: boolean;
  /** The ignore lists that apply to the name. */
  chain: IgnoreChain | undefined;
  /** All names in the same folder. */
  siblings: ReadonlySet<string>;
}

/** Decides by name alone, without accessing the file. This is the only check of the counting walk. */
export function judgeName(options: JudgeOptions, place: NamedPlace): Verdict {
  const { rel, isFolder, chain, siblings } = place;
  const name = plainPath(place.name);
  if (name === ".git") return "silent";
  if (!options.config.hidden && name.startsWith(".")) return HIDDEN;
  const verdict = ignoreListsOn(chain, rel, isFolder);
  if (verdict === "ignored") return IGNORED;
  if (isFolder && verdict !== "kept" && !options.config.generated && isGeneratedFolder(name, siblings))
    return GENERATED;
  if (options.scope.excludes(rel, isFolder)) return EXCLUDED;
  const isWanted = isFolder ? options.scope.mayContainIncluded(rel) : options.scope.includes(rel);
  if (!isWanted) return "silent";
  if (isFolder) return isForbidden(absolutePath(options.root, rel), options.root.forbidden) ? FORBIDDEN : "take";
  return !options.config.secretFiles && isSecretFile(name) ? SECRET : "take";
}

/** Decides on a folder below the root by the names in it. `outer` are the lists that apply to the folder itself. */
export function judgeFolder(
  options: JudgeOptions,
  outer: IgnoreChain | undefined,
  rel: string,
  names: readonly string[],
): "take" | Refusal {
  if (options.config.generated || !holdsGeneratedMarker(names)) return "take";
  return ignoreListsOn(outer, rel, true) === "kept" ? "take" : GENERATED;
}

/** Decides by the result of `lstat`, after `judgeName` included the name. */
export function judgeStats(options: JudgeOptions, stats: BigIntStats): Verdict {
  if (stats.isSymbolicLink()) return LINK;
  if (!stats.isDirectory() && !stats.isFile()) return IRREGULAR;
  if (stats.dev !== options.root.dev) return OTHER_DEVICE;
  if (stats.isDirectory() && identityOf(stats) === options.root.dataFolderIdentity) return FORBIDDEN;
  return isLeftOut(options, stats) ? RESTRICTED : "take";
}

/** Returns true if the file or folder is restricted and the connector has more readers than its owner. */
export function isLeftOut(options: Pick<JudgeOptions, "config" | "isPrivate">, stats: BigIntStats): boolean {
  return !options.isPrivate && !options.config.includeRestricted && isRestricted(stats);
}

/** Returns true if other users of the machine may not read the file, or may not enter the folder. */
export function isRestricted(stats: BigIntStats): boolean {
  return (stats.mode & (stats.isDirectory() ? OTHERS_EXECUTE : OTHERS_READ)) === 0n;
}

/** The refusal for a file that kb's own user may not read. */
export const DENIED: Refusal = { reason: "excluded_by_policy", message: "kb's user has no permission to read it." };
export const TOO_DEEP: Refusal = { reason: "excluded_by_policy", message: "Deeper than 64 folders." };

const OTHERS_READ = 0o004n;
const OTHERS_EXECUTE = 0o001n;

const HIDDEN: Refusal = { reason: "excluded_by_scope", message: "Hidden files are off for this connector." };
const IGNORED: Refusal = { reason: "excluded_by_scope", message: "Excluded by an ignore file." };
const GENERATED: Refusal = {
  reason: "generated",
  message: 'A generated folder. To include it, turn on the "generated" setting.',
};
const EXCLUDED: Refusal = { reason: "excluded_by_scope", message: "Excluded by the connector's scope." };
const FORBIDDEN: Refusal = {
  reason: "excluded_by_policy",
  message: "kb's data folder and system folders are never read.",
};
const SECRET: Refusal = { reason: "excluded_by_policy", message: "The name suggests keys or passwords." };
const LINK: Refusal = { reason: "excluded_by_policy", message: "Symbolic links are not followed." };
const IRREGULAR: Refusal = { reason: "unsupported_type", message: "Not a regular file." };
const OTHER_DEVICE: Refusal = { reason: "excluded_by_policy", message: "On another file system than the root." };
const RESTRICTED: Refusal = {
  reason: "excluded_by_policy",
  message: 'Other users of the machine can\'t read it. To include it, turn on "includeRestricted".',
};

function ignoreListsOn(chain: IgnoreChain | undefined, rel: string, isFolder: boolean): "ignored" | "kept" | undefined {
  for (let list = chain; list !== undefined; list = list.outer) {
    const below = list.base === "" ? rel : rel.slice(list.base.length + 1);
    const verdict = list.patterns.test(plainPath(below), isFolder);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}
