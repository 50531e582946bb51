import { z } from "zod";
import type { Actor } from "#storage/access/actor.ts";
import type { AccountFlowRecord } from "#storage/records/accounts.ts";
import type { OneTime, OpenedFlow } from "./one-time.ts";

const Away = z.object({ verifier: z.string().optional(), accountId: z.string().optional() });

/** The values that bind the authorization request to its callback. */
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

/** The account found at the provider, with its tokens, until the person confirms it. */
export type FoundFlow = z.infer<typeof Found>;

/** A flow as it is stored. */
export interface Kept<Content> {
  providerId: string;
  returnTo: string;
  content: Content;
}

export type Flows = ReturnType<typeof makeFlows>;

/** The account that this flow found. */
export function foundOf({ providerId, returnTo, content }: OpenedFlow): Kept<FoundFlow> {
  return { providerId, returnTo, content: Found.parse(content) };
}

/**
 * Stores two steps of a sign-in at a provider: the redirect, and the account found there. Each works once, only in the
 * session that began it.
 */
export function makeFlows({ once }: { once: OneTime }) {
  function begin(
    stage: AccountFlowRecord["stage"],
    { workspaceId, userId, credential }: Actor,
    { providerId, returnTo, content }: Kept<object>,
  ): Promise<string> {
    return once.begin(stage, { workspaceId, userId, sessionId: credential.id, providerId, returnTo, content });
  }

  function open<Content>(
    flow: OpenedFlow | undefined,
    actor: Actor | undefined,
    schema: z.ZodType<Content>,
  ): Kept<Content> | undefined {
    if (!flow || !actor) return undefined;
    if (flow.sessionId !== actor.credential.id || flow.workspaceId !== actor.workspaceId) return undefined;
    return { providerId: flow.providerId, returnTo: flow.returnTo, content: schema.parse(flow.content) };
  }

  return {
    /** @returns the `state` parameter for the provider */
    goAway: (actor: Actor, flow: Kept<AwayFlow>) => begin("away", actor, flow),
    /**
     * Returns the flow for a callback. Undefined if the flow is unknown, used or expired, or belongs to another
     * session, which keeps it.
     */
    async comeBack(state: string, actor: Actor | undefined): Promise<Kept<AwayFlow> | undefined> {
      const flow = open(await once.find("away", state), actor, Away);
      return flow && (await once.take("away", state)) ? flow : undefined;
    },
    /** @returns the id with which the page requests the account */
    keepFound: (actor: Actor, flow: Kept<FoundFlow>) => begin("found", actor, flow),
    /** Reads the account found; it can be read again. */
    async readFound(id: string, actor: Actor): Promise<Kept<FoundFlow> | undefined> {
      return open(await once.find("found", id), actor, Found);
    },
    /** Reads and deletes the account found. Only the first caller gets it. */
    async takeFound(id: string, actor: Actor): Promise<Kept<FoundFlow> | undefined> {
      // A flow of another session keeps its tokens.
      const found = open(await once.find("found", id), actor, Found);
      return found && (await once.take("found", id)) ? found : undefined;
    },
  };
}
