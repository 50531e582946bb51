import { z } from "zod";
import type { SourceWebhook } from "#sources/contract.ts";
import { hmacOf, isSame, readHookJson } from "#sources/webhook.ts";
import { makeClient, type ReferenceConfig } from "./client.ts";

/** The wiki signs each notification, which names a page that changed, or none where that page is gone. */
export const referenceWebhook: SourceWebhook<ReferenceConfig> = {
  verify(secret, { headers, rawBody }) {
    const delivery = hmacOf(secret, rawBody);
    if (!isSame(headers.get("x-reference-signature"), delivery)) return "refused";
    const { page } = Notification.parse(readHookJson(rawBody));
    // Each notification has the number of its change, so no two have one signature.
    return { changes: [page === null ? { t: "delta" } : { t: "items", externalIds: [page] }], delivery };
  },
  async subscribe(ctx, to) {
    const { id, expiresIn } = await makeClient(ctx).subscribe(to);
    return { data: { id }, expiresAt: ctx.now() + expiresIn * 1_000 };
  },
  async unsubscribe(ctx, data) {
    await makeClient(ctx).unsubscribe(Subscribed.parse(data).id);
  },
};

const Subscribed = z.object({ id: z.string() });

const Notification = z.object({ seq: z.number(), page: z.string().nullable() });
