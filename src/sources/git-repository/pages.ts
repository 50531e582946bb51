import type { Outcome } from "#sources/outcomes.ts";
import type { Page, PageEntry, WalkEvent } from "#sources/session.ts";
import type { GitPlace } from "./cursor.ts";
import type { CommitView, WantedFile } from "./view.ts";

/** A removed path, or a removed folder with everything in it. */
export type Gone = { path: string } | { folder: string };

export type Pages = ReturnType<typeof makePages>;

/** The files of a page whose contents may be requested now. */
export interface CurrentPage {
  view: CommitView;
  files: ReadonlyMap<string, WantedFile>;
}

/** Collects the results of a walk into pages. `give` is called with each page before the page is yielded. */
export function makePages(view: CommitView, size: number, give: (page: CurrentPage) => void) {
  let entries: PageEntry[] = [];
  let files = new Map<string, WantedFile>();
  let gone: Outcome[] = [];
  /** Folders that were reported, each once in a run. */
  const folders = new Set<string>();

  return {
    add: (entry: PageEntry): void => void entries.push(entry),
    addFile(file: WantedFile): void {
      files.set(file.path, file);
      entries.push({ externalId: file.path, version: file.version });
    },
    addGone(what: Gone): void {
      if ("path" in what) gone.push({ t: "delete", externalId: what.path });
      else if (!folders.has(what.folder)) gone.push({ t: "delete_container", type: "folder", id: what.folder });
      if ("folder" in what) folders.add(what.folder);
    },
    isFull: (): boolean => entries.length + gone.length >= size,
    /**
     * Yields the collected page, and then the removals. Files that moved out of a removed path are reported before it
     * is removed.
     */
    *take(more: Pick<Page<GitPlace>, "checkpoint" | "total" | "isDue"> = {}): Generator<WalkEvent<GitPlace>, void> {
      const [page, left] = [entries, gone];
      give({ view, files });
      [entries, files, gone] = [[], new Map(), []];
      yield { t: "page", entries: page, ...more };
      yield* left;
    },
  };
}
