import { isSame } from "#sources/webhook.ts";
import { createHmac, randomUUID } from "node:crypto";
import { z } from "zod";
import type { SourceWebhook } from "#sources/contract.ts";
import type { DriveClient, DriveContext } from "./client.ts";
import type { GoogleDriveConfig } from "./config.ts";

/**
 * The lifetime of a channel. Google ends a channel for changes after a week at the latest. Source:
 * https://developers.google.com/workspace/drive/api/guides/push
 */
const CHANNEL_MS = 7 * 86_400_000;
/** The most channels, limited by the stored data, which contains their names. Scheduled runs read the other drives. */
const MOST_CHANNELS = 40;

const Channels = z.object({ channels: z.array(z.object({ id: z.string(), resourceId: z.string() })) });

/**
 * Makes the webhook for Google's notification channels: one for My Drive, and one for each shared drive. A notification
 * reports that something changed, never what.
 */
export function makeDriveWebhook(open: (ctx: DriveContext) => DriveClient): SourceWebhook<GoogleDriveConfig> {
  return {
    verify(secret, { headers, rawBody }) {
      const isKnown = isSame(headers.get("x-goog-channel-token"), tokenOf(secret));
      if (!isKnown || rawBody.length > 0) return "refused";
      // The first message only confirms that the channel exists.
      return { changes: headers.get("x-goog-resource-state") === "sync" ? [] : [{ t: "delta" }] };
    },

    async subscribe(ctx, { url, secret }) {
      const client = open(ctx);
      const { myDrive, drives: named } = ctx.config;
      const drives = (await client.drives()).filter(({ id }) => named.length === 0 || named.includes(id));
      const keys = [...(myDrive ? [undefined] : []), ...drives.map(({ id }) => id)].slice(0, MOST_CHANNELS);
      const channels: z.infer<typeof Channels>["channels"] = [];
      let expiresAt = ctx.now() + CHANNEL_MS;
      try {
        for (const driveId of keys) {
          const channel = {
            id: randomUUID(),
            address: url,
            token: tokenOf(secret),
            expiration: ctx.now() + CHANNEL_MS,
          };
          const made = await client.watch(await client.startToken(driveId), driveId, channel);
          channels.push({ id: channel.id, resourceId: made.resourceId });
          expiresAt = Math.min(expiresAt, made.expiration ?? expiresAt);
        }
      } catch (error) {
        for (const channel of channels) await client.stopChannel(channel);
        throw error;
      }
      return channels.length === 0 ? undefined : { data: { channels }, expiresAt };
    },

    async unsubscribe(ctx, data) {
      const client = open(ctx);
      for (const channel of Channels.parse(data).channels) await client.stopChannel(channel);
    },
  };
}

/** Returns the token that Google includes in each message. The secret can't be derived from it. */
function tokenOf(secret: string): string {
  return createHmac("sha256", secret).update("google-drive channel").digest("base64url");
}
