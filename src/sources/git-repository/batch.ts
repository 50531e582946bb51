import type { SyncEvent } from "#sources/contract.ts";
import { SEEN_IDS, tellSeen } from "#sources/seen.ts";
import type { GitCursor } from "./cursor.ts";
import type { GitEnvironment } from "./mirror.ts";
import type { CommitView, WantedFile } from "./view.ts";

/** How much is handed over between two checkpoints. */
export interface Batching {
  upserts: number;
  seen: number;
}

export const DEFAULT_BATCHING: Batching = { upserts: 200, seen: 2_000 };

/** What a run works with. */
export interface Walking {
  environment: GitEnvironment;
  batching: Batching;
}

type Event = SyncEvent<GitCursor>;

/** What went: a path, or a folder with all that was in it. */
export type Gone = { path: string } | { folder: string };

export type Batch = ReturnType<typeof makeBatch>;

/** Files handed over together: their sizes and dates are asked for some at a time. */
const FILES_TOGETHER = 100;

/** Gathers what a walk hands over: files some at a time, checkpoints between them. */
export function makeBatch({ batching }: Walking, walk: NonNullable<GitCursor["walk"]>, view: CommitView) {
  let { position, done } = walk;
  let [upserts, unchanged] = [0, 0];
  let files: WantedFile[] = [];
  let seen: string[] = [];
  let gone: Gone[] = [];
  /** Said once in a run. */
  const folders = new Set<string>();
  const cursor = (): GitCursor => ({ base: null, placeKey: null, walk: { ...walk, position, done } });

  async function* hand(some: readonly WantedFile[]): AsyncGenerator<Event, void> {
    for (const item of await view.toItems(some)) {
      done++;
      upserts++;
      yield { t: "upsert", item };
    }
  }

  async function* flush(): AsyncGenerator<Event, void> {
    yield* hand(files);
    yield* tellSeen(seen);
    for (const each of gone) {
      if ("path" in each) yield { t: "delete", externalId: each.path };
      else yield { t: "delete_container", type: "folder", id: each.folder };
    }
    [files, seen, gone] = [[], [], []];
  }

  return {
    cursor,
    done: () => done,
    hand,
    flush,
    pass: () => void position++,
    addFile: (file: WantedFile) => void files.push(file),
    addGone(what: Gone) {
      if ("folder" in what && folders.has(what.folder)) return;
      if ("folder" in what) folders.add(what.folder);
      gone.push(what);
    },
    addSeen(path: string) {
      seen.push(path);
      done++;
      unchanged++;
    },
    countUpsert(event: Event): Event {
      done++;
      upserts++;
      return event;
    },
    async *flushIfFull(): AsyncGenerator<Event, void> {
      if (files.length >= FILES_TOGETHER || seen.length >= SEEN_IDS) yield* flush();
    },
    /** Hands over what is due and, now and then, where the walk stands. */
    async *flushIfDue(total?: number): AsyncGenerator<Event, void> {
      const isDue = upserts + files.length >= batching.upserts || unchanged >= batching.seen;
      if (files.length >= FILES_TOGETHER || seen.length >= SEEN_IDS || isDue) yield* flush();
      if (!isDue) return;
      yield { t: "checkpoint", cursor: cursor() };
      yield { t: "progress", done, ...(total !== undefined && { total: Math.max(total, done) }) };
      [upserts, unchanged] = [0, 0];
    },
  };
}
