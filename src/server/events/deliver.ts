import type { Parts } from "#storage/records/parts.ts";
import type { Sleep } from "#core/clock.ts";
import type { GuardedClient } from "#net/guarded-client.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { actOn } from "#storage/audit-act.ts";
import type { DeliveryRecord } from "#storage/records/event-deliveries.ts";
import type {
  ClaimedTarget,
  EventTargetPatch,
  EventTargetRecord,
  PauseReason,
} from "#storage/records/event-targets.ts";
import type { TargetSecrets } from "./secrets.ts";
import { SEND_TIMEOUT_MS, sendEvent, type TryEnd } from "./send.ts";

export interface DeliveryOptions extends Pick<Parts, "store" | "clock" | "randomBytes" | "log"> {
  sleep: Sleep;
  client: Pick<GuardedClient, "resolve" | "send">;
  secrets: TargetSecrets;
  audit: Pick<AuditRecorder, "recordSystem">;
  /** Records the due events about the state of connectors, before each check for due deliveries. */
  watch(): Promise<void>;
}

export interface EventDelivery {
  /** Starts sending. `stop` ends it. */
  start(): void;
  /** Checks at once. Call it when a delivery is due. */
  wake(): void;
  /** Ends requests in progress. Their events are sent again. */
  stop(): Promise<void>;
  /** Sends until no delivery is due; for tests. Returns the number of tries. */
  runUntilIdle(): Promise<number>;
  /** Deletes events older than 30 days, and expired secrets. */
  sweep(): Promise<void>;
}

const IDLE_MS = 1_000;
/**
 * The number of targets that are served at once. A workspace has at most 20 targets, so one workspace's unresponsive
 * targets don't delay others.
 */
const TARGETS_AT_ONCE = 64;
/** The number of deliveries to a target before another target has its turn. */
const TURN = 50;
const LEASE_MS = SEND_TIMEOUT_MS + 5_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/**
 * The waits after the first, second … failed try, 25.7 hours in total. Each is changed at random by up to a quarter.
 */
const WAITS_MS = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  6 * HOUR_MS,
  6 * HOUR_MS,
  6 * HOUR_MS,
];
const MAX_TRIES = WAITS_MS.length + 1;
/** The longest pause that a target can request. */
const MAX_RETRY_AFTER_MS = DAY_MS;
/** A target that has accepted no delivery for this long is paused. */
const FAILING_MS = 3 * DAY_MS;
const KEEP_MS = 30 * DAY_MS;
/** The maximum number of events kept for a paused target. The oldest is dropped first. */
const MAX_WAITING = 50_000;
const SWEEP_SLICE = 1_000;

/**
 * Makes the sender of due events. To each target it sends one event after the other, in the order in which they
 * happened, and it serves several targets at once. Delivery is at least once: an event that was being sent when a
 * process died is sent again, with the same id.
 */
export function makeEventDelivery(options: DeliveryOptions): EventDelivery {
  const { store, clock, sleep, log, secrets, audit } = options;
  const senderId = Buffer.from(options.randomBytes(9)).toString("base64url");
  const running = new Map<string, Promise<number>>();
  const over = new AbortController();
  let nap = new AbortController();
  let claims = 0;
  let loop: Promise<void> | undefined;

  const wake = () => nap.abort();

  /** Starts serving targets that are due, up to the limit. @returns the number started */
  async function begin(): Promise<number> {
    let begun = 0;
    while (running.size < TARGETS_AT_ONCE && !over.signal.aborted) {
      const owner = `${senderId}:${++claims}`;
      const claimed = await store.eventQueue.claim({ owner, now: clock.now(), leaseUntil: clock.now() + LEASE_MS });
      if (!claimed) break;
      const serving = serve(claimed, owner).finally(() => {
        running.delete(owner);
        wake();
      });
      running.set(owner, serving);
      begun++;
    }
    return begun;
  }

  /** Serves a claimed target. Returns the number of tries. */
  async function serve({ workspaceId, target: { targetId } }: ClaimedTarget, owner: string): Promise<number> {
    const { eventTargets } = store.in(workspaceId);
    let tries = 0;
    try {
      while (tries < TURN && !over.signal.aborted) {
        if (!(await eventTargets.extend(targetId, owner, clock.now() + LEASE_MS))) return tries;
        const next = await findNext(workspaceId, targetId);
        if (!next) return tries;
        tries++;
        const end = await attempt(workspaceId, next);
        if (!(await settle(workspaceId, next, end))) return tries;
      }
    } catch (error) {
      if (!over.signal.aborted) log.error({ targetId, error }, "Events could not be sent");
    } finally {
      await eventTargets.release(targetId, owner).catch((error: unknown) => {
        // The claim expires by itself.
        log.warn({ targetId, error }, "An event target could not be released");
      });
    }
    return tries;
  }

  /** Returns the first waiting delivery; undefined if none waits, and then the target is no longer due. */
  async function findNext(workspaceId: string, targetId: string): Promise<Next | undefined> {
    const { eventTargets, eventDeliveries } = store.in(workspaceId);
    const target = await eventTargets.find(targetId);
    if (target?.state !== "active" || target.dueAt === null || target.dueAt > clock.now()) return undefined;
    const delivery = await eventDeliveries.findHead(targetId);
    if (delivery) return { target, delivery };
    // An event that was added in the meantime made the target due again.
    await store.transaction(async (tx) => {
      const inside = tx.in(workspaceId);
      if (await inside.eventDeliveries.findHead(targetId)) return;
      await inside.eventTargets.update(targetId, { dueAt: null });
    });
    return undefined;
  }

  async function attempt(workspaceId: string, { target, delivery }: Next): Promise<TryEnd> {
    const now = clock.now();
    let keys: string[];
    try {
      keys = secrets.open({ workspaceId, targetId: target.targetId }, target, now);
    } catch (error) {
      log.error({ targetId: target.targetId, error }, "The secret of an event target can't be read; rotate it");
      return { type: "failed", status: null, code: "secret_unreadable" };
    }
    const what = { url: target.url, event: delivery.event, workspaceId, secrets: keys };
    return sendEvent(options.client, what, { now, signal: over.signal });
  }

  /** Records the result of a try. @returns whether the next delivery can be sent at once */
  async function settle(workspaceId: string, { target, delivery }: Next, end: TryEnd): Promise<boolean> {
    const now = clock.now();
    const { targetId } = target;
    const tries = delivery.tries + 1;
    const isOver = end.type === "delivered" || (end.code !== "gone" && tries >= MAX_TRIES);
    const reason = pauseFor(end, target, now);
    await store.transaction(async (tx) => {
      const { eventTargets, eventDeliveries } = tx.in(workspaceId);
      await eventDeliveries.settle(delivery.deliveryId, {
        state: end.type === "delivered" ? "delivered" : isOver ? "failed" : "waiting",
        tries,
        triedAt: now,
        endedAt: isOver ? now : null,
        status: end.status,
        code: end.type === "delivered" ? null : end.code,
      });
      const today = await eventTargets.find(targetId);
      // An admin has paused the target or changed its URL, so this result no longer applies.
      if (today?.state !== "active" || today.url !== target.url) return;
      await eventTargets.update(targetId, afterTry(end, today, { tries, isOver, reason, now, random: random() }));
      if (reason === undefined) return;
      const act = actOn(targetId, "event_target.paused", { reason });
      await audit.recordSystem(tx, workspaceId, act);
    });
    const { deliveryId, eventId } = delivery;
    const about = { targetId, deliveryId, eventId, type: delivery.event.type, tries };
    if (end.type === "delivered") log.debug({ ...about, status: end.status }, "An event was delivered");
    else log.warn({ ...about, status: end.status, code: end.code }, "An event could not be delivered");
    if (reason !== undefined) log.warn({ targetId, reason }, "An event target was paused");
    return end.type === "delivered" || (isOver && reason === undefined);
  }

  const random = () => (options.randomBytes(1)[0] ?? 0) / 255;

  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      nap = new AbortController();
      try {
        await options.watch();
        await begin();
      } catch (error) {
        log.error({ error }, "Due events could not be listed");
      }
      await sleep(IDLE_MS, AbortSignal.any([nap.signal, over.signal]));
    }
  }

  return {
    start() {
      loop ??= work();
    },
    wake,
    async stop() {
      over.abort();
      await loop;
      await Promise.all(running.values());
    },
    async runUntilIdle() {
      let tries = 0;
      for (;;) {
        await options.watch();
        if ((await begin()) === 0 && running.size === 0) return tries;
        for (const count of await Promise.all(running.values())) tries += count;
      }
    },
    async sweep() {
      const now = clock.now();
      for (const { workspaceId } of await store.workspaces.list()) {
        const { eventDeliveries, eventTargets } = store.in(workspaceId);
        while ((await eventDeliveries.sweep(now - KEEP_MS, SWEEP_SLICE)) >= SWEEP_SLICE);
        for (const { targetId } of await eventTargets.list()) await eventDeliveries.trimWaiting(targetId, MAX_WAITING);
      }
      for (const place of await store.eventQueue.listOverlapsEnded(now)) {
        await store.transaction(async (tx) => {
          const { eventTargets } = tx.in(place.workspaceId);
          const target = await eventTargets.find(place.targetId);
          // The secret was rotated again in the meantime, and the newer overlap hasn't ended.
          if (!target || target.previousUntil === null || target.previousUntil > now) return;
          await eventTargets.update(place.targetId, secrets.forgetPrevious(place, target));
        });
      }
    },
  };
}

interface Next {
  target: EventTargetRecord;
  delivery: DeliveryRecord;
}

/** Returns the reason to pause the target after this try, if any. */
function pauseFor(end: TryEnd, { failingSince }: EventTargetRecord, now: number): PauseReason | undefined {
  if (end.type === "delivered") return undefined;
  if (end.code === "gone") return "gone";
  return failingSince !== null && now - failingSince >= FAILING_MS ? "failing" : undefined;
}

function afterTry(
  end: TryEnd,
  target: EventTargetRecord,
  {
    tries,
    isOver,
    reason,
    now,
    random,
  }: { tries: number; isOver: boolean; reason: PauseReason | undefined; now: number; random: number },
): EventTargetPatch {
  if (end.type === "delivered") return { failingSince: null, dueAt: now };
  const failingSince = target.failingSince ?? now;
  if (reason !== undefined) return { failingSince, state: "paused", pausedFor: reason, pausedAt: now, dueAt: null };
  if (isOver) return { failingSince, dueAt: now };
  const wait = (WAITS_MS[tries - 1] ?? 0) * (1 + random / 4);
  return { failingSince, dueAt: now + Math.round(Math.max(wait, Math.min(end.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS))) };
}
