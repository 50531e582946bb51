import { pathOf } from "#sources/file-scope/paths.ts";
import { GitFailed, readTokens, type GitProgram } from "./program.ts";

/** The author and time that a commit states. */
export interface CommitFacts {
  sha: string;
  /** The commit time, in seconds since the epoch. */
  at: number;
  name: string;
  email: string;
}

/** A commit with its message. */
export interface CommitMessage extends CommitFacts {
  /** The author time, in seconds since the epoch. */
  writtenAt: number;
  message: string;
}

export interface HistoryPlace {
  program: GitProgram;
  gitDir: string;
  signal: AbortSignal;
  /** Commits whose parents the mirror does not have. Files that they seem to add are older. */
  shallow: ReadonlySet<string>;
  /** The `.mailmap` with people's names, in the form `<commit>:.mailmap`. */
  mailmap?: string;
}

/** The most commits that the first walk through the history reads. Files that were not found by then have no date. */
const MAX_COMMITS = 200_000;
const HISTORY_MS = 300_000;

/**
 * Finds the newest commit that touched each of these paths, with one walk through the history. Merges don't count. The
 * walk ends when all paths are found, or after a maximum number of commits or of minutes. A path that isn't found has
 * no entry.
 *
 * @param range  `<commit>`, or `<known>..<commit>`
 */
export async function findLastCommits(
  place: HistoryPlace,
  range: string,
  paths: ReadonlySet<string>,
  maxCommits = MAX_COMMITS,
): Promise<Map<string, CommitFacts>> {
  const found = new Map<string, CommitFacts>();
  if (paths.size === 0) return found;
  const format = "--format=%x01%H%x00%ct%x00%aN%x00%aE";
  const limit = `--max-count=${maxCommits}`;
  const args = [
    "log",
    "-z",
    "--raw",
    "--no-renames",
    "--no-abbrev",
    "--no-merges",
    "--root",
    limit,
    format,
    range,
    "--",
  ];
  const tokens = readTokens(place.program, args, callOf(place));
  try {
    let commit: CommitFacts | undefined;
    for (let token = await tokens.next(); !token.done; token = await tokens.next()) {
      const text = token.value;
      if (text[0] === 0x01) {
        const [at, name, email] = [await nextText(tokens), await nextText(tokens), await nextText(tokens)];
        commit = { sha: text.toString("latin1", 1), at: Number(at), name, email };
        if (place.shallow.has(commit.sha)) commit = undefined;
      } else if (text[0] === 0x3a || (text[0] === 0x0a && text[1] === 0x3a)) {
        const path = pathOf(await nextToken(tokens));
        if (commit === undefined || found.has(path) || !paths.has(path)) continue;
        found.set(path, commit);
        if (found.size === paths.size) break;
      }
    }
  } catch (error) {
    // The time is over. Files that were not found by then have no date.
    const isOutOfTime = error instanceof GitFailed && error.output.code === null && !place.signal.aborted;
    if (!isOutOfTime) throw error;
  } finally {
    await tokens.return();
  }
  return found;
}

/**
 * Lists commits with their messages, the newest first. `range` has the same form as above, and the first `skip` commits
 * are skipped.
 */
export async function* listCommits(place: HistoryPlace, range: string, limit: number): AsyncGenerator<CommitMessage> {
  const format = "--format=%H%x00%ct%x00%at%x00%aN%x00%aE%x00%B";
  const args = ["log", "-z", `--max-count=${limit}`, format, range, "--"];
  const tokens = readTokens(place.program, args, callOf(place));
  for (let token = await tokens.next(); !token.done; token = await tokens.next()) {
    const sha = token.value.toString("latin1");
    const [at, writtenAt] = [Number(await nextText(tokens)), Number(await nextText(tokens))];
    const [name, email, message] = [await nextText(tokens), await nextText(tokens), await nextText(tokens)];
    yield { sha, at, writtenAt, name, email, message: message.slice(0, MAX_MESSAGE_CHARS) };
  }
}

/** The most characters of a message. A longer message is a pasted file. */
const MAX_MESSAGE_CHARS = 65_536;

async function nextText(tokens: AsyncGenerator<Buffer, void>): Promise<string> {
  return (await nextToken(tokens)).toString("utf8");
}

async function nextToken(tokens: AsyncGenerator<Buffer, void>): Promise<Buffer> {
  const { done, value } = await tokens.next();
  return done ? Buffer.alloc(0) : value;
}

function callOf({ gitDir, signal, mailmap }: HistoryPlace) {
  const options = mailmap === undefined ? [] : ["-c", `mailmap.blob=${mailmap}`];
  return { gitDir, signal, options, timeoutMs: HISTORY_MS };
}
