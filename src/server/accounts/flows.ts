import { z } from "zod";
import type { Actor } from "#storage/access/actor.ts";
import type { AccountFlowRecord } from "#storage/records/accounts.ts";
import type { OneTime, OpenedFlow } from "./one-time.ts";

const Away = z.object({ verifier: z.string().optional(), accountId: z.string().optional() });

/** The values that bind the request to the callback. */
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

/** A stored flow. */
export interface Kept<Content> {
  providerId: string;
  returnTo: string;
  content: Content;
}

export type Flows = ReturnType<typeof makeFlows>;

/** The account found at the end of this flow. */
export function foundOf({ providerId, returnTo, content }: OpenedFlow): Kept<FoundFlow> {
  return { providerId, returnTo, content: Found.parse(content) };
}

/** Stores the trip to a provider and the account found there: each works once, in the session in which it began. */
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
    /** @returns the state to send along */
    goAway: (actor: Actor, flow: Kept<AwayFlow>) => begin("away", actor, flow),
    /** Undefined for one that is unknown, used, expired or another session's, which keeps it. */
    async comeBack(state: string, actor: Actor | undefined): Promise<Kept<AwayFlow> | undefined> {
      const flow = open(await once.find("away", state), actor, Away);
      return flow && (await once.take("away", state)) ? flow : undefined;
    },
    /** @returns the id by which the page requests it */
    keepFound: (actor: Actor, flow: Kept<FoundFlow>) => begin("found", actor, flow),
    /** Reads the account found, without using it up. */
    async readFound(id: string, actor: Actor): Promise<Kept<FoundFlow> | undefined> {
      return open(await once.find("found", id), actor, Found);
    },
    /** Takes the account found; only the first caller gets it. */
    async takeFound(id: string, actor: Actor): Promise<Kept<FoundFlow> | undefined> {
      // Another session's flow is left as it is, with its tokens.
      const found = open(await once.find("found", id), actor, Found);
      return found && (await once.take("found", id)) ? found : undefined;
    },
  };
}
