import { z } from "zod";
import { makeNames } from "#sources/atlassian/names.ts";
import type { SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { failedSkip, makeFailures } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { makeUnread } from "#sources/unread.ts";
import { makeWaits, notRead } from "#sources/waits.ts";
import { makeConfluenceClient } from "./client.ts";
import type { ConfluenceConfig } from "./config.ts";
import { spaceRef } from "./ids.ts";
import { nameOf } from "./map.ts";
import { mentionedIn } from "./storage.ts";
import type { SpaceRecord, UserRecord } from "./records.ts";

/** An unreadable cursor is ignored: everything is listed again, and nothing is lost. */
export const ConfluenceCursor = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("listing"),
    runId: z.string().nullable(),
    at: z.number(),
    /** Every space up to this one was read, and of the next the pages up to `page`. */
    after: z.string().nullable(),
    space: z.object({ id: z.string(), page: z.string() }).optional(),
    done: z.number(),
    notLookedAt: z.array(z.string()),
  }),
  z.object({
    type: z.literal("changes"),
    /** By the server's clock: what changed before was read. */
    at: z.number(),
  }),
]);
export type ConfluenceCursor = z.infer<typeof ConfluenceCursor>;

export type Event = SyncEvent<ConfluenceCursor>;

export type Tools = Awaited<ReturnType<typeof makeTools>>;

/** What a run works with. */
export async function makeTools(ctx: SyncContext<ConfluenceConfig>, run: SyncRequest<ConfluenceCursor>) {
  const client = makeConfluenceClient(ctx);
  // Signed in as nobody, Confluence shows what is public: that is not all there is.
  const { at } = await client.whoAmI();
  const ahead = at - ctx.now();
  const users = new Map<string, UserRecord>();
  const asked = new Set<string>();
  const usersOf = async (ids: readonly (string | undefined)[]): Promise<ReadonlyMap<string, UserRecord>> => {
    const fresh = [...new Set(ids.filter((id) => id !== undefined))].filter((id) => !asked.has(id));
    for (const id of fresh) asked.add(id);
    for (const user of fresh.length > 0 ? await client.users(fresh) : []) {
      if (user.id !== undefined) users.set(user.id, user);
    }
    return users;
  };
  return {
    ctx,
    run,
    client,
    at,
    /** Those that are read, by id. */
    spaces: new Map<string, SpaceRecord>(),
    failures: makeFailures(() => client.whoAmI()),
    /** Pages and parts that could not be read. */
    unread: makeUnread(ctx.state),
    waits: makeWaits(ctx),
    /** The server's clock, now. */
    serverNow: () => ctx.now() + ahead,
    mapping: { names: makeNames(ctx, "confluence"), config: ctx.config, base: client.base },
    /** Who they are; each is asked for once. */
    usersOf,
    /** The names of those whom these texts mention. */
    async namesIn(texts: readonly (string | undefined)[]): Promise<(userId: string) => string | undefined> {
      await usersOf(texts.flatMap((text) => mentionedIn(text ?? "")));
      return (id) => [users.get(id)?.displayName, users.get(id)?.name].find((name) => name?.trim());
    },
  };
}

/** What stands in the items of a space: another one, and it is read again. */
export function labelOf(space: SpaceRecord): string {
  return `${space.key}\n${nameOf(space)}`;
}

/** So many ids fit into one value of the state; of more, a full run finds those that are gone. */
export const MOST_KNOWN = 5_000;

/** A page, comment or attachment that isn't understood: it stays as it is, and is asked for by itself. */
export async function notUnderstood({ unread }: Pick<Tools, "unread">, externalId: string): Promise<Event> {
  await unread.note(externalId);
  return failedSkip(externalId, NOT_UNDERSTOOD);
}

export async function allNotUnderstood(tools: Pick<Tools, "unread">, externalIds: Iterable<string>): Promise<Event[]> {
  const events: Event[] = [];
  for (const externalId of externalIds) events.push(await notUnderstood(tools, externalId));
  return events;
}

/** A space that is refused, or fails, alone. @throws what is about more than the space */
export async function spaceNotRead(tools: Tools, space: SpaceRecord, error: unknown): Promise<Event> {
  const { id } = space;
  const message = `${nameOf(space)} can't be read now.`;
  const event = await notRead(tools, { container: spaceRef(id), externalId: `space ${id}`, message }, error);
  // The next run reads it whole.
  tools.ctx.state.put(`space:${id}`, undefined);
  return event;
}

/** A space that was listed and isn't understood: it stays as it is. */
export function oddSpace({ ctx }: Tools, id: string): Event {
  ctx.state.put(`space:${id}`, undefined);
  return failedSkip(`space ${id}`, NOT_UNDERSTOOD);
}
