import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { Id } from "#sources/atlassian/parse.ts";
import type { Webhook } from "#sources/webhook.ts";
import type { JiraConfig } from "./config.ts";

const Delivery = z.object({
  webhookEvent: z.string(),
  issue: z.object({ id: Id }).optional().catch(undefined),
});

/** Jira's webhooks of an administrator, signed with their secret. A deletion is what no search shows. */
export const jiraWebhook: Webhook<JiraConfig> = {
  verify(secret, { headers, rawBody }) {
    const told = Buffer.from(headers.get("x-hub-signature") ?? "");
    const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(rawBody).digest("hex")}`);
    if (told.length !== expected.length || !timingSafeEqual(told, expected)) return "refused";
    const { data } = Delivery.safeParse(parse(rawBody));
    // Its body has the time in it.
    const delivery = told.toString("latin1");
    if (data?.webhookEvent === "jira:issue_deleted" && data.issue) {
      return { delivery, changes: [{ t: "items", externalIds: [data.issue.id] }] };
    }
    // A comment that came or went is found with its issue.
    return { delivery, changes: [{ t: "delta" }] };
  },
};

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    // Signed, and no JSON: nothing that is known.
    return undefined;
  }
}
