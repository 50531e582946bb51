import { eventRoutes } from "#api/events.ts";
import type { Mount } from "#server/http/mount.ts";
import type { EventService } from "./service.ts";

/** `/api/webhooks`. */
export function mountEvents(at: Mount, { events }: { events: EventService }): void {
  at.member(eventRoutes.list, ({ actor }) => events.list(actor));
  at.member(eventRoutes.create, ({ actor, body }) => events.create(actor, body));
  at.member(eventRoutes.get, ({ actor, params }) => events.get(actor, params.id));
  at.member(eventRoutes.change, ({ actor, params, body }) => events.change(actor, params.id, body));
  at.member(eventRoutes.remove, ({ actor, params }) => events.remove(actor, params.id));
  at.member(eventRoutes.rotateSecret, ({ actor, params, body }) => events.rotateSecret(actor, params.id, body));
  at.member(eventRoutes.test, ({ actor, params }) => events.test(actor, params.id));
  at.member(eventRoutes.deliveries, ({ actor, params, query }) => events.listDeliveries(actor, params.id, query));
  at.member(eventRoutes.replayOne, ({ actor, params }) => events.replayOne(actor, params.id, params.deliveryId));
  at.member(eventRoutes.replay, ({ actor, params, body }) => events.replay(actor, params.id, body));
}
