import { type DeliveryOptions, makeEventDelivery } from "#server/events/deliver.ts";
import { makeOutbox } from "#server/events/outbox.ts";
import { makeTargetSecrets } from "#server/events/secrets.ts";
import { makeEventService } from "#server/events/service.ts";
import { makeEventWatch } from "#server/events/watch.ts";
import { staleOf } from "#server/connectors/view.ts";
import { makeGuardedClient } from "#net/guarded-client.ts";
import type { Foundation } from "./foundation.ts";
import type { Identity } from "./identity.ts";

/** Builds outgoing events: the writer of the outbox, the delivery from it, and the admin functions. */
export function makeEvents(
  { store, clock, log, randomBytes, vault, addressGuard }: Foundation,
  { audit, cursors }: Pick<Identity, "audit" | "cursors">,
  { sleep }: Pick<DeliveryOptions, "sleep">,
) {
  const emit = makeOutbox({ clock, randomBytes });
  const secrets = makeTargetSecrets({ vault, randomBytes });
  // Each try opens a new connection, so that the address is checked again each time.
  const client = makeGuardedClient({ guard: addressGuard, keepsConnections: false });
  const watch = makeEventWatch({ store, clock, emit, staleOf });
  const shared = { store, clock, randomBytes, client, secrets, audit };
  const delivery = makeEventDelivery({ ...shared, sleep, log, watch: () => watch.tick() });
  const events = makeEventService({ ...shared, cursors, watch, wake: () => delivery.wake() });
  return { emit, events, eventDelivery: delivery };
}
