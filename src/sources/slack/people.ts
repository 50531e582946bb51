import { sourceGroup } from "#sources/principals.ts";
import { defined } from "#core/defined.ts";
import { parsePrincipal, type Principal } from "#core/principals.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import { readRoomGroups } from "#sources/chat/people.ts";
import { roomGroup, roomOfGroup } from "#sources/chat/rooms.ts";
import { makeFailures } from "#sources/failures.ts";
import { groupPages } from "#sources/group-pages.ts";
import { readChannels } from "./channels.ts";
import { makeClient, type SlackClient, type SlackContext, type SlackUser } from "./client.ts";
import { displayNameOf, type Room, userPrincipal } from "./map.ts";

/** The group of everyone who may read public channels: members of the workspace who aren't guests. */
export const FULL_MEMBERS = "members";

/**
 * Reports users with their state, and the readers of each channel: the full members for a public channel, and its
 * members for a private one. Guests can read the channels they are in. Slack has no change feed, so every run reads
 * everything.
 */
export async function* syncSlackPeople(
  ctx: SlackContext,
  { mode, groups = [] }: IdentityRun,
): AsyncGenerator<IdentityEvent<null>, void> {
  const client = makeClient(ctx);
  const { team_id: team } = await client.whoAmI();
  const own = new Map<string, SlackUser>();
  for await (const { members } of client.users()) {
    for (const user of members) {
      // Another workspace reports its own users.
      if (user.is_bot || user.id === SLACKBOT || user.is_stranger || (user.team_id ?? team) !== team) continue;
      own.set(user.id, user);
      if (mode !== "groups") yield identityOf(ctx, user);
    }
  }
  const reader = { ctx, client, own };
  const full = [...own.values()]
    .filter((user) => isActive(user) && !isGuest(user))
    .map(({ id }) => userPrincipal(ctx, id, true));
  yield* groupPages(fullMembers(ctx), full);
  const wanted = mode === "groups" ? new Set(groups.flatMap((group) => roomIn(group) ?? [])) : undefined;
  const { rooms, odd, isWhole } = await readChannels(ctx, client);
  const groupOf = (id: string) => roomGroup(ctx.connector.id, id);
  const due = rooms.filter(({ id }) => !wanted || wanted.has(id));
  const unread = yield* readRoomGroups(
    due,
    makeFailures(() => client.whoAmI()),
    {
      groupOf,
      async *read(room) {
        yield* groupPages(groupOf(room.id), await readersOf(reader, room));
      },
    },
  );
  const notLookedAt = [...odd.map(groupOf), ...unread];
  const here = new Set([...rooms.map(({ id }) => id), ...odd]);
  for (const id of isWhole ? (wanted ?? []) : [])
    if (!here.has(id)) yield { t: "group", group: groupOf(id), members: [] };
  yield { t: "checkpoint", cursor: null };
  const listing = mode === "groups" || !isWhole ? "partial" : "complete";
  yield { t: "end", listing, ...(notLookedAt.length > 0 && { notLookedAt }) };
}

interface Reader {
  ctx: SlackContext;
  client: SlackClient;
  own: ReadonlyMap<string, SlackUser>;
}

async function readersOf({ ctx, client, own }: Reader, { id, isPrivate }: Room): Promise<Principal[]> {
  const hasGuests = [...own.values()].some((user) => isActive(user) && isGuest(user));
  if (!isPrivate && !hasGuests) return [fullMembers(ctx)];
  const inside = await client.members(id);
  const named = isPrivate ? inside : inside.filter((member) => isGuest(own.get(member)));
  const members = named.filter(isUserId).map((member) => userPrincipal(ctx, member, own.has(member)));
  return isPrivate ? members : [fullMembers(ctx), ...members];
}

function identityOf(ctx: SlackContext, user: SlackUser): IdentityEvent<null> {
  const { id, name, profile, is_email_confirmed: isVerified } = user;
  const address = profile.email?.trim();
  return {
    t: "identity",
    principal: userPrincipal(ctx, id, true),
    // A deactivated account can be reactivated.
    state: isActive(user) ? "active" : "suspended",
    name: displayNameOf(user),
    ...defined({ login: name }),
    ...(address && { email: { address, isVerified } }),
  };
}

function fullMembers({ connector }: SlackContext): Principal {
  return sourceGroup(connector.id, FULL_MEMBERS);
}

function isActive({ deleted }: SlackUser): boolean {
  return !deleted;
}

function isGuest(user: SlackUser | undefined): boolean {
  return user !== undefined && (user.is_restricted || user.is_ultra_restricted);
}

function isUserId(id: string): boolean {
  return /^[A-Z][A-Z0-9]{1,30}$/.test(id);
}

function roomIn(group: Principal): string | undefined {
  const parsed = parsePrincipal(group);
  return parsed?.type === "source_group" ? roomOfGroup(parsed.id) : undefined;
}

const SLACKBOT = "USLACKBOT";
