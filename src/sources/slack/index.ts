import { baseUrlOf } from "#sources/base-url.ts";
import { inScopeBy } from "#sources/in-scope.ts";
import { shown, notFound } from "#sources/errors.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { defined } from "#core/defined.ts";
import type { Source } from "#sources/contract.ts";
import type { FileContent } from "#sources/item.ts";
import type { LimitSpec } from "#sources/http-contract.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import type { Batching } from "#sources/session.ts";
import { toRoomsPage } from "#sources/chat/rooms.ts";
import { versionOfFile } from "#sources/chat/thread.ts";
import { readChannels } from "./channels.ts";
import { checkWorkspace } from "./check.ts";
import { makeClient, type SlackContext } from "./client.ts";
import { SlackConfig, SlackCredentials } from "./config.ts";
import { contentKeyOf, isWritten, nameOf, parseId } from "./map.ts";
import { syncSlackPeople } from "./people.ts";
import { slackSessions } from "./sync.ts";
import { slackWebhook } from "./webhook.ts";

/** The limit of most read methods for a customer-built app. Source: https://docs.slack.dev/apis/web-api/rate-limits */
const LIMITS: LimitSpec = { perMinute: 50, burst: 50 };

/**
 * Makes the source for the channels of a Slack workspace: each thread is an item, readable by the readers of its
 * channel.
 */
export function makeSlackSource({
  limits = LIMITS,
  batching = {},
}: { limits?: LimitSpec; batching?: Partial<Batching> } = {}): Source<SlackConfig> {
  return {
    spec: {
      providerId: "slack",
      name: "Slack",
      kinds: ["message", "file"],
      auth: [{ type: "credentials", scheme: "bearer", token: "token" }, { type: "account" }],
      config: SlackConfig,
      // 2: items include the text of blocks and attachments, so every channel is read in full once more. 3: a cursor
      // belongs to one run.
      stateVersion: 3,
      credentials: SlackCredentials,
      origins: ["https://files.slack.com"],
      limits,
      acl: "container",
      // No message moves to another channel, and a channel's readers are reported separately.
      freshness: "feed",
      hasPeople: true,
      instances: ["https://slack.com"],
      links: { hosts: [/(?:^|\.)slack\.com$/], ignoredParams: /^(?:thread_ts|cid)$/ },
    },
    check: checkWorkspace,
    sessions: { ...slackSessions, batching },
    syncIdentities: syncSlackPeople,
    async browse(ctx, at) {
      const { rooms } = await readChannels({ config: { ...ctx.config, channels: [] } }, makeClient(ctx));
      return toRoomsPage(
        rooms.map(({ id, name }) => ({ id, name, kind: "channel" })),
        at,
      );
    },
    fetchContent: readFile,
    inScope: inScopeBy("channel"),
    webhook: slackWebhook,
    baseUrlOf,
  };
}

/**
 * Reads a file. First checks whether the file is still in its thread, since Slack keeps a file when its message is
 * deleted.
 */
async function readFile(
  ctx: SlackContext,
  { externalId, version }: { externalId: string; version?: string },
): Promise<FileContent> {
  const place = parseId(externalId);
  const client = makeClient(ctx);
  const { messages } = place?.file === undefined ? { messages: [] } : await client.thread(place.channel, place.ts);
  const isThere = messages.some(
    (message) => isWritten(message) && message.files?.known.some(({ id }) => id === place?.file),
  );
  const file = isThere && place?.file !== undefined ? await client.file(place.file) : undefined;
  const url = file?.url_private_download ?? file?.url_private;
  if (!file || url === undefined || !canParseUrl(url)) {
    const message = `There is no file ${shown(externalId)} in the channels of this connector.`;
    throw notFound(message);
  }
  const { body } = await client.download(url, maxFileBytes(ctx.config));
  return {
    stream: body,
    fileName: nameOf(file),
    version: versionOfFile(version, contentKeyOf(file)),
    ...defined({ mimeType: file.mimetype }),
  };
}
