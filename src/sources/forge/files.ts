import type { SourceProblem } from "#api/common.ts";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ApiError, isApiError } from "#api/errors.ts";
import type { SourceContext, SyncContext } from "#sources/context.ts";
import type { FileContent, SourceContainer, SourceItem } from "#sources/item.ts";
import type { SyncEvent } from "#sources/sync-events.ts";
import type { GitConfig } from "#sources/git-repository/config.ts";
import { makeContents } from "#sources/git-repository/contents.ts";
import type { GitCursor } from "#sources/git-repository/cursor.ts";
import { type GitPlaces, makeEnvironment, whyUnavailable } from "#sources/git-repository/environment.ts";
import { folderOf } from "#sources/git-repository/mirror.ts";
import { gitSessions } from "#sources/git-repository/sync.ts";
import type { Batching } from "#sources/batching.ts";
import { runSessions } from "#sources/run-session.ts";
import type { Outcome } from "#sources/session.ts";
import type { Forge, ForgeRepository } from "./contract.ts";
import { fileId, filesRef, folderId, parseId } from "./ids.ts";
import { accessOf, type ForgeFacts, homeOf } from "./map.ts";

/** What the config says of files. */
export type FileConfig = Pick<GitConfig, "maxFileMb" | "archives" | "secretFiles">;

/** Where the files of a repository are handed over up to, of whatever run. */
export type FilesState = GitCursor;

export interface ForgeFiles {
  /** The files of a repository, or what changed among them, or these paths. Gives where it stands after them. */
  tell(
    ctx: SyncContext<unknown>,
    repository: ForgeRepository,
    run: { facts: ForgeFacts; forge: Pick<Forge, "repository">; state?: FilesState; paths?: readonly string[] },
  ): AsyncGenerator<Outcome, FilesState>;
  read(ctx: SourceContext<unknown>, item: { externalId: string; ref?: string; version?: string }): Promise<FileContent>;
  /** Deletes the mirrors of all repositories but these. */
  keepOnly(connectorId: string, repositories: ReadonlySet<string>): Promise<void>;
  forget(connectorId: string): Promise<void>;
  unavailable(): Promise<string | undefined>;
}

/** Commits that authors and dates of files are looked for in. */
const HISTORY = 1_000;

/**
 * Files by the git program: a mirror for each repository, read as the `git` source reads one. The address is made of the
 * config's own and the repository's name, so that the token goes nowhere else.
 */
export function makeForgeFiles(
  places: GitPlaces & { batching?: Partial<Batching> },
  forge: "gitea" | "github",
): ForgeFiles {
  const environment = makeEnvironment(places);
  const contents = makeContents(environment);
  const sync = runSessions(gitSessions(environment, places.batching?.upserts), places.batching);

  return {
    async *tell(ctx, repository, { facts, forge: { repository: reread }, state, paths }) {
      const below = contextOf(ctx, repository, forge);
      const request = {
        mode: paths ? ("items" as const) : state ? ("incremental" as const) : ("full" as const),
        scope: { include: [], exclude: [] },
        cursor: state ? { feed: state } : null,
        ...(paths && { externalIds: paths }),
      };
      let reached: FilesState = state ?? { base: null, placeKey: null };
      try {
        let isConfirmed = false;
        for await (const event of sync(below, request)) {
          // Git fetches by name, and before it says anything.
          if (!isConfirmed) confirmName(repository, await reread(repository.id));
          isConfirmed = true;
          if (event.t === "checkpoint") {
            reached = event.cursor.feed ?? reached;
          } else if (event.t !== "end" && event.t !== "progress") {
            yield placed(event, repository, facts);
          }
        }
      } catch (error) {
        // The forge took the token a moment ago: it is this repository's code that is closed to it.
        if (!isApiError(error, "source_unauthorized")) throw error;
        throw new ApiError("source_forbidden", { message: error.message, cause: error });
      }
      return reached;
    },
    async read(ctx, { externalId, ref, version }) {
      const id = parseId(externalId);
      if (id?.type !== "file") throw notFound(externalId);
      const { connector, signal } = ctx;
      const config = gitConfigOf(ctx.config, `${PLACEHOLDER}/${id.repository}`, forge);
      const at = { config, signal, connector: { ...connector, id: `${connector.id}/r${id.repository}` } };
      return contents.read(at, {
        externalId: id.path,
        ...(ref !== undefined && { ref }),
        ...(version !== undefined && { version }),
      });
    },
    async keepOnly(connectorId, repositories) {
      const folder = folderOf(environment, connectorId);
      for (const name of await readdir(folder).catch(() => [])) {
        if (!/^r\d+$/.test(name) || repositories.has(name.slice(1))) continue;
        contents.close(`${connectorId}/${name}`);
        await rm(join(folder, name), { recursive: true, force: true });
      }
    },
    async forget(connectorId) {
      await this.keepOnly(connectorId, new Set());
      await rm(folderOf(environment, connectorId), { recursive: true, force: true });
    },
    unavailable: () => whyUnavailable(environment),
  };
}

/** A remote that is never asked: what is read is in the mirror already. */
const PLACEHOLDER = "https://mirror.invalid";

function gitConfigOf(config: unknown, url: string, forge: "gitea" | "github", branch?: string): GitConfig {
  // A forge's config has what `FORGE_CHOICES` says.
  const { maxFileMb, archives, secretFiles } = config as FileConfig;
  return {
    url,
    commits: false,
    history: HISTORY,
    maxFileMb,
    archives,
    secretFiles,
    forge,
    ...(branch !== undefined && { ref: branch }),
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

/** Another repository may have taken the name since it was listed: its files are for others. */
function confirmName({ fullName, webUrl }: ForgeRepository, now: ForgeRepository): void {
  if (now.webUrl === webUrl) return;
  throw new ApiError("source_unavailable", {
    message: `${fullName} was renamed or transferred while its files were read. The next sync reads them.`,
  });
}

type Told = Exclude<SyncEvent, { t: "checkpoint" | "end" | "progress" }>;

/** What is said of a path as what is said of a file of this repository. */
function placed(event: Told, repository: ForgeRepository, facts: ForgeFacts): Outcome {
  const at = (path: string) => fileId(repository, path);
  switch (event.t) {
    case "upsert":
      return { t: "upsert", item: toFileItem(event.item, repository, facts) };
    case "seen":
      return { t: "seen", externalIds: event.externalIds.map(at) };
    case "delete":
      return { t: "delete", externalId: at(event.externalId) };
    case "delete_container":
      return { t: "delete_container", type: event.type, id: folderId(repository, event.id) };
    case "skip":
      return { ...event, externalId: at(event.externalId) };
    default:
      throw new Error(`A repository says nothing of ${event.t}.`);
  }
}

function toFileItem(item: SourceItem, repository: ForgeRepository, facts: ForgeFacts): SourceItem {
  const { formerId, containers = [] } = item;
  const root = filesRef(repository);
  const folders = containers
    .filter(({ type }) => type === "folder")
    .map((folder): SourceContainer => ({
      ...folder,
      id: folderId(repository, folder.id),
      parentId: folder.parentId === undefined ? root.id : folderId(repository, folder.parentId),
    }));
  const files: SourceContainer = {
    ...root,
    type: "folder",
    name: repository.fullName,
    parentId: `r${repository.id}`,
    isHome: true,
  };
  return {
    ...item,
    externalId: fileId(repository, item.externalId),
    ...(formerId !== undefined && { formerId: fileId(repository, formerId) }),
    place: repository.fullName,
    containers: [...homeOf(repository), files, ...folders],
    access: accessOf(repository, "files", facts),
  };
}

function notFound(externalId: string): ApiError {
  return new ApiError("source_not_found", {
    message: `There is no readable file ${JSON.stringify(externalId.slice(0, 200))}.`,
  });
}

/** What a check says where the git program can't be used. */
export function gitProblem(message: string): SourceProblem {
  return { code: "connector_check_failed", message, hint: "Install git, or leave out files.", field: "content" };
}
