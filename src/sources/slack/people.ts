import { isApiError } from "#api/errors.ts";
import { inChunks } from "#core/in-chunks.ts";
import { formatPrincipal, parsePrincipal, type Principal } from "#core/principals.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import { roomGroup, roomOfGroup } from "#sources/chat/rooms.ts";
import { readChannels } from "./channels.ts";
import { makeClient, type SlackClient, type SlackContext, type SlackUser } from "./client.ts";
import { displayNameOf, type Room, userPrincipal } from "./map.ts";

/** Members of one page of a group. */
const PAGE_MEMBERS = 5_000;

/** The group of everyone who may read public channels: members of the workspace who aren't guests. */
export const FULL_MEMBERS = "members";

/**
 * Users with their state, and the readers of each channel: for a public one the full members, for a private one its
 * members. Guests read the channels they are in. Slack has no feed of changes: every run reads everything.
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
  yield* pagesOf(fullMembers(ctx), full);
  const wanted = mode === "groups" ? new Set(groups.flatMap((group) => roomIn(group) ?? [])) : undefined;
  const { rooms, odd, isWhole } = await readChannels(ctx, client);
  const notLookedAt: Principal[] = odd.map((id) => roomGroup(ctx.connector.id, id));
  for (const room of rooms) {
    if (wanted && !wanted.has(room.id)) continue;
    try {
      yield* pagesOf(roomGroup(ctx.connector.id, room.id), await readersOf(reader, room));
    } catch (error) {
      if (!isApiError(error, "source_forbidden") && !isApiError(error, "source_not_found")) throw error;
      notLookedAt.push(roomGroup(ctx.connector.id, room.id));
    }
  }
  const here = new Set([...rooms.map(({ id }) => id), ...odd]);
  for (const id of isWhole ? (wanted ?? []) : [])
    if (!here.has(id)) yield { t: "group", group: roomGroup(ctx.connector.id, id), members: [] };
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

function* pagesOf(group: Principal, members: readonly Principal[]): Generator<IdentityEvent<null>, void> {
  const pages = [...inChunks(members, PAGE_MEMBERS)];
  for (const [at, page] of pages.entries()) {
    yield { t: "group", group, members: page, ...(at < pages.length - 1 && { more: true }) };
  }
  if (pages.length === 0) yield { t: "group", group, members: [] };
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
    ...(name !== undefined && { login: name }),
    ...(address && { email: { address, isVerified } }),
  };
}

function fullMembers({ connector }: SlackContext): Principal {
  return formatPrincipal({ type: "source_group", connectorId: connector.id, id: FULL_MEMBERS });
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
