import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SourceContext } from "#sources/context.ts";
import type { OpenRequest } from "#sources/session.ts";
import { compilePatterns, type Patterns } from "#sources/file-scope/patterns.ts";
import { compileScope } from "#sources/file-scope/scope.ts";
import { type FileAttributes, lfsPointerOf, makeAttributes, MAX_ATTRIBUTE_BYTES } from "./attributes.ts";
import type { GitConfig } from "./config.ts";
import { webPagesOf } from "./forges.ts";
import { type CommitFacts, type HistoryPlace, findLastCommits } from "./history.ts";
import { makeJudge, type Refusal, type Verdict } from "./judge.ts";
import { type FileFacts, type RepositoryFacts, toFileItem, versionOf } from "./map.ts";
import { type GitEnvironment, type Mirror, requireRemote } from "./mirror.ts";
import { objectAt } from "./objects.ts";
import type { RemoteRef } from "./refs.ts";
import { placeOf } from "./remote.ts";
import type { TreeEntry } from "./tree.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";

/** A file that becomes an item, with its version. */
export interface WantedFile {
  path: string;
  entry: TreeEntry;
  attributes: FileAttributes;
  version: string;
  formerPath?: string;
}

/** A run's view of one commit. */
export interface CommitView {
  commit: string;
  repository: RepositoryFacts;
  history: HistoryPlace;
  judge(entry: TreeEntry): Verdict;
  /** Faults in the commit's own list of ignored paths. */
  faults: readonly Refusal[];
  /** Returns the file of an entry that is included. */
  toWanted(entry: TreeEntry, path: string): Promise<WantedFile>;
  /** Builds the items of files, with sizes and their last commits. */
  toItems(files: readonly WantedFile[]): Promise<ReturnType<typeof toFileItem>[]>;
  /**
   * Finds the last commits of many paths with one walk, first in `range` and then further back. Call it before
   * `toItems`.
   */
  findCommits(paths: ReadonlySet<string>, range: string): Promise<void>;
}

/**
 * Increase this number when the items built from a file change: every file then gets another version and is reported
 * again.
 */
const MAPPING_VERSION = 1;

/**
 * The number of older commits that are searched if there are few files, so that a run with few changes ends soon,
 * regardless of the length of the history.
 */
const OLDER_COMMITS = 20_000;

/** The sizes of Git LFS pointer files. */
const POINTER_BYTES = { from: 100, to: 1_024 };

/** Opens the view of a commit. */
export async function openCommit(
  ctx: SourceContext<GitConfig>,
  run: Pick<OpenRequest, "scope">,
  environment: Pick<GitEnvironment, "program">,
  at: { mirror: Mirror; commit: string; ref: Pick<RemoteRef, "short" | "isTag"> },
): Promise<CommitView> {
  const { mirror, commit, ref } = at;
  const { config } = ctx;
  const { objects } = mirror;
  const repository = repositoryFacts(config, ref);
  const attributesOf = makeAttributes(async (folder) => {
    const name = folder === "" ? ".gitattributes" : `${folder}/.gitattributes`;
    if (name.includes("\n")) return undefined;
    return (await objects.contents(objectAt(commit, name), MAX_ATTRIBUTE_BYTES))?.toString("utf8");
  });
  const ignores = await readIgnores(objects, commit);
  const history = await historyOf(ctx, environment, mirror, commit);
  const found = new Map<string, CommitFacts>();
  let searched: ReadonlySet<string> = new Set();

  async function lookUp(paths: ReadonlySet<string>, range: string, maxCommits?: number): Promise<void> {
    if (config.history === 0) return;
    for (const [path, facts] of await findLastCommits(history, range, paths, maxCommits)) found.set(path, facts);
  }

  async function toFacts(file: WantedFile): Promise<FileFacts> {
    const { path, entry, attributes, formerPath } = file;
    const size = (await objects.info(entry.oid))?.size;
    const mayPoint = attributes.isLfs || (size !== undefined && size >= POINTER_BYTES.from && size <= POINTER_BYTES.to);
    const text = mayPoint ? (await objects.contents(entry.oid, POINTER_BYTES.to))?.toString("utf8") : undefined;
    const lfsSize = text === undefined ? undefined : lfsPointerOf(text)?.size;
    const { oid, mode } = entry;
    return { path, oid, mode, size, attributes, lfsSize, lastCommit: found.get(path), formerPath };
  }

  return {
    commit,
    repository,
    history,
    judge: makeJudge(compileScope(run.scope), config.secretFiles, ignores.patterns),
    faults: ignores.faults,
    async toWanted(entry, path) {
      const attributes = await attributesOf(path);
      return { path, entry, attributes, version: versionOf({ ...entry, attributes }, repository.placeKey) };
    },
    async findCommits(paths, range) {
      await lookUp(paths, range);
      const older = new Set([...paths].filter((path) => !found.has(path)));
      // A branch that was reset contains files whose last commit isn't among the new commits.
      if (range !== commit) await lookUp(older, commit, OLDER_COMMITS);
      searched = paths;
    },
    async toItems(files) {
      const missing = new Set(files.map(({ path }) => path).filter((path) => !searched.has(path)));
      await lookUp(missing, commit);
      const facts = await Promise.all(files.map(toFacts));
      for (const path of missing) found.delete(path);
      return facts.map((each) => toFileItem(each, repository));
    },
  };
}

/** Values shared by all items of a repository. */
export function repositoryFacts(
  config: GitConfig,
  { short, isTag }: Pick<RemoteRef, "short" | "isTag">,
): RepositoryFacts {
  const remote = requireRemote(config);
  const pages = webPagesOf(remote, short, isTag, config.forge);
  const place = placeOf(remote);
  const key = JSON.stringify([MAPPING_VERSION, place, pages?.forge, pages?.file("x")]);
  return {
    place,
    pages,
    placeKey: createHash("sha256").update(key).digest("base64url").slice(0, 6),
    readsArchives: config.archives,
    maxFileBytes: maxFileBytes(config),
  };
}

async function historyOf(
  { signal }: SourceContext<GitConfig>,
  { program }: Pick<GitEnvironment, "program">,
  { gitDir, objects }: Mirror,
  commit: string,
): Promise<HistoryPlace> {
  // The file is absent in a mirror that has the complete history.
  const shallow = await readFile(join(gitDir, "shallow"), "utf8").catch(() => "");
  const mailmap = await objects.info(`${commit}:.mailmap`);
  const isUsable = mailmap?.type === "blob" && mailmap.size <= MAX_MAILMAP_BYTES;
  return {
    program,
    gitDir,
    signal,
    shallow: new Set(shallow.split("\n")),
    ...(isUsable && { mailmap: mailmap.oid }),
  };
}

/**
 * The name of the ignore file at the root of the commit, in which authors list paths to leave out. Source:
 * docs/sources/git.md.
 */
export const IGNORE_FILE = ".kbignore";
/** The same limit as in the filesystem source. */
const MAX_IGNORE_BYTES = 64 * 1024;

async function readIgnores(
  objects: Mirror["objects"],
  commit: string,
): Promise<{ patterns?: Patterns; faults: Refusal[] }> {
  const fault = (message: string): Refusal => ({ id: IGNORE_FILE, reason: "excluded_by_policy", message });
  const file = await objects.info(`${commit}:${IGNORE_FILE}`);
  if (file?.type !== "blob") return { faults: [] };
  const text = (await objects.contents(file.oid, MAX_IGNORE_BYTES))?.toString("utf8");
  if (text === undefined) return { faults: [fault("This ignore file was not applied: it is over 64 kB.")] };
  const { patterns, refused } = compilePatterns(text.split(/\r?\n/));
  const tooComplex = `${refused.length} of its patterns were not applied: they are too long or too complex.`;
  return { patterns, faults: refused.length > 0 ? [fault(tooComplex)] : [] };
}

const MAX_MAILMAP_BYTES = 4 * 1024 * 1024;
