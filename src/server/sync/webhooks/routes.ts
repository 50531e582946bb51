import { noSuchThing } from "#api/errors.ts";
import { hookRoutes as routes } from "#api/hooks.ts";
import { throttleKeyOfIp } from "#net/client-ip.ts";
import { type BodyRoom, makeBodyRoom } from "#server/http/body-room.ts";
import type { AppContext } from "#server/http/env.ts";
import type { Mount } from "#server/http/mount.ts";
import { readBytes } from "#server/http/request.ts";
import type { WebhookReceiver } from "./receiver.ts";

/**
 * Maximum bytes of a notification. Apps name what has changed and rarely need 100 kB. The next run finds the few larger
 * changes, such as a push of thousands of commits. Anyone may send this much, so the bytes are held in memory for
 * unauthenticated senders too, up to a limit for all requests together. Source: S42.
 */
const MAX_NOTIFICATION_BYTES = 1024 * 1024;

/** Mounts `/hooks`. */
export function mountHooks(at: Mount, { webhooks }: { webhooks: WebhookReceiver }): void {
  const deps = { webhooks, room: makeBodyRoom() };
  at.open(routes.app, ({ params, c }) => receive(deps, params, c));
  at.open(routes.connector, ({ params, c }) => receive(deps, params, c));
}

async function receive(
  { webhooks, room }: { webhooks: WebhookReceiver; room: BodyRoom },
  to: { providerId: string; connectorId?: string },
  c: AppContext,
): Promise<Response> {
  const place = room.enter(throttleKeyOfIp(c.get("clientIp")));
  try {
    const rawBody = await readBytes(c, MAX_NOTIFICATION_BYTES, (bytes) => place.take(bytes));
    return answerTo(await webhooks.receive(to, { headers: c.req.raw.headers, rawBody }));
  } finally {
    place.release();
  }
}

function answerTo(taken: Awaited<ReturnType<WebhookReceiver["receive"]>>): Response {
  // Every failure gets the same response, so that the caller learns nothing about what exists.
  if (taken === undefined) throw noSuchThing();
  const { body = "", contentType = "text/plain" } = taken.reply ?? {};
  return new Response(body, { headers: { "Content-Type": contentType } });
}
