import { shown } from "#sources/errors.ts";
import type { z } from "zod";
import { defined } from "#core/defined.ts";
import { EVERYTHING } from "#core/scope.ts";
import type { SourceProblem } from "#api/common.ts";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ApiError, isApiError } from "#api/errors.ts";
import type { SourceContext, SyncContext } from "#sources/context.ts";
import type { FileContent } from "#sources/item.ts";
import type { GitConfig } from "#sources/git-repository/config.ts";
import { makeContents } from "#sources/git-repository/contents.ts";
import { GitCursor, GitPlace } from "#sources/git-repository/cursor.ts";
import { type GitPlaces, makeEnvironment, whyUnavailable } from "#sources/git-repository/environment.ts";
import { folderOf } from "#sources/git-repository/mirror.ts";
import { gitSessions } from "#sources/git-repository/sync.ts";
import type { ContainerEvent } from "#sources/containers.ts";
import { halfRead } from "#sources/listed.ts";
import type { Batching, Page } from "#sources/session.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { Forge, ForgeRepository } from "./contract.ts";
import { fileId, parseId } from "./ids.ts";
import type { ForgeFacts } from "./map.ts";
import { placed, placedAll, placedEntry } from "./placed.ts";

/** The config keys for files. */
export type FileConfig = Pick<GitConfig, "maxFileMb" | "archives" | "secretFiles">;

/**
 * The commit up to which the files of a repository were yielded, and the unfinished walk that a run began after that.
 */
export const FilesState = GitCursor.extend({ left: GitPlace.optional() });
export type FilesState = z.infer<typeof FilesState>;

export type ForgeFiles = ReturnType<typeof makeForgeFiles>;

/** The current state of one session, kept separately because the connectors of a server share one `ForgeFiles`. */
export interface AtHand {
  /** Reads files of the page that was yielded last. Absent if there is no such page. */
  page?: ((externalIds: readonly string[]) => AsyncGenerator<Outcome, void>) | undefined;
}

interface FilesRun {
  facts: ForgeFacts;
  forge: Pick<Forge, "repository">;
}

interface FilesWalk<At> extends FilesRun {
  state?: FilesState | undefined;
  at: At | undefined;
  hand: AtHand;
  /** Called before any result of a walk is yielded: the next walk has to know about this walk if it doesn't finish. */
  begins(left: GitPlace): Promise<void>;
}

/** The number of commits that are searched for authors and dates of files. */
const HISTORY = 1_000;

/**
 * Reads files with the git program, with one mirror for each repository, in the same way as the `git` source. The
 * address is built from the config's own base URL and the repository's name, so the token is sent nowhere else.
 */
export function makeForgeFiles(places: GitPlaces & { batching?: Partial<Batching> }, forge: "gitea" | "github") {
  const environment = makeEnvironment(places);
  const contents = makeContents(environment);
  const sessions = gitSessions(environment, places.batching?.upserts);

  /**
   * Runs git's session for one repository, in which ids are paths.
   * @throws ApiError `source_forbidden` if the code can't be read
   */
  async function* within<Event, Result>(
    {
      ctx,
      repository,
      state,
    }: { ctx: SyncContext<unknown>; repository: ForgeRepository; state?: FilesState | undefined },
    mode: "items" | "incremental" | "full",
    use: (session: GitSession) => AsyncGenerator<Event, Result>,
  ): AsyncGenerator<Event, Result> {
    const below = contextOf(ctx, repository, forge);
    const before = defined({ feed: state, left: state?.left });
    const session = await sessions.open(below, { mode, scope: EVERYTHING, ...before });
    try {
      return yield* use(session);
    } catch (error) {
      throw ofOne(error);
    } finally {
      await session.close?.();
    }
  }

  async function keepOnly(connectorId: string, repositories: ReadonlySet<string>): Promise<void> {
    const folder = folderOf(environment, connectorId);
    for (const name of await readdir(folder).catch(() => [])) {
      if (!/^r\d+$/.test(name) || repositories.has(name.slice(1))) continue;
      contents.close(`${connectorId}/${name}`);
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }

  return {
    /**
     * Walks the files of a repository, or the files changed since a state. Returns the position after the walk, and
     * whether it named all files. An interrupted attempt resumes from the position `at`. The changed files of a page
     * are read through `hand.page` while the page is the current one.
     */
    walk<At>(
      ctx: SyncContext<unknown>,
      repository: ForgeRepository,
      { facts, forge: { repository: reread }, state, at, hand, begins }: FilesWalk<At>,
    ): AsyncGenerator<ContainerEvent<At>, { cursor: GitCursor; complete: boolean }> {
      const mode = state ? "incremental" : "full";
      return within({ ctx, repository, state }, mode, async function* (session) {
        const read = (externalIds: readonly string[]) =>
          placedAll(session.read(externalIds.flatMap((id) => pathOf(id, repository))), repository, facts);
        const walk = session.walk({ mode, scope: EVERYTHING, ...(state && { since: state }) });
        try {
          let step = await walk.next();
          for (; !step.done; step = await walk.next()) {
            const page: Page<GitPlace> = step.value.t === "page" ? step.value : { t: "page", entries: [step.value] };
            if (page.isDue && page.checkpoint) {
              // Git fetched the commit by the repository's name, so the name is checked again.
              confirmName(repository, await reread(repository.id));
              await begins(page.checkpoint);
            }
            hand.page = read;
            const entries = page.entries.map((entry) => placedEntry(entry, repository, facts));
            yield { t: "page", entries, at, ...defined({ isDue: page.isDue }) };
          }
          return step.value;
        } finally {
          hand.page = undefined;
          await walk.return(undefined as never);
        }
      });
    },
    /** Returns the results for these paths of a repository. */
    readPaths(
      ctx: SyncContext<unknown>,
      repository: ForgeRepository,
      { facts, forge: { repository: reread }, paths }: FilesRun & { paths: readonly string[] },
    ): AsyncGenerator<Outcome, void> {
      return within({ ctx, repository }, "items", async function* (session) {
        let isConfirmed = false;
        for await (const outcome of session.read(paths)) {
          if (!isConfirmed) confirmName(repository, await reread(repository.id));
          isConfirmed = true;
          yield placed(outcome, repository, facts);
        }
      });
    },
    async read(
      ctx: SourceContext<unknown>,
      { externalId, ref, version }: { externalId: string; ref?: string; version?: string },
    ): Promise<FileContent> {
      const id = parseId(externalId);
      if (id?.type !== "file") throw notFound(externalId);
      const { connector, signal } = ctx;
      const config = gitConfigOf(ctx.config, `${PLACEHOLDER}/${id.repository}`, forge);
      const at = { config, signal, connector: { ...connector, id: `${connector.id}/r${id.repository}` } };
      return contents.read(at, {
        externalId: id.path,
        ...defined({ ref, version }),
      });
    },
    /** Deletes all mirrors except those of these repositories. */
    keepOnly,
    async forget(connectorId: string): Promise<void> {
      await keepOnly(connectorId, new Set());
      await rm(folderOf(environment, connectorId), { recursive: true, force: true });
    },
    unavailable: (): Promise<string | undefined> => whyUnavailable(environment),
  };
}

/**
 * Converts git's failure into a failure of this repository alone, since the forge answered a moment ago. The remaining
 * repositories aren't skipped.
 */
function ofOne(error: unknown): unknown {
  if (isApiError(error, "source_unauthorized"))
    return new ApiError("source_forbidden", { message: error.message, cause: error });
  return isApiError(error, "source_unavailable") ? halfRead(error.message) : error;
}

type GitSession = Awaited<ReturnType<ReturnType<typeof gitSessions>["open"]>>;

/** A remote that is never contacted, because the mirror already has the content. */
const PLACEHOLDER = "https://mirror.invalid";

function gitConfigOf(config: unknown, url: string, forge: "gitea" | "github", branch?: string): GitConfig {
  // The config of every forge has the keys of `FORGE_CHOICES`.
  const { maxFileMb, archives, secretFiles } = config as FileConfig;
  return {
    url,
    commits: false,
    history: HISTORY,
    maxFileMb,
    archives,
    secretFiles,
    forge,
    ...defined({ ref: branch }),
  };
}

/** Returns the context for one repository, in which ids are paths. */
function contextOf(
  ctx: SyncContext<unknown>,
  repository: ForgeRepository,
  forge: "gitea" | "github",
): SyncContext<GitConfig> {
  const { connector, stored } = ctx;
  const at = (path: string) => fileId(repository, path);
  return {
    ...ctx,
    config: gitConfigOf(ctx.config, `${repository.webUrl}.git`, forge, repository.branch),
    connector: { ...connector, id: `${connector.id}/r${repository.id}` },
    stored: {
      version: (path) => stored.version(at(path)),
      accessKey: (path) => stored.accessKey(at(path)),
      list: () => {
        throw new Error("A run of one repository lists nothing of what is stored.");
      },
    },
  };
}

/**
 * Checks that the repository still has the name that it was listed with. Another repository with other readers may have
 * taken the name since.
 */
export function confirmName({ fullName, webUrl }: ForgeRepository, now: ForgeRepository): void {
  if (now.webUrl === webUrl) return;
  throw halfRead(`${fullName} was renamed or transferred while it was read. The next sync reads it.`);
}

function pathOf(externalId: string, repository: ForgeRepository): string[] {
  const id = parseId(externalId);
  return id?.type === "file" && id.repository === repository.id ? [id.path] : [];
}

function notFound(externalId: string): ApiError {
  return new ApiError("source_not_found", {
    message: `There is no readable file ${shown(externalId)}.`,
  });
}

/** Returns the problem that a check reports if the git program can't be used. */
export function gitProblem(message: string): SourceProblem {
  return { code: "connector_check_failed", message, hint: "Install git, or leave out files.", field: "content" };
}
