import { maybe } from "#sources/lenient.ts";
import { z } from "zod";
import { Id } from "#sources/atlassian/parse.ts";
import { readSigned } from "#sources/atlassian/signature.ts";
import type { Webhook } from "#sources/webhook.ts";
import type { JiraConfig } from "./config.ts";

const Delivery = z.object({
  webhookEvent: z.string(),
  issue: maybe(z.object({ id: Id })),
});

/** Events about users that were deactivated or deleted, and about projects that changed. */
const OF_PEOPLE = /^(?:jira:)?(?:user|project)_/;

/**
 * Webhooks that a Jira administrator creates, signed with the administrator's secret. A deletion appears in no search.
 */
export const jiraWebhook: Webhook<JiraConfig> = {
  verify(secret, request) {
    const signed = readSigned(secret, request);
    if (signed === "refused") return "refused";
    const { delivery, body } = signed;
    const { data } = Delivery.safeParse(body);
    if (data?.webhookEvent === "jira:issue_deleted" && data.issue) {
      return { delivery, changes: [{ t: "items", externalIds: [data.issue.id] }] };
    }
    // Jira doesn't report changes of groups, roles and schemes.
    if (OF_PEOPLE.test(data?.webhookEvent ?? "")) return { delivery, changes: [{ t: "delta" }, { t: "people" }] };
    // A comment that was added or removed is found together with its issue.
    return { delivery, changes: [{ t: "delta" }] };
  },
};
