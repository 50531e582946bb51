import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import { ApiError } from "#api/errors.ts";
import type { Actor } from "#storage/access/actor.ts";
import { believedUntil } from "#storage/access/clocks.ts";
import { connectorPrincipal } from "#storage/access/item-clocks.ts";
import type { Clock } from "#core/clock.ts";
import type { Principal } from "#core/principals.ts";
import type { ConnectorGate } from "#storage/records/access.ts";
import type { ItemAccess } from "#storage/records/items.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { makeVisibleCache, type VisibleAccesses } from "./visible.ts";

/** The person who reads, in the form that the index and the store need. */
export interface Viewer {
  /** All principals that the person holds, sorted; empty for a person who isn't a member. */
  principals: readonly Principal[];
  /** The workspace's `accessEpoch` when the principals were determined. */
  epoch: number;
  /** Epoch milliseconds until which the passage of time alone removes none of the principals. */
  validUntil: number;
  /** The time of creation. If the clock is set back, instants that were trusted are in the future. */
  madeAt: number;
}

/** The context of a read inside one snapshot. */
export interface OpenRead {
  /** The workspace's records in the state in which access was checked. */
  store: WorkspaceStore;
  viewer: Viewer;
  /** The requested items that may be read. */
  visible: ReadonlySet<string>;
}

/** The context of a list inside one snapshot, which checks each row by its access number. */
export interface OpenList {
  store: WorkspaceStore;
  viewer: Viewer;
  accesses: VisibleAccesses;
}

/** The one place that decides whether an actor may read an item. */
export interface Policy {
  /**
   * Returns the actor's current principals. They are cached per workspace and user until the epoch changes or they
   * expire (S6).
   */
  viewerOf(actor: Actor): Promise<Viewer>;
  /**
   * Runs `ask` with the actor's viewer and returns its result. The viewer comes from the cache and isn't checked: `ask`
   * compares its epoch with that of the state from which it answers, and returns undefined when they differ. The viewer
   * is then determined again for a second try.
   *
   * @throws ApiError `unavailable` when permissions change faster than the query can run
   */
  askAs<T>(actor: Actor, ask: (viewer: Viewer) => Promise<T | undefined>): Promise<T>;
  /** Checks these items and runs `read` on the same state, so that text and decision always match (S7). */
  readVisible<T>(actor: Actor, kbIds: readonly string[], read: (open: OpenRead) => Promise<T>): Promise<T>;
  /** Runs `read` with the numbers of all accesses that are open to the actor, on one state of the records. */
  readList<T>(actor: Actor, read: (open: OpenList) => Promise<T>): Promise<T>;
  /** Returns those of these items that the actor may read now. */
  mayRead(actor: Actor, kbIds: readonly string[]): Promise<Set<string>>;
  /** Returns the principals of any user of the workspace in a given state, for `storage/policy/explain.ts`. */
  viewerIn(store: WorkspaceStore, userId: string): Promise<Viewer>;
  /** Decides whether one item's access is open to a viewer, in a given state. */
  isOpen(store: WorkspaceStore, item: ItemAccess | undefined, viewer: Viewer): Promise<boolean>;
}

export interface PolicyOptions {
  store: Store;
  clock: Clock;
  /**
   * Whether permissions of a kind of source expire. They do where syncs mirror them. Where they are pushed or set in
   * kb, the latest state stays valid (S23).
   */
  ages(providerId: string): boolean;
}

const KEPT_VIEWERS = 2_000;
/**
 * Limit of tries. Detecting that the epoch has changed costs almost nothing, so a sync that changes it all the time
 * doesn't keep anyone from reading.
 */
const MOST_ASKED = 50;

/** Makes the policy. Source: S4, S6, S7. */
export function makePolicy(options: PolicyOptions): Policy {
  const { store, clock } = options;
  const viewers = new LRUCache<string, Viewer>(atMost(KEPT_VIEWERS));
  const cache = makeVisibleCache();

  const ages = ({ providerId }: ConnectorGate) => options.ages(providerId);

  async function makeViewer(on: WorkspaceStore, userId: string, epoch: number): Promise<Viewer> {
    const now = clock.now();
    const made = { epoch, madeAt: now };
    if (!(await on.access.isMember(userId))) return { ...made, principals: [], validUntil: Infinity };
    const believing = { now, maxAclAgeMs: await on.access.maxAclAgeMs() };
    const mirrors = new Set<string>();
    const closed = new Set<Principal>();
    let validUntil = Infinity;
    const left = await on.access.leftBehindBy(userId);
    for (const gate of await on.access.connectorGates()) {
      const until = ages(gate) ? believedUntil(gate.aclCheckedAt, believing) : Infinity;
      const isLeft = hasLeft(gate, userId) || left.has(gate.connectorId);
      if (until === undefined || isShut(gate, ages(gate)) || isLeft) closed.add(connectorPrincipal(gate.connectorId));
      if (ages(gate) && !isShut(gate, true) && !isLeft) mirrors.add(gate.connectorId);
      // A new check of the source doesn't change the epoch, so items that are hidden because of age or a takeover are
      // checked again each time.
      validUntil = Math.min(validUntil, isLeft ? now : (until ?? now));
    }
    const reached = await on.access.expandAt([`user:${userId}`, "workspace", "everyone"], believing);
    validUntil = Math.min(validUntil, reached.validUntil);
    const all = new Set(reached.principals);
    const held = reached.principals.filter((principal) => !closed.has(principal));
    const clocks = mirrors.size === 0 ? [] : await on.access.itemClocks(now - believing.maxAclAgeMs);
    for (const { connectorId, checkedAt } of clocks) {
      const until = believedUntil(checkedAt, believing);
      if (!mirrors.has(connectorId) || !all.has(connectorPrincipal(connectorId))) continue;
      if (until !== undefined) held.push(connectorPrincipal(connectorId, checkedAt));
      validUntil = Math.min(validUntil, until ?? now);
    }
    return { ...made, principals: held.sort(), validUntil };
  }

  const keyOf = (workspaceId: string, userId: string) => `${workspaceId} ${userId}`;

  /** Returns the last viewer that was determined, of any epoch, if it hasn't expired. */
  function keptViewer(workspaceId: string, userId: string): Viewer | undefined {
    const kept = viewers.get(keyOf(workspaceId, userId));
    const now = clock.now();
    return kept && now < kept.validUntil && now >= kept.madeAt ? kept : undefined;
  }

  async function viewerIn(on: WorkspaceStore, userId: string): Promise<Viewer> {
    const epoch = await on.access.epoch();
    const kept = keptViewer(on.workspaceId, userId);
    if (kept?.epoch === epoch) return kept;
    const viewer = await makeViewer(on, userId, epoch);
    viewers.set(keyOf(on.workspaceId, userId), viewer);
    return viewer;
  }

  const inSnapshot = <T>(actor: Actor, work: (on: WorkspaceStore, viewer: Viewer) => Promise<T>): Promise<T> =>
    store.snapshot(async (snapshot) => {
      const on = snapshot.in(actor.workspaceId);
      return work(on, await viewerIn(on, actor.userId));
    });

  const policy: Policy = {
    viewerOf: (actor) => inSnapshot(actor, async (_on, viewer) => viewer),
    viewerIn,
    async askAs(actor, ask) {
      let viewer = keptViewer(actor.workspaceId, actor.userId) ?? (await policy.viewerOf(actor));
      for (let asked = 1; asked <= MOST_ASKED; asked++) {
        const answer = await ask(viewer);
        if (answer !== undefined) return answer;
        viewer = await policy.viewerOf(actor);
      }
      throw new ApiError("unavailable", {
        message: "Permissions are changing too fast to search. Repeat the search in a moment.",
        retryAfterMs: 1_000,
      });
    },
    isOpen: async (on, item, viewer) => (await openOf(on, item ? [item] : [], viewer, 1)).size > 0,
    readVisible: (actor, kbIds, read) =>
      inSnapshot(actor, async (on, viewer) => {
        const items = await on.items.accessOf(kbIds);
        return read({ store: on, viewer, visible: await openOf(on, items, viewer, kbIds.length) });
      }),
    readList: (actor, read) =>
      inSnapshot(actor, async (on, viewer) =>
        read({ store: on, viewer, accesses: await cache.of(on.access, viewer.principals) }),
      ),
    mayRead: (actor, kbIds) => policy.readVisible(actor, kbIds, async ({ visible }) => new Set(visible)),
  };
  return policy;
}

/**
 * Returns the error for an item that doesn't exist or may not be read. The two cases are identical, word for word.
 * `asked` is the caller's input (kbId, URL or key).
 */
export function itemNotFound(asked: string): ApiError {
  return new ApiError("not_found", {
    message: `No item "${asked.slice(0, 200)}" that this person can see. Use a kbId from a search, or search for its title.`,
  });
}

/**
 * Returns the items that a viewer may read, by the store's own lists, never by the index. A missing item is checked
 * like one that is open to no one, so that it takes as much work as a hidden one.
 */
async function openOf(
  on: WorkspaceStore,
  items: readonly ItemAccess[],
  viewer: Viewer,
  asked: number,
): Promise<Set<string>> {
  const living = items.filter((item) => !item.isRemoved);
  const aclIds = living.map((item) => item.aclId);
  const open = await on.access.visibleOf(living.length < asked ? [...aclIds, NOBODYS] : aclIds, viewer.principals);
  return new Set(living.filter((item) => open.has(item.aclId)).map((item) => item.kbId));
}

/** Whether no item of a connector may be read, whatever the items' clocks are. */
function isShut({ state, refusedAt, withheldAt }: ConnectorGate, isMirror: boolean): boolean {
  return state === "deleting" || withheldAt !== null || (isMirror && (state === "needs_owner" || refusedAt !== null));
}

/**
 * Whether this user owned the connector and left. Its items may name that user. If the user comes back, the items stay
 * hidden from them until someone takes the connector over.
 * Source: S60.
 */
function hasLeft({ state, ownerUserId }: ConnectorGate, userId: string): boolean {
  return state === "needs_owner" && ownerUserId === userId;
}

/** The access number that is open to no one. */
const NOBODYS = 0;
