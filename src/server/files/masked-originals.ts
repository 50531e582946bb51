import { setImmediate as othersTurn } from "node:timers/promises";
import { ApiError } from "#api/errors.ts";
import { maskSecrets } from "#text/secrets/mask.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ItemRecord } from "#storage/item-record.ts";
import type { Store } from "#storage/records/store.ts";

export type MaskedStore = Pick<Store, "in" | "workspaces">;

type Asked = Pick<ItemRecord, "kbId" | "connectorId" | "externalId" | "indexState">;

/**
 * Refuses the original of an item if a secret was masked in it or in a file inside it. Also refuses it if its text
 * couldn't be read, because it may then contain a secret. The connector's owner gets the original in a session, but not
 * with a token, because agents can read everything that a token can read.
 *
 * @throws ApiError `original_masked`. Source: S37.
 */
export async function refuseKnownMasked(store: MaskedStore, actor: Actor, item: Asked): Promise<void> {
  if (await isOwnSession(store, actor, item)) return;
  const { connectorId, externalId, indexState } = item;
  const isUnknown = (indexState === "failed" || indexState === "pending") && (await masks(store, actor));
  if (isUnknown || (await store.in(actor.workspaceId).itemWrites.hasMasked(connectorId, externalId))) throw masked();
}

/** The number of bytes checked at once, and how many of them are checked again with the next piece. */
const PIECE_BYTES = 256 * 1024;
const OVERLAP_BYTES = 20_000;

/**
 * Refuses an original whose bytes contain a secret that wasn't masked. Such a text was stored before secrets were
 * searched for, or was truncated before the secret.
 *
 * @throws ApiError `original_masked`
 */
export async function refuseFoundSecrets(
  store: MaskedStore,
  actor: Actor,
  item: Asked,
  bytes: Uint8Array,
): Promise<void> {
  if (!(await masks(store, actor)) || (await isOwnSession(store, actor, item))) return;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    // One character for each byte: every secret format is ASCII.
    const piece = Buffer.from(bytes.subarray(at, at + PIECE_BYTES + OVERLAP_BYTES)).toString("latin1");
    if (maskSecrets(piece.replaceAll("\0", "")).cuts.length > 0) throw masked();
    await othersTurn();
  }
}

async function masks(store: MaskedStore, { workspaceId }: Actor): Promise<boolean> {
  return (await store.workspaces.find(workspaceId))?.secrets !== "index";
}

async function isOwnSession(store: MaskedStore, actor: Actor, { connectorId }: Asked): Promise<boolean> {
  if (actor.credential.type !== "session") return false;
  return (await store.in(actor.workspaceId).connectors.find(connectorId))?.ownerUserId === actor.userId;
}

function masked(): ApiError {
  return new ApiError("original_masked", {
    message:
      "A secret was taken out of this item, or may be in it, so its original isn't given out here. Read its text instead, or ask the connector's owner, who gets the original on the web page.",
  });
}
