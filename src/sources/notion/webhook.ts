import { maybe } from "#sources/lenient.ts";
import { z } from "zod";
import { readHookJson, type Webhook, type WebhookChange, hmacOf, isSame } from "#sources/webhook.ts";
import type { NotionConfig } from "./config.ts";
import { parseNotionId } from "./records.ts";

/**
 * Notion's webhook subscriptions. Notion creates the secret itself and sends it once, unsigned, to the webhook's
 * address. Source: https://developers.notion.com/reference/webhooks
 */
export const notionWebhook: Webhook<NotionConfig> = {
  verify(secret, { headers, rawBody }) {
    if (!isSame(headers.get("x-notion-signature"), `sha256=${hmacOf(secret, rawBody)}`)) return "refused";
    const { data } = Delivery.safeParse(readHookJson(rawBody));
    if (!data) return { changes: [] };
    return { changes: changesOf(data), delivery: data.id };
  },
  offeredSecret: ({ rawBody }) => Offer.safeParse(readHookJson(rawBody)).data?.verification_token,
};

const Offer = z.strictObject({ verification_token: z.string() });
const Id = z.object({ id: z.string() });
const Delivery = z.object({
  id: z.string().min(1).max(200),
  type: z.string(),
  entity: maybe(Id),
  data: maybe(z.object({ page_id: z.string() })),
});

/**
 * Returns the reported changes. A page is read with its files and comments, and removed if it no longer exists. Changes
 * in a database are found among the last edited pages.
 */
function changesOf({ type, entity, data }: z.infer<typeof Delivery>): WebhookChange[] {
  const [what] = type.split(".");
  switch (what) {
    case "page":
    case "comment": {
      const page = parseNotionId((what === "page" ? entity?.id : data?.page_id) ?? "");
      return page === undefined ? [{ t: "delta" }] : [{ t: "items", externalIds: [page] }];
    }
    case "database":
    case "data_source":
      return [{ t: "delta" }];
    default:
      return [];
  }
}
