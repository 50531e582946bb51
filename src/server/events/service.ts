import type { CursorCodec } from "#server/http/cursor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { actOn } from "#storage/audit-act.ts";
import type { Parts } from "#storage/records/parts.ts";
import { readPage } from "#server/http/pages.ts";
import type { MemberHandlers } from "#server/http/mount.ts";
import { makeId } from "#api/common.ts";
import { ApiError, existing } from "#api/errors.ts";
import { EVENT_TYPES } from "#api/event-types.ts";
import type { EventTarget, eventRoutes } from "#api/events.ts";
import { defined } from "#core/defined.ts";
import type { GuardedClient } from "#net/guarded-client.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { DeliveryRecord } from "#storage/records/event-deliveries.ts";
import type { EventTargetPatch, EventTargetRecord } from "#storage/records/event-targets.ts";
import type { Store } from "#storage/records/store.ts";
import type { TargetSecrets } from "./secrets.ts";
import { resolveTarget, sendEvent, type TryEnd } from "./send.ts";
import { toDelivery, toTargets } from "./view.ts";
import type { EventWatch } from "./watch.ts";

export interface EventServiceOptions extends Pick<Parts, "store" | "clock" | "randomBytes"> {
  audit: AuditRecorder;
  cursors: CursorCodec;
  client: Pick<GuardedClient, "resolve" | "send">;
  secrets: TargetSecrets;
  watch: Pick<EventWatch, "begin">;
  /** Call this when a delivery is due. */
  wake(): void;
}

const MAX_TARGETS = 20;
const MAX_REPLAYED = 10_000;

/**
 * Makes the service for the event targets of a workspace and their deliveries. For admins only, as the route access
 * table says. Its audit rows contain ids, hosts and numbers.
 */
export function makeEventService(options: EventServiceOptions): MemberHandlers<typeof eventRoutes> {
  const { store, clock, randomBytes, client, secrets, audit, watch } = options;

  async function show(actor: Actor, targetId: string): Promise<{ target: EventTarget }> {
    const workspace = store.in(actor.workspaceId);
    const [target] = await toTargets(workspace, [await requireTarget(store, actor, targetId)], clock.now());
    return { target: existing(target) };
  }

  /**
   * Checks the address that a URL resolves to, and returns the URL in its stored form.
   *
   * @throws ApiError `address_not_allowed`, `source_unavailable`
   */
  async function judge(text: string): Promise<string> {
    const url = new URL(text);
    url.hash = "";
    await resolveTarget(client, url);
    return url.href;
  }

  async function enqueueAgain(tx: Store, actor: Actor, targetId: string, eventId: string): Promise<string> {
    const deliveryId = makeId("delivery", randomBytes);
    const line = { deliveryId, targetId, eventId, createdAt: clock.now(), isReplay: true };
    await tx.in(actor.workspaceId).eventDeliveries.enqueue(line);
    return deliveryId;
  }

  return {
    async list({ actor }) {
      const workspace = store.in(actor.workspaceId);
      return { targets: await toTargets(workspace, await workspace.eventTargets.list(), clock.now()) };
    },

    get: ({ actor, params }) => show(actor, params.id),

    /** @throws ApiError `address_not_allowed`, `source_unavailable`, `quota_reached` */
    async create({ actor, body }) {
      const url = await judge(body.url);
      const targetId = makeId("eventTarget", randomBytes);
      const { secret, ...sealed } = secrets.make({ workspaceId: actor.workspaceId, targetId });
      await store.transaction(async (tx) => {
        const { eventTargets } = tx.in(actor.workspaceId);
        const count = (await eventTargets.list()).length;
        if (count >= MAX_TARGETS) {
          throw new ApiError("quota_reached", {
            message: `A workspace can have ${MAX_TARGETS} event targets. Delete one first.`,
          });
        }
        if (count === 0) await watch.begin(tx, actor.workspaceId);
        const record: EventTargetRecord = {
          targetId,
          url,
          types: [...(body.types ?? EVENT_TYPES)],
          state: "active",
          pausedFor: null,
          pausedAt: null,
          ...sealed,
          createdBy: actor.userId,
          createdAt: clock.now(),
          failingSince: null,
          dueAt: null,
        };
        await eventTargets.create(record);
        await audit.record(
          tx,
          actor,
          actOn(targetId, "event_target.created", { host: new URL(url).host, types: record.types }),
        );
      });
      return { ...(await show(actor, targetId)), secret };
    },

    /** @throws ApiError `not_found`, `address_not_allowed`, `source_unavailable` */
    async change({ actor, params: { id: targetId }, body }) {
      await requireTarget(store, actor, targetId);
      const url = body.url === undefined ? undefined : await judge(body.url);
      await store.transaction(async (tx) => {
        const before = await requireTarget(tx, actor, targetId);
        const { eventTargets, eventDeliveries } = tx.in(actor.workspaceId);
        const state = body.state ?? before.state;
        const patch: EventTargetPatch = { ...defined({ url, types: body.types }), state };
        if (state === "paused" && before.state === "active") {
          Object.assign(patch, { pausedFor: "admin", pausedAt: clock.now(), dueAt: null });
        }
        const isMoved = url !== undefined && url !== before.url;
        if (state === "active" && (before.state === "paused" || isMoved)) {
          // The target's earlier failures no longer apply.
          const isWaiting = (await eventDeliveries.findHead(targetId)) !== undefined;
          const dueAt = isWaiting ? clock.now() : null;
          Object.assign(patch, { pausedFor: null, pausedAt: null, failingSince: null, dueAt });
          await eventDeliveries.restartTries(targetId);
        }
        await eventTargets.update(targetId, patch);
        const details = defined({
          host: isMoved ? new URL(url).host : undefined,
          types: body.types,
          state: body.state,
        });
        await audit.record(tx, actor, actOn(targetId, "event_target.updated", details));
      });
      options.wake();
      return show(actor, targetId);
    },

    /** @throws ApiError `not_found` */
    async remove({ actor, params: { id: targetId } }) {
      await store.transaction(async (tx) => {
        const { url } = await requireTarget(tx, actor, targetId);
        await tx.in(actor.workspaceId).eventTargets.remove(targetId);
        await audit.record(tx, actor, actOn(targetId, "event_target.deleted", { host: new URL(url).host }));
      });
    },

    /**
     * Makes a new secret. The previous secret also signs until the overlap ends. A still older one ends now, so that at
     * most two secrets sign.
     *
     * @throws ApiError `not_found`, `secret_unreadable` when the previous one is to continue and can't be read
     */
    async rotateSecret({ actor, params: { id: targetId }, body: { overlapSeconds } }) {
      const secret = await store.transaction(async (tx) => {
        const before = await requireTarget(tx, actor, targetId);
        const until = overlapSeconds === 0 ? null : clock.now() + overlapSeconds * 1_000;
        const { secret: made, ...sealed } = secrets.rotate({ workspaceId: actor.workspaceId, targetId }, before, until);
        await tx.in(actor.workspaceId).eventTargets.update(targetId, sealed);
        await audit.record(tx, actor, actOn(targetId, "event_target.secret_rotated", { overlapSeconds }));
        return made;
      });
      return { ...(await show(actor, targetId)), secret };
    },

    /** Sends a ping once, in any state of the target, ahead of waiting events. @throws ApiError `not_found` */
    async test({ actor, params: { id: targetId } }) {
      const { workspaceId } = actor;
      const now = clock.now();
      const deliveryId = makeId("delivery", randomBytes);
      const event = { eventId: makeId("event", randomBytes), type: "ping", at: now, data: { targetId } } as const;
      const target = await store.transaction(async (tx) => {
        const found = await requireTarget(tx, actor, targetId);
        const { eventDeliveries } = tx.in(workspaceId);
        await eventDeliveries.addEvent(event);
        const { eventId } = event;
        await eventDeliveries.addApart({ deliveryId, targetId, eventId, createdAt: now, isReplay: false });
        await audit.record(tx, actor, actOn(targetId, "event_target.tested"));
        return found;
      });
      const end = await attempt(target, event);
      const at = clock.now();
      await store.in(workspaceId).eventDeliveries.settle(deliveryId, {
        state: end.type,
        tries: 1,
        triedAt: at,
        endedAt: at,
        status: end.status,
        code: end.type === "delivered" ? null : end.code,
      });
      return { delivery: toDelivery(await requireDelivery(store, actor, targetId, deliveryId)) };

      async function attempt({ url, ...rest }: EventTargetRecord, sent: DeliveryRecord["event"]): Promise<TryEnd> {
        let keys: string[];
        try {
          keys = secrets.open({ workspaceId, targetId }, rest, now);
        } catch {
          return { type: "failed", status: null, code: "secret_unreadable" };
        }
        const signal = new AbortController().signal;
        return sendEvent(client, { url, event: sent, workspaceId, secrets: keys }, { now, signal });
      }
    },

    /** @throws ApiError `not_found`, `invalid_cursor` */
    async deliveries({ actor, params: { id: targetId }, query }) {
      await requireTarget(store, actor, targetId);
      const { eventDeliveries } = store.in(actor.workspaceId);
      const { state } = query;
      const { page, nextCursor } = await readPage(
        options,
        actor,
        {
          route: "GET /api/webhooks/{id}/deliveries",
          args: { targetId, state },
          read: ({ limit, after }) =>
            eventDeliveries.list(targetId, { limit, ...defined({ state, before: after?.value }) }),
          positionOf: ({ seq }) => ({ value: seq, id: "" }),
        },
        query,
      );
      return { deliveries: page.map(toDelivery), nextCursor };
    },

    /** Sends the event of a delivery again, after the waiting events. @throws ApiError `not_found` */
    async replayOne({ actor, params: { id: targetId, deliveryId } }) {
      const again = await store.transaction(async (tx) => {
        const { eventId } = await requireDelivery(tx, actor, targetId, deliveryId);
        await audit.record(tx, actor, actOn(targetId, "event_target.replayed", { deliveryId, count: 1 }));
        return enqueueAgain(tx, actor, targetId, eventId);
      });
      options.wake();
      return { delivery: toDelivery(await requireDelivery(store, actor, targetId, again)) };
    },

    /**
     * Sends the events of a time range again, except those that are still waiting.
     *
     * @throws ApiError `not_found`, `quota_reached`
     */
    async replay({ actor, params: { id: targetId }, body }) {
      const span = {
        since: Date.parse(body.since),
        until: body.until === undefined ? clock.now() + 1 : Date.parse(body.until),
        ...(body.state === "failed" && { state: body.state }),
      };
      const replayed = await store.transaction(async (tx) => {
        await requireTarget(tx, actor, targetId);
        const { eventDeliveries } = tx.in(actor.workspaceId);
        const eventIds = await eventDeliveries.listEventsToReplay(targetId, span, MAX_REPLAYED + 1);
        if (eventIds.length > MAX_REPLAYED) {
          throw new ApiError("quota_reached", {
            message: `More than ${MAX_REPLAYED} events are in this span. Replay a shorter one.`,
          });
        }
        for (const eventId of eventIds) await enqueueAgain(tx, actor, targetId, eventId);
        const details = { ...defined({ since: body.since, until: body.until }), count: eventIds.length };
        await audit.record(tx, actor, actOn(targetId, "event_target.replayed", details));
        return eventIds.length;
      });
      options.wake();
      return { replayed };
    },
  };
}

async function requireTarget(store: Store, { workspaceId }: Actor, targetId: string): Promise<EventTargetRecord> {
  return existing(await store.in(workspaceId).eventTargets.find(targetId));
}

async function requireDelivery(
  store: Store,
  { workspaceId }: Actor,
  targetId: string,
  deliveryId: string,
): Promise<DeliveryRecord> {
  return existing(await store.in(workspaceId).eventDeliveries.find(targetId, deliveryId));
}
