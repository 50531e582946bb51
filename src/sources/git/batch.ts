import type { SyncEvent } from "#sources/contract.ts";
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
  /** Told of each item handed over, so that its content is found without a look at the tree. */
  onItem(path: string, oid: string): void;
}

type Event = SyncEvent<GitCursor>;

export type Batch = ReturnType<typeof makeBatch>;

/** Files handed over together: their sizes and dates are asked for some at a time. */
const FILES_TOGETHER = 100;
/** Ids of one `seen` event at most. */
const SEEN_IDS = 500;

/** Gathers what a walk hands over: files some at a time, checkpoints between them. */
export function makeBatch({ batching, onItem }: Walking, walk: NonNullable<GitCursor["walk"]>, view: CommitView) {
  let { position, done } = walk;
  let [upserts, unchanged] = [0, 0];
  let files: WantedFile[] = [];
  let seen: string[] = [];
  let gone: string[] = [];
  const cursor = (): GitCursor => ({ base: null, placeKey: null, walk: { ...walk, position, done } });

  async function* hand(some: readonly WantedFile[]): AsyncGenerator<Event, void> {
    for (const [index, item] of (await view.toItems(some)).entries()) {
      onItem(item.externalId, some[index]?.entry.oid ?? "");
      done++;
      upserts++;
      yield { t: "upsert", item };
    }
  }

  async function* flush(): AsyncGenerator<Event, void> {
    yield* hand(files);
    for (let i = 0; i < seen.length; i += SEEN_IDS) yield { t: "seen", externalIds: seen.slice(i, i + SEEN_IDS) };
    for (const externalId of gone) yield { t: "delete", externalId };
    [files, seen, gone] = [[], [], []];
  }

  return {
    cursor,
    done: () => done,
    hand,
    flush,
    pass: () => void position++,
    addFile: (file: WantedFile) => void files.push(file),
    addGone: (path: string) => void gone.push(path),
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
