import { z } from "zod";
import { isApiError } from "#api/errors.ts";
import { formatPrincipal, type Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import { type GroupRecord, makeClient, type ReferenceConfig, type UserRecord } from "./client.ts";

type Context = SourceContext<ReferenceConfig>;

/** Everything before this change was handed over. */
const PeopleCursor = z.object({ since: z.number() });
export type PeopleCursor = z.infer<typeof PeopleCursor>;

/** Who its users are, and who is in its groups: those of spaces, and the teams in them. */
export async function* syncReferencePeople(
  ctx: Context,
  { mode, groups = [], cursor }: IdentityRun,
): AsyncGenerator<IdentityEvent<PeopleCursor>, void> {
  if (mode === "groups") yield* readGroups(ctx, groups);
  else if (mode === "changes") yield* readChanges(ctx, PeopleCursor.parse(cursor));
  else yield* readAll(ctx);
}

async function* readAll(ctx: Context): AsyncGenerator<IdentityEvent<PeopleCursor>, void> {
  const client = makeClient(ctx);
  // What changes while it is read is told by the changes since.
  const { latest } = await client.me();
  for await (const users of client.users()) for (const user of users) yield identityOf(ctx, user);
  for await (const page of client.groups()) for (const group of page) yield groupOf(ctx, group);
  yield { t: "checkpoint", cursor: { since: latest } };
  yield { t: "end", listing: "complete" };
}

async function* readGroups(
  ctx: Context,
  groups: readonly Principal[],
): AsyncGenerator<IdentityEvent<PeopleCursor>, void> {
  for (const group of groups) {
    const id = decodeURIComponent(group.split(":")[2] ?? "");
    yield await readGroup(ctx, id);
  }
  yield { t: "end", listing: "partial" };
}

async function* readChanges(ctx: Context, { since }: PeopleCursor): AsyncGenerator<IdentityEvent<PeopleCursor>, void> {
  const { changes, latest } = await makeClient(ctx).peopleChanges(since);
  for (const change of changes) {
    if ("user" in change) {
      const principal = userPrincipal(ctx, change.user);
      yield change.is ? identityOf(ctx, change.is) : { t: "identity", principal, state: "gone" };
    } else if (change.member === undefined) {
      yield await readGroup(ctx, change.group);
    } else {
      const member = memberPrincipal(ctx, change.member);
      yield { t: "member", group: groupPrincipal(ctx, change.group), member, ...(change.removed && { removed: true }) };
    }
  }
  yield { t: "checkpoint", cursor: { since: latest } };
  yield { t: "end", listing: "partial" };
}

/** A group as it is now; one that is gone has nobody. */
async function readGroup(ctx: Context, id: string): Promise<IdentityEvent<PeopleCursor>> {
  try {
    return groupOf(ctx, await makeClient(ctx).group(id));
  } catch (error) {
    if (!isApiError(error, "source_not_found")) throw error;
    return { t: "group", group: groupPrincipal(ctx, id), members: [] };
  }
}

function groupOf(ctx: Context, { id, members, isPublic, etag }: GroupRecord): IdentityEvent<PeopleCursor> {
  const named = members.map((member) => memberPrincipal(ctx, member));
  // A public space stays the same group: who may read it changes in one place, however many pages it has.
  return { t: "group", group: groupPrincipal(ctx, id), members: isPublic ? [...named, "everyone"] : named, etag };
}

function identityOf(ctx: Context, { id, email, state }: UserRecord): IdentityEvent<PeopleCursor> {
  return {
    t: "identity",
    principal: userPrincipal(ctx, id),
    state,
    login: id,
    email: { address: email, isVerified: true },
  };
}

function memberPrincipal(ctx: Context, id: string): Principal {
  return id.includes(":") ? groupPrincipal(ctx, id) : userPrincipal(ctx, id);
}

export function groupPrincipal({ connector }: Pick<Context, "connector">, id: string): Principal {
  return formatPrincipal({ type: "source_group", connectorId: connector.id, id });
}

export function userPrincipal({ connector }: Pick<Context, "connector">, id: string): Principal {
  return formatPrincipal({
    type: "source_user",
    providerId: "reference",
    instance: connector.instance ?? connector.id,
    id,
  });
}
