import { z } from "zod";
import type { Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";
import { ifThere } from "#sources/failures.ts";
import { principalsOf } from "#sources/principals.ts";
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
      const principal = principals(ctx).user(change.user);
      yield change.is ? identityOf(ctx, change.is) : { t: "identity", principal, state: "gone" };
    } else if (change.member === undefined) {
      yield await readGroup(ctx, change.group);
    } else {
      const member = memberPrincipal(ctx, change.member);
      yield {
        t: "member",
        group: principals(ctx).group(change.group),
        member,
        ...(change.removed && { removed: true }),
      };
    }
  }
  yield { t: "checkpoint", cursor: { since: latest } };
  yield { t: "end", listing: "partial" };
}

/** A group as it is now; one that is gone has nobody. */
async function readGroup(ctx: Context, id: string): Promise<IdentityEvent<PeopleCursor>> {
  const group = await ifThere(() => makeClient(ctx).group(id));
  return group ? groupOf(ctx, group) : { t: "group", group: principals(ctx).group(id), members: [] };
}

function groupOf(ctx: Context, { id, members, isPublic, etag }: GroupRecord): IdentityEvent<PeopleCursor> {
  const named = members.map((member) => memberPrincipal(ctx, member));
  // A public space stays the same group: who may read it changes in one place, however many pages it has.
  return { t: "group", group: principals(ctx).group(id), members: isPublic ? [...named, "everyone"] : named, etag };
}

function identityOf(ctx: Context, { id, email, state }: UserRecord): IdentityEvent<PeopleCursor> {
  return {
    t: "identity",
    principal: principals(ctx).user(id),
    state,
    login: id,
    email: { address: email, isVerified: true },
  };
}

function memberPrincipal(ctx: Context, id: string): Principal {
  const { user, group } = principals(ctx);
  return id.includes(":") ? group(id) : user(id);
}

function principals(ctx: Context) {
  return principalsOf(ctx, "reference");
}
