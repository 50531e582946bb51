import type { EntityType } from "#api/common.ts";
import { findJsonFault, MAX_JSON_DEPTH } from "#core/json-bounds.ts";

/**
 * What an app says has changed, in a signed request to this server. It proves nothing and removes nothing: it only asks for
 * a run, which reads the source itself.
 */
export type WebhookChange =
  /** Items that are there now. An item that is gone is a `delta`. */
  | { t: "items"; externalIds: readonly string[] }
  | { t: "containers"; containers: readonly { type: Exclude<EntityType, "person">; id: string }[] }
  /** Groups whose members changed, which are read within seconds, by their ids at the source, as in `group:<connector>:<id>`. */
  | { t: "groups"; ids: readonly string[] }
  /** Who somebody is, or may do, changed, and no group says where: people and groups are read, all of them. */
  | { t: "people" }
  /** Something changed; the next increment shows what. */
  | { t: "delta" };

/** A request from outside, which anybody may have sent. */
export interface WebhookRequest {
  /** Names in any case. */
  headers: { get(name: string): string | null };
  /** The body as it came, for the signature. */
  rawBody: Uint8Array;
  /** Epoch milliseconds, for signatures that grow old. */
  receivedAt: number;
}

/** What a request that is signed says. */
export interface WebhookDelivery {
  /**
   * Whom it is about, where one URL serves every connector of the app: the base URL of the instance, and the
   * installation there. Only these connectors are woken; without it nobody is.
   */
  target?: { instance: string; installation: string };
  changes: readonly WebhookChange[];
  /**
   * What names this delivery among all others, out of what the signature covers (a signature over a body that never
   * repeats does): a replay of it wakes nobody.
   */
  delivery?: string;
  /** What the app waits for, such as the challenge of a URL verification. */
  reply?: { contentType: "text/plain" | "application/json"; body: string };
}

/** A subscription that was made at the provider. */
export interface WebhookSubscription {
  /** What `unsubscribe` ends it by (the ID of a channel or a hook): at most 4 KiB as JSON, never a secret. */
  data: unknown;
  /** Epoch milliseconds at which the provider ends it; absent = never. A new one is made before. */
  expiresAt?: number;
}

/** How an app notifies this server. */
export interface Webhook<Config> {
  /**
   * Pure: no request of anybody causes a call to the provider. Compares signatures with `timingSafeEqual`, and takes as long
   * for a wrong secret as for the right one.
   */
  verify(secret: string, request: WebhookRequest): WebhookDelivery | "refused";
  /**
   * For a provider that makes the secret itself and tells it to the address, unsigned: the secret that a request offers. It is
   * taken only while a person waits for it, and never in place of another. Without this, kb makes the secret.
   */
  offeredSecret?(request: Pick<WebhookRequest, "headers" | "rawBody">): string | undefined;
  /** Which installation of the app a connector reads through. Absent = the tenant that `check` told. */
  installationOf?(config: Config): string | undefined;
}

/** Apps tell what changed in far fewer words; a push of thousands of commits has about so many. */
const BODY_BOUNDS = { maxDepth: MAX_JSON_DEPTH, maxMembers: 100_000 };

/** The JSON of a body, asked for once its signature holds; undefined for what is none, or nests or lists more than an app would. */
export function readHookJson(rawBody: Uint8Array): unknown {
  const text = Buffer.from(rawBody).toString("utf8");
  if (findJsonFault(text, BODY_BOUNDS) !== undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
