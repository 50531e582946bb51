import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Webhook } from "#sources/webhook.ts";
import type { ReferenceConfig } from "./client.ts";

/** The wiki signs each notification, which names a page that changed, or none where that page is gone. */
export const referenceWebhook: Webhook<ReferenceConfig> = {
  verify(secret, { headers, rawBody }) {
    const right = createHmac("sha256", secret).update(rawBody).digest("hex");
    const given = Buffer.from(headers.get("x-reference-signature") ?? "");
    if (given.length !== right.length || !timingSafeEqual(given, Buffer.from(right))) return "refused";
    const { page } = Notification.parse(JSON.parse(Buffer.from(rawBody).toString()));
    // Each notification has the number of its change, so no two have one signature.
    return { changes: [page === null ? { t: "delta" } : { t: "items", externalIds: [page] }], delivery: right };
  },
};

const Notification = z.object({ seq: z.number(), page: z.string().nullable() });
