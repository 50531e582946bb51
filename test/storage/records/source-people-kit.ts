import { makeGroupPages } from "#storage/batch/group-pages.ts";
import type { PeopleBatch, PeopleEnd, PeopleEvent, PeopleReporter } from "#storage/people-batch.ts";
import type { Principal } from "#core/principals.ts";
import { makeWorld, type World } from "../access/fixtures.ts";

export const DAY_MS = 86_400_000;

export type PeopleKit = Awaited<ReturnType<typeof makePeopleKit>>;

/** A workspace with one GitHub connector that tells of groups and users, and what it takes to tell it. */
export async function makePeopleKit() {
  const world: World = await makeWorld();
  const workspaceId = await world.workspace();
  const { userId: ownerUserId } = await world.user(workspaceId, "owner");
  const connector: World["connector"] = (of, options) => world.connector(of, { ownerUserId, ...options });
  const connectorId = await connector(workspaceId, { providerId: "github", aclCheckedAt: world.clock.ms });
  const store = world.store.in(workspaceId);
  const { sourcePeople, access } = store;

  function teller(more: Partial<PeopleReporter> = {}): PeopleReporter {
    const now = world.clock.ms;
    return {
      connectorId,
      toldIn: "identities",
      isTrusted: true,
      runId: "run",
      mode: "whole",
      now,
      maxAclAgeMs: DAY_MS,
      ...more,
    };
  }

  async function run(
    events: readonly PeopleEvent[],
    more: Partial<PeopleBatch & PeopleEnd> & { isLeftOpen?: boolean } = {},
  ) {
    const { isLeftOpen = false, isComplete = true, notLookedAt = [], checkpoint = { cursor: null }, ...rest } = more;
    const who = teller(rest);
    const { position } = await sourcePeople.begin(who);
    const applied = await sourcePeople.apply({ ...who, since: position, events, checkpoint });
    if (!applied.isApplied) throw new Error(applied.reason);
    if (isLeftOpen) return { ...applied, ended: undefined };
    const end: PeopleEnd = { ...who, isComplete, notLookedAt };
    if (more.currentAt !== undefined) end.currentAt = more.currentAt;
    if (more.home !== undefined) end.home = more.home;
    return { ...applied, ended: await sourcePeople.end(end) };
  }

  return {
    ...world,
    connector,
    world: world.store,
    workspaceId,
    connectorId,
    store,
    sourcePeople,
    teller,
    /** One run from its beginning to its end, of mode `whole` unless told; with `isLeftOpen` it dies before that. */
    run,
    group: (id: string): Principal => `group:${connectorId}:${id}`,
    user: (id: string): Principal => `user:github:api.github.com:${id}`,
    member: () => world.user(workspaceId),
    leave: (userId: string) =>
      world.store.transaction((tx) => tx.in(workspaceId).members.remove(userId, world.clock.ms)),
    whole(
      id: string,
      members: readonly Principal[],
      more: { at?: number; etag?: string; homes?: readonly string[] } = {},
    ): PeopleEvent {
      const page = { group: `group:${connectorId}:${id}`, members, hasMore: false, at: world.clock.ms, ...more };
      const group = makeGroupPages().add(page);
      if (!group) throw new Error("A page without another one is the group.");
      return group;
    },
    same: (...ids: string[]): PeopleEvent => ({
      t: "group_same",
      groups: ids.map((id) => `group:${connectorId}:${id}`),
      at: world.clock.ms,
    }),
    delta: (id: string, member: Principal, isRemoved = false): PeopleEvent => ({
      t: "member",
      group: `group:${connectorId}:${id}`,
      member,
      isRemoved,
    }),
    identity(
      id: string,
      { email = null, ...more }: Partial<Extract<PeopleEvent, { t: "identity" }>> = {},
    ): PeopleEvent {
      const base = { name: id, login: id, isEmailVerified: email !== null, sameAs: [], at: world.clock.ms };
      return { t: "identity", principal: `user:github:api.github.com:${id}`, state: "active", ...base, email, ...more };
    },
    /** Names of the connector's groups, and users of its source, that somebody stands for now. */
    async standsFor(userId: string): Promise<string[]> {
      const at = { now: world.clock.ms, maxAclAgeMs: DAY_MS };
      const { principals } = await access.expandAt([`user:${userId}`], at);
      return principals
        .filter((name) => name.split(":").length > 2)
        .map((name) => name.slice(name.lastIndexOf(":") + 1));
    },
    join: (principal: Principal, userId: string, basis: "account" | "email" | "admin" = "admin") =>
      world.store.transaction((tx) =>
        tx
          .in(workspaceId)
          .identities.join({ principal, userId, connectorId, basis, joinedBy: null, joinedAt: world.clock.ms }),
      ),
  };
}
