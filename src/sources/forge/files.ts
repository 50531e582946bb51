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
 * The position up to which the files of a repository were yielded, and the walk that a run began after that and did not
 * finish.
 */
export const FilesState = GitCursor.extend({ left: GitPlace.optional() });
export type FilesState = z.infer<typeof FilesState>;

export type ForgeFiles = ReturnType<typeof makeForgeFiles>;

/** The current state of one session: the connectors of a server share its `ForgeFiles`. */
export interface AtHand {
  /** Reads files of the last page yielded; absent without one. */
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
  /** Called before any of this is yielded: the next walk has to know of it if this one doesn't finish. */
  begins(left: GitPlace): Promise<void>;
}

/** Commits that are searched for authors and dates of files. */
const HISTORY = 1_000;

/**
 * Reads files with the git program: a mirror for each repository, read as the `git` source reads one. The address is
 * built from the config's own and the repository's name, so that the token is sent nowhere else.
 */
export function makeForgeFiles(places: GitPlaces & { batching?: Partial<Batching> }, forge: "gitea" | "github") {
  const environment = makeEnvironment(places);
  const contents = makeContents(environment);
  const sessions = gitSessions(environment, places.batching?.upserts);

  /**
   * Git's session of one repository, in which paths are ids. @throws ApiError `source_forbidden` when the code can't be
   * read
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
     * Walks the files of a repository, or those changed since a state. Returns the position after them, and whether it
     * named all of them. An interrupted attempt resumes `at` a position. The changed files of a page are read through
     * `hand.page` while it is the current page.
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
              // Git has already fetched by name the commit that it begins with now.
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
    /** The results for these paths of a repository. */
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
    /** Deletes the mirrors of all repositories but these. */
    keepOnly,
    async forget(connectorId: string): Promise<void> {
      await keepOnly(connectorId, new Set());
      await rm(folderOf(environment, connectorId), { recursive: true, force: true });
    },
    unavailable: (): Promise<string | undefined> => whyUnavailable(environment),
  };
}

/**
 * The forge answered a moment ago: git's failure concerns this repository, and isn't a reason to skip those after it.
 */
function ofOne(error: unknown): unknown {
  if (isApiError(error, "source_unauthorized"))
    return new ApiError("source_forbidden", { message: error.message, cause: error });
  return isApiError(error, "source_unavailable") ? halfRead(error.message) : error;
}

type GitSession = Awaited<ReturnType<ReturnType<typeof gitSessions>["open"]>>;

/** A remote that is never contacted: the mirror already has what is read. */
const PLACEHOLDER = "https://mirror.invalid";

function gitConfigOf(config: unknown, url: string, forge: "gitea" | "github", branch?: string): GitConfig {
  // A forge's config has the keys of `FORGE_CHOICES`.
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

/** A run of one repository, in which paths are ids. */
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

/** Another repository may have taken the name since it was listed: it has other readers. */
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

/** The check's problem when the git program can't be used. */
export function gitProblem(message: string): SourceProblem {
  return { code: "connector_check_failed", message, hint: "Install git, or leave out files.", field: "content" };
}
