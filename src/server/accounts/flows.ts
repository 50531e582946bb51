import { z } from "zod";
import type { Actor } from "#storage/access/actor.ts";
import type { AccountFlowRecord } from "#storage/records/accounts.ts";
import type { OneTime, OpenedFlow } from "./one-time.ts";

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

/** The person found at the provider at the end of it, with the tokens, until the person says that it is them. */
export type FoundFlow = z.infer<typeof Found>;

/** A flow as it was kept. */
export interface Kept<Content> {
  providerId: string;
  returnTo: string;
  content: Content;
}

export type Flows = ReturnType<typeof makeFlows>;

/** What was found at the end of this flow. */
export function foundOf({ providerId, returnTo, content }: OpenedFlow): Kept<FoundFlow> {
  return { providerId, returnTo, content: Found.parse(content) };
}

/** The way to a provider and what was found there: each works once, in the session in which it began. */
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
    /** Undefined for one that is unknown, used, too old or another session's, whose it stays. */
    async comeBack(state: string, actor: Actor | undefined): Promise<Kept<AwayFlow> | undefined> {
      const flow = open(await once.find("away", state), actor, Away);
      return flow && (await once.take("away", state)) ? flow : undefined;
    },
    /** @returns the id by which the page asks for it */
    keepFound: (actor: Actor, flow: Kept<FoundFlow>) => begin("found", actor, flow),
    /** What was found; it stays. */
    async readFound(id: string, actor: Actor): Promise<Kept<FoundFlow> | undefined> {
      return open(await once.find("found", id), actor, Found);
    },
    /** What was found, for the one who takes it first. */
    async takeFound(id: string, actor: Actor): Promise<Kept<FoundFlow> | undefined> {
      // Somebody else's stays where it is, and its tokens with it.
      const found = open(await once.find("found", id), actor, Found);
      return found && (await once.take("found", id)) ? found : undefined;
    },
  };
}
