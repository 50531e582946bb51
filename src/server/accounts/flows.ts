import { z } from "zod";
import type { Clock, RandomBytes } from "#core/clock.ts";
import { hashSecret, randomSecret } from "#core/secrets.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { AccountFlowRecord } from "#storage/records/accounts.ts";
import type { Store } from "#storage/store.ts";
import type { SealedPlace, Vault } from "#storage/vault.ts";

const Away = z.object({ verifier: z.string().optional(), accountId: z.string().optional() });

/** What binds the way to a provider and the way back. */
export type AwayFlow = z.infer<typeof Away>;

const Found = z.object({
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  expiresAt: z.number().nullable(),
  scopes: z.array(z.string()),
  principal: z.string(),
  instance: z.string(),
  login: z.string().nullable(),
  label: z.string(),
});

/** Who was found at the end of it, with the tokens, until the person says that it is them. */
export type FoundFlow = z.infer<typeof Found>;

/** A flow as it was kept. */
export interface Kept<Content> {
  providerId: string;
  returnTo: string;
  content: Content;
}

export type Flows = ReturnType<typeof makeFlows>;

/** The way to a provider and what was found there: 10 minutes each, used once, in the session in which they began. */
export function makeFlows(options: { store: Store; clock: Clock; randomBytes: RandomBytes; vault: Vault }) {
  const { store, clock, randomBytes, vault } = options;

  async function begin(
    stage: AccountFlowRecord["stage"],
    actor: Actor,
    { providerId, returnTo, content }: Kept<object>,
  ): Promise<string> {
    const secret = randomSecret(randomBytes);
    const flowHash = hashSecret(secret);
    const createdAt = clock.now();
    const { workspaceId, userId } = actor;
    await store.transaction(async (tx) => {
      await tx.accountFlows.sweep(createdAt);
      await tx.accountFlows.insert({
        flowHash,
        workspaceId,
        userId,
        sessionId: actor.credential.id,
        providerId,
        stage,
        sealed: vault.seal(placeOf(flowHash), JSON.stringify(content)),
        returnTo,
        createdAt,
        expiresAt: createdAt + LIFETIME_MS,
      });
    });
    return secret;
  }

  function open<Content>(
    flow: AccountFlowRecord | undefined,
    actor: Actor | undefined,
    schema: z.ZodType<Content>,
  ): Kept<Content> | undefined {
    if (!flow || !actor || flow.expiresAt <= clock.now()) return undefined;
    if (flow.sessionId !== actor.credential.id || flow.workspaceId !== actor.workspaceId) return undefined;
    const content = schema.parse(JSON.parse(vault.open(placeOf(flow.flowHash), flow.sealed)));
    return { providerId: flow.providerId, returnTo: flow.returnTo, content };
  }

  return {
    /** @returns the state to send along */
    goAway: (actor: Actor, flow: Kept<AwayFlow>) => begin("away", actor, flow),
    /** Undefined for one that is unknown, used, too old or another session's; it is used up in any case. */
    async comeBack(state: string, actor: Actor | undefined): Promise<Kept<AwayFlow> | undefined> {
      return open(await store.accountFlows.take(hashSecret(state), "away"), actor, Away);
    },
    /** @returns the id by which the page asks for it */
    keepFound: (actor: Actor, flow: Kept<FoundFlow>) => begin("found", actor, flow),
    /** What was found; it stays. */
    async readFound(id: string, actor: Actor): Promise<Kept<FoundFlow> | undefined> {
      return open(await store.accountFlows.find(hashSecret(id), "found"), actor, Found);
    },
    /** What was found, for the one who takes it first. */
    async takeFound(id: string, actor: Actor): Promise<Kept<FoundFlow> | undefined> {
      return open(await store.accountFlows.take(hashSecret(id), "found"), actor, Found);
    },
  };
}

const LIFETIME_MS = 10 * 60_000;

function placeOf(flowHash: string): SealedPlace {
  return { table: "account_flows", row: [flowHash], column: "sealed" };
}
