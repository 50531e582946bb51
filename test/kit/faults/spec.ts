import { z } from "zod";
import { WEBHOOK_SECRET } from "../reference/provider.ts";
import { type Faults, onDelivery, signed } from "./plant.ts";

/** Faults in what a source says of itself, and is asked beside its runs. */
export const SPEC: Faults = {
  "check throws": {
    caughtBy: "bad-config",
    plant: (source) => ({
      async check(ctx) {
        const answer = await source.check(ctx);
        if (!answer.ok) throw new Error("no such wiki");
        return answer;
      },
    }),
  },
  "check accepts anything": { caughtBy: "bad-config", plant: () => ({ check: async () => ({ ok: true }) }) },
  "inScope is always false": { caughtBy: "in-scope", plant: () => ({ inScope: () => false }) },
  "all that a scope takes counts as added": {
    caughtBy: "added",
    plant: (source) => ({
      countAdded: (ctx, { to }) => source.countAdded(ctx, { from: { include: ["nothing"], exclude: [] }, to }),
    }),
  },
  "nothing ever counts as added": {
    caughtBy: "added",
    plant: () => ({ countAdded: async () => ({ items: 0, calls: 0 }) }),
  },
  "a key of the configuration is not explained": {
    caughtBy: "config-schema",
    plant: ({ spec }) => ({ spec: { ...spec, config: z.strictObject({ url: z.string() }) } }),
  },
  "no schema of credentials": {
    caughtBy: "credentials",
    plant: ({ spec: { credentials: _credentials, ...spec } }) => ({ spec }),
  },
  "no origin that credentials are for": {
    caughtBy: "credentials",
    plant: () => ({ baseUrlOf: undefined }),
  },
  "browse throws": {
    caughtBy: "browse",
    plant: () => ({
      async browse() {
        throw new Error("not yet");
      },
    }),
  },
  "a subscription is never ended": {
    caughtBy: "subscription",
    plant: ({ webhook }) => ({ webhook: { ...webhook, unsubscribe: async () => undefined } }),
  },
  "a subscription that is gone already is a failure": {
    caughtBy: "subscription",
    plant: ({ webhook }) => {
      const ended = new Set<string>();
      return {
        webhook: {
          ...webhook,
          async unsubscribe(ctx, data) {
            const name = JSON.stringify(data);
            if (ended.has(name)) throw new Error("404");
            ended.add(name);
            await webhook.unsubscribe?.(ctx, data);
          },
        },
      };
    },
  },
  "a subscription's times are in seconds": {
    caughtBy: "subscription",
    plant: ({ webhook }) => ({
      webhook: {
        ...webhook,
        async subscribe(ctx, to) {
          const made = await webhook.subscribe?.(ctx, to);
          return made && { ...made, expiresAt: (made.expiresAt ?? 0) / 1_000 };
        },
      },
    }),
  },
  "any signature will do": {
    caughtBy: "webhook",
    plant: ({ webhook }) => ({
      webhook: { verify: (_secret, request) => webhook.verify(WEBHOOK_SECRET, signed(WEBHOOK_SECRET, request)) },
    }),
  },
  "no signature will do as well": {
    caughtBy: "webhook",
    plant: ({ webhook }) => ({
      webhook: {
        verify: (secret, request) =>
          webhook.verify(secret, request.headers.get("x-reference-signature") ? request : signed(secret, request)),
      },
    }),
  },
  "a signature holds for the headers alone": {
    caughtBy: "webhook",
    plant: ({ webhook }) => {
      const accepted = new Set<string | null>();
      return {
        webhook: {
          verify(secret, request) {
            const signature = request.headers.get("x-reference-signature");
            const said = webhook.verify(secret, request);
            if (said !== "refused") accepted.add(signature);
            return accepted.has(signature) ? webhook.verify(secret, signed(secret, request)) : said;
          },
        },
      };
    },
  },
  "a notification tells of no change": {
    caughtBy: "webhook",
    plant: ({ webhook }) => onDelivery(webhook, (said) => ({ ...said, changes: [] })),
  },
  "a notification tells of another item": {
    caughtBy: "webhook",
    plant: ({ webhook }) =>
      onDelivery(webhook, (said) => ({ ...said, changes: [{ t: "items", externalIds: ["p1"] }] })),
  },
  "all notifications are one delivery": {
    caughtBy: "webhook",
    plant: ({ webhook }) => onDelivery(webhook, (said) => ({ ...said, delivery: "changed" })),
  },
  "every notification is refused": {
    caughtBy: "webhook",
    plant: () => ({ webhook: { verify: () => "refused" } }),
  },
};
