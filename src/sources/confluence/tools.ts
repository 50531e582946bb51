import { makeNames } from "#sources/atlassian/names.ts";
import { beginRun } from "#sources/atlassian/sessions.ts";
import type { SyncContext } from "#sources/context.ts";
import { refusalOf } from "#sources/failures.ts";
import type { OpenRequest } from "#sources/session.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { notUnderstood } from "#sources/unread.ts";
import { makeConfluenceClient } from "./client.ts";
import type { ConfluenceConfig } from "./config.ts";
import { spaceRef } from "./ids.ts";
import { nameOf } from "./map.ts";
import { mentionedIn } from "./storage.ts";
import type { SpaceRecord, UserRecord } from "./records.ts";

export type Tools = Awaited<ReturnType<typeof makeTools>>;

/** The dependencies of a run. */
export async function makeTools(ctx: SyncContext<ConfluenceConfig>, { scope }: OpenRequest) {
  const client = makeConfluenceClient(ctx);
  const run = await beginRun<SpaceRecord>(ctx, client, { key: "space", refOf: spaceRef, nameOf });
  const users = new Map<string, UserRecord>();
  const asked = new Set<string>();
  /** People that Confluence failed to return. No page is left out because of a missing name. */
  const unread = new Set<string>();
  const usersOf = async (ids: readonly (string | undefined)[]): Promise<ReadonlyMap<string, UserRecord>> => {
    const fresh = [...new Set(ids.filter((id) => id !== undefined))].filter((id) => !asked.has(id));
    for (const id of fresh) asked.add(id);
    try {
      for (const user of fresh.length > 0 ? await client.users(fresh) : []) {
        if (user.id !== undefined) users.set(user.id, user);
      }
    } catch (error) {
      if (refusalOf(error) !== undefined) return users;
      await run.failures.requireOfOne(error);
      for (const id of fresh) unread.add(id);
    }
    return users;
  };
  return {
    ...run,
    ctx,
    scope,
    client,
    mapping: { names: makeNames(ctx, "confluence"), config: ctx.config, base: client.base },
    /** Looks people up, each person once. */
    usersOf,
    /** Whether all of these ids were looked up, including those that belong to no one. */
    areKnown: (ids: readonly (string | undefined)[]) => ids.every((id) => id === undefined || !unread.has(id)),
    /** Returns the names of the people that these texts mention. */
    async namesIn(texts: readonly (string | undefined)[]): Promise<(userId: string) => string | undefined> {
      await usersOf(texts.flatMap((text) => mentionedIn(text ?? "")));
      return (id) => [users.get(id)?.displayName, users.get(id)?.name].find((name) => name?.trim());
    },
  };
}

export async function allNotUnderstood(
  tools: Pick<Tools, "unread">,
  externalIds: Iterable<string>,
): Promise<Outcome[]> {
  const events: Outcome[] = [];
  for (const externalId of externalIds) events.push(await notUnderstood(tools, externalId));
  return events;
}
