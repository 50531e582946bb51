import { isNamedIn } from "#sources/in-scope.ts";
import type { Batching } from "#sources/session.ts";
import type { Source } from "#sources/contract.ts";
import { namedReaders, reportReaders } from "#sources/file-scope/readers.ts";
import type { LimitSpec } from "#sources/http-contract.ts";
import { browseNotion } from "./browse.ts";
import { checkNotion } from "./check.ts";
import { makeNotionClient, type NotionContext } from "./client.ts";
import { NOTION_API, NotionConfig, NotionCredentials } from "./config.ts";
import { readNotionFile } from "./content.ts";
import { parseItemId } from "./map.ts";
import { notionSessions } from "./sync.ts";
import { notionWebhook } from "./webhook.ts";

/** Three requests a second. Source: https://developers.notion.com/reference/request-limits */
const LIMITS: LimitSpec = { perMinute: 180, burst: 10 };

/**
 * Makes the source for pages of a Notion workspace that are shared with an integration. The config names their readers,
 * because the API doesn't report them.
 */
export function makeNotionSource({
  apiUrl = NOTION_API,
  limits = LIMITS,
  batching = {},
}: { apiUrl?: string; limits?: LimitSpec; batching?: Partial<Batching> } = {}): Source<NotionConfig> {
  const open = (ctx: NotionContext) => makeNotionClient(ctx, apiUrl);
  return {
    spec: {
      providerId: "notion",
      name: "Notion",
      kinds: ["page", "file", "message"],
      auth: [{ type: "credentials", scheme: "bearer", token: "token" }],
      config: NotionConfig,
      credentials: NotionCredentials,
      limits,
      acl: "connector",
      namedIn: ["readers"],
      links: { hosts: [/(?:^|\.)notion\.so$/], ignoredParams: /^(?:pvs|v)$/ },
    },
    check: (ctx) => checkNotion(ctx, open(ctx)),
    sessions: { ...notionSessions(open), batching },
    syncIdentities: (ctx) => reportReaders(ctx),
    namedGroup: namedReaders,
    browse: (ctx, at) => browseNotion(open(ctx), at),
    fetchContent: (ctx, item) => readNotionFile(ctx, open(ctx), item),
    inScope: (scope, { externalId, containers }) =>
      isNamedIn(scope, parseItemId(externalId)?.page ?? externalId, ...containers.map(({ id }) => id)),
    originOf: () => apiUrl,
    // The token identifies the workspace, and so does the token's account.
    placeOf: () => apiUrl,
    webhook: notionWebhook,
  };
}
