import { isApiError } from "#api/errors.ts";
import type { ChangeListener, Watch } from "#sources/change-notifications.ts";
import type { Scope } from "#core/scope.ts";
import type { SourceContext } from "#sources/context.ts";
import { compileScope } from "#sources/file-scope/scope.ts";
import type { FilesystemConfig, Places } from "./config.ts";
import type { JudgeOptions } from "./judge.ts";
import { openFolderInside } from "./open-inside.ts";
import { isCleanRelativePath, openRoot } from "./root.ts";
import { findEntry } from "./walk.ts";
import { makeWatchedFolders, type WatchedFolders } from "./watch-folders.ts";
import { DEFAULT_PACE, makeCollector, type Pace } from "./watch-pace.ts";

/** Settings of a watch on a root; for tests. */
export interface WatchTuning {
  pace?: Pace;
  maxFolders?: number;
  isRecursive?: boolean;
}

/**
 * The most watched folders. Each needs some 4 kB in this process and 1 kB in the kernel. The kernel's usual limit for
 * one user is between 8,192 and 1,048,576.
 */
const MAX_FOLDERS = 20_000;

/**
 * Watches the folders of a root that the walk would enter, or nothing if the config disables watching. Changes are
 * checked by the same functions and rules as in a run: links, other devices and excluded files cause no notification.
 *
 * @throws ApiError `root_not_allowed`, `source_unavailable` (the root can't be read, too many folders, no more watches)
 */
export async function watchFolder(
  ctx: SourceContext<FilesystemConfig>,
  scope: Scope,
  places: Places,
  listener: ChangeListener,
  { pace = DEFAULT_PACE, maxFolders = MAX_FOLDERS, isRecursive = process.platform !== "linux" }: WatchTuning = {},
): Promise<Watch | undefined> {
  if (!ctx.config.watch) return undefined;
  const compiled = compileScope(scope);
  const judgeOptions = async (): Promise<JudgeOptions> => {
    const root = await openRoot(ctx.config.root, places);
    return { root, config: ctx.config, scope: compiled, isPrivate: ctx.connector.visibility === "private" };
  };
  let isOver = false;
  let working: Promise<void> = Promise.resolve();
  const stop = () => {
    isOver = true;
    collector.stop();
    folders.close();
  };
  const fail = (error: unknown) => {
    if (isOver) return;
    stop();
    listener.ended(error);
  };
  const collector = makeCollector(pace, (names) => {
    working = attend(names).catch(fail);
    return working;
  });
  const folders = makeWatchedFolders({ maxFolders, isRecursive, notify: (rel) => collector.add(rel), failed: fail });

  async function attend(names: string[] | undefined): Promise<void> {
    const options = await judgeOptions();
    const news = names === undefined ? undefined : await judgeNames(options, folders, names);
    if (news === undefined) await folders.refresh(options, "");
    for (const rel of news?.folders ?? []) await folders.refresh(options, rel);
    if (isOver) return folders.close();
    if (news === undefined || news.folders.length > 0) listener.notify({ t: "anything" });
    else if (news.changed.length + news.gone.length > 0) {
      listener.notify({ t: "items", changed: news.changed, gone: news.gone });
    }
  }

  try {
    await folders.refresh(await judgeOptions(), "");
  } catch (error) {
    stop();
    throw error;
  }
  return {
    async stop() {
      stop();
      await working;
      folders.close();
    },
  };
}

interface News {
  changed: string[];
  gone: string[];
  /** Folders that were added, removed or changed. */
  folders: string[];
}

/** Returns the present state of the names; undefined if anything may have changed. */
async function judgeNames(
  options: JudgeOptions,
  watched: WatchedFolders,
  names: readonly string[],
): Promise<News | undefined> {
  const news: News = { changed: [], gone: [], folders: [] };
  for (const rel of names) {
    if (!isCleanRelativePath(rel)) continue;
    // A folder's ignore file affects everything below it.
    if (/(^|\/)\.(git|kb)ignore$/.test(rel)) return undefined;
    const entry = await findEntry(options, rel);
    if (entry?.type === "failed") return undefined;
    if (entry?.type === "file") news.changed.push(rel);
    else if (watched.has(rel) || (entry === undefined && (await isFolder(options, rel)))) news.folders.push(rel);
    else news.gone.push(rel);
  }
  return news;
}

async function isFolder({ root }: JudgeOptions, rel: string): Promise<boolean> {
  try {
    await (await openFolderInside(root, rel)).close();
    return true;
  } catch (error) {
    if (isApiError(error)) return false;
    throw error;
  }
}
