import { createHash } from "node:crypto";
import { ApiError } from "#api/errors.ts";
import type { Clock } from "#core/clock.ts";
import { canonicalJson } from "#storage/audit-chain.ts";
import type { IdempotencyRecord } from "#storage/records/idempotency.ts";
import type { Store } from "#storage/records/store.ts";
import type { Caller } from "./authenticate.ts";
import { byShape, routeShape } from "./auth.ts";

/**
 * The secrets in a create's response, which must not be stored, and the path of the new record's id in the response.
 */
export interface CreateRule {
  /** Path of the id, such as `token.id`. If absent, the id is in the route's path. */
  id?: string;
  /** Members of the response that are secrets. A response that contains one of them is never stored. */
  secrets?: readonly string[];
}

/** Every route that accepts `Idempotency-Key`. Source: docs/limits.md#idempotency-keys; S14. */
export const CREATE_RULES: Readonly<Record<string, CreateRule>> = {
  "POST /api/api-tokens": { id: "token.id", secrets: ["plaintext"] },
  "POST /api/workspaces": { id: "workspace.id" },
  "POST /api/workspace/invitations": { id: "invitation.id", secrets: ["url"] },
  "POST /api/workspace/members/{id}/password-reset": { secrets: ["url"] },
  "POST /api/groups": { id: "group.id" },
  "POST /api/local-roots": { id: "root.id" },
  "POST /api/connectors": { id: "connector.id", secrets: ["key"] },
  "POST /api/connectors/{id}/syncs": { id: "sync.id" },
  "POST /api/connectors/{id}/rotate-key": { secrets: ["key"] },
  "POST /api/connectors/{id}/uploads": { id: "upload.id" },
  "POST /api/webhooks": { id: "target.id", secrets: ["secret"] },
  "POST /api/webhooks/{id}/rotate-secret": { secrets: ["secret"] },
  "POST /api/webhooks/{id}/deliveries/{deliveryId}/replay": { id: "delivery.id" },
  "POST /api/webhooks/{id}/replay": {},
};

export interface CreateRequest {
  rule: CreateRule;
  caller: Caller;
  /** The route, such as `POST /api/groups`, with the ids in its path. */
  route: string;
  /** The value of the header; undefined if the request has none. */
  key: string | undefined;
  /** The id in the path, if any. */
  pathId: string | undefined;
  /** Query and body as parsed by the contract. */
  content: unknown;
}

/** The response as it was sent: status and JSON. */
export interface Answered {
  status: number;
  body: unknown;
}

export type Idempotency = ReturnType<typeof makeIdempotency>;

const KEEP_MS = 24 * 3_600_000;
const SWEEP_SLICE = 500;
/** Maximum characters of a stored response. No create has a larger one, which would fill the database. */
const MAX_ANSWER_CHARS = 256 * 1024;

/** The rule of a route. The names of its parameters don't matter. Undefined if the header has no effect there. */
export function findCreateRule(method: string, path: string): CreateRule | undefined {
  return RULES_BY_SHAPE.get(routeShape(method, path));
}

const RULES_BY_SHAPE = byShape(CREATE_RULES);

/**
 * Makes create requests repeatable; no other code does. Keys in progress are kept in this process, which is the only
 * user of the data folder. If a stored record says "running" and its key isn't in progress, a crash has left it, and
 * the request starts again.
 */
export function makeIdempotency({ store, clock }: { store: Pick<Store, "idempotency">; clock: Clock }) {
  const inHand = new Map<string, { bodyHash: string; settled: Promise<unknown> }>();

  async function first(request: CreateRequest, keyHash: string, bodyHash: string, create: () => Promise<Answered>) {
    const now = clock.now();
    const claim = { keyHash, bodyHash, now, expiresAt: now + KEEP_MS };
    const earlier = await store.idempotency.begin(claim);
    if (earlier && earlier.status !== null) return replay(earlier, bodyHash);
    if (earlier) {
      await store.idempotency.drop(keyHash);
      await store.idempotency.begin(claim);
    }
    let answered: Answered;
    try {
      answered = await create();
    } catch (error) {
      await store.idempotency.drop(keyHash);
      throw error;
    }
    await store.idempotency.finish(keyHash, toOutcome(request, answered));
    return { ...answered, isReplay: false };
  }

  return {
    /**
     * Runs a create once for each key. A repeat within 24 hours gets the first response, and waits for it if necessary.
     *
     * @throws ApiError `idempotency_key_reused` for another body, `already_created` for a response that contained a
     *   secret, `invalid_request` for an invalid key; errors of the create itself: then nothing was created and the key
     *   can be used again
     */
    async run(request: CreateRequest, create: () => Promise<Answered>): Promise<Answered & { isReplay: boolean }> {
      if (request.key === undefined) return { ...(await create()), isReplay: false };
      const keyHash = hashOf([...whoOf(request.caller), request.route, checkKey(request.key)]);
      const bodyHash = hashOf(request.content);
      for (let other = inHand.get(keyHash); other !== undefined; other = inHand.get(keyHash)) {
        if (other.bodyHash !== bodyHash) throw reused();
        // Whether it succeeded or failed, the stored record decides next.
        await other.settled.catch(() => undefined);
      }
      const running = first(request, keyHash, bodyHash, create);
      inHand.set(keyHash, { bodyHash, settled: running });
      try {
        return await running;
      } finally {
        inHand.delete(keyHash);
      }
    },
    /** Deletes expired records. */
    async sweep(): Promise<void> {
      while ((await store.idempotency.sweep(clock.now(), SWEEP_SLICE)) === SWEEP_SLICE);
    },
  };
}

function replay(
  { bodyHash, status, answer, targetId }: IdempotencyRecord,
  asked: string,
): Answered & { isReplay: boolean } {
  if (bodyHash !== asked) throw reused();
  if (answer !== null) return { status: status ?? 200, body: JSON.parse(answer), isReplay: true };
  const what = targetId === null ? "The request was carried out" : `The request created ${targetId}`;
  throw new ApiError("already_created", {
    message: `${what} when it was first sent. The secret was shown then, and isn't stored.`,
    hint: "If you lost the response, delete what was created and create another with a new Idempotency-Key.",
    ...(targetId !== null && { details: { id: targetId } }),
  });
}

function toOutcome({ rule, pathId }: CreateRequest, { status, body }: Answered) {
  const text = JSON.stringify(body ?? null);
  const hasSecret = rule.secrets?.some((name) => !isAbsent(memberOf(body, name))) === true || SECRET.test(text);
  const id = rule.id === undefined ? pathId : memberOf(body, rule.id);
  return {
    status,
    answer: hasSecret || text.length > MAX_ANSWER_CHARS ? null : text,
    targetId: typeof id === "string" ? id : null,
  };
}

/** Detects secrets that a rule forgot to list. */
const SECRET = /kb_(?:pat|con)_[0-9A-Za-z]{38}|#token=/;

/** Returns the member at a path, such as `token.id` of `{token: {id}}`. */
function memberOf(value: unknown, path: string): unknown {
  let found: unknown = value;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Object.entries(found).find(([key]) => key === name)?.[1];
  }
  return found;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The workspace, person and credential. The same key of another caller is a different key. */
function whoOf(caller: Caller): string[] {
  switch (caller.type) {
    case "actor": {
      const { workspaceId, userId, credential } = caller.actor;
      return [workspaceId, userId, `${credential.type}:${credential.id}`];
    }
    case "connector": {
      const { workspaceId, connectorId, keyId } = caller.connector;
      return [workspaceId, connectorId, `key:${keyId}`];
    }
    case "nobody":
      throw new Error("Routes without authentication don't accept an Idempotency-Key.");
  }
}

function checkKey(key: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new ApiError("invalid_request", {
    message: "An Idempotency-Key must have 1 to 200 visible ASCII characters.",
    field: "Idempotency-Key",
  });
}

function reused(): ApiError {
  return new ApiError("idempotency_key_reused", {
    message: "This Idempotency-Key was already used with a different body. Use a new key for a different request.",
  });
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
