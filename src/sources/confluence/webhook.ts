import { maybe } from "#sources/lenient.ts";
import { z } from "zod";
import { Id } from "#sources/atlassian/parse.ts";
import { readSigned } from "#sources/atlassian/signature.ts";
import type { Webhook } from "#sources/webhook.ts";
import type { ConfluenceConfig } from "./config.ts";

const About = maybe(z.object({ id: Id }));
const Delivery = z.object({ event: z.string().optional(), page: About, blog: About, blogpost: About, content: About });

/** Events that no search shows, such as deletions and changed restrictions. */
const NOT_FOUND = /(?:_trashed|_removed|_restored|_moved|permissions_updated)$/;

/** Events about users that were deactivated or removed, groups that no longer exist, and permissions of a space. */
const OF_PEOPLE = /^(?:user_(?:created|deactivated|reactivated|removed)|group_|space_)/;

/**
 * Webhooks that an administrator of Data Center creates, signed with the administrator's secret. On Cloud, only apps
 * have webhooks.
 */
export const confluenceWebhook: Webhook<ConfluenceConfig> = {
  verify(secret, request) {
    const signed = readSigned(secret, request);
    if (signed === "refused") return "refused";
    const { delivery, body } = signed;
    const { data } = Delivery.safeParse(body);
    const id = (data?.page ?? data?.blog ?? data?.blogpost ?? data?.content)?.id;
    if (id !== undefined && NOT_FOUND.test(data?.event ?? "")) {
      return { delivery, changes: [{ t: "items", externalIds: [id] }] };
    }
    if (OF_PEOPLE.test(data?.event ?? "")) return { delivery, changes: [{ t: "delta" }, { t: "people" }] };
    return { delivery, changes: [{ t: "delta" }] };
  },
};
