import { test } from "vitest";
import type { IdentityEvent } from "#sources/identity-events.ts";
import { runIdentities } from "#server/sync/people/run.ts";
import { DAY_MS, makePeopleKit, type PeopleKit } from "../../../storage/records/source-people-kit.ts";

interface Cursor {
  at: number;
}

/** Every kind of event, with pages of a group across a checkpoint, and a change after a whole reading. */
function eventsOf({ group, user }: PeopleKit): IdentityEvent<Cursor>[] {
  return [
    { t: "group", group: group("a"), members: [user("1"), user("2")] },
    { t: "identity", principal: user("1"), state: "active", name: "One", sameAs: [user("one")] },
    { t: "checkpoint", cursor: { at: 3 } },
    { t: "group", group: group("b"), members: [user("3")], more: true },
    // Not to be stored: it would cover half a group.
    { t: "checkpoint", cursor: { at: 5 } },
    { t: "group", group: group("b"), members: [group("a")] },
    { t: "checkpoint", cursor: { at: 7 } },
    { t: "member", group: group("a"), member: user("4") },
    { t: "member", group: group("a"), member: user("2"), removed: true },
    { t: "identity", principal: user("2"), state: "gone" },
    { t: "checkpoint", cursor: { at: 11 } },
    { t: "group", group: group("c"), members: ["everyone"] },
    { t: "end", listing: "complete" },
  ];
}

class Killed extends Error {}

/** A world in which something else was told before, and then a whole run that dies before each of these events. */
async function stateAfter(kills: readonly number[]): Promise<unknown> {
  const kit = await makePeopleKit();
  const told = { t: "identity", state: "active", name: null, login: null, email: null } as const;
  await kit.run([{ ...told, principal: kit.user("9"), isEmailVerified: false, sameAs: [], at: kit.clock.ms }], {
    runId: "before",
  });
  const events = eventsOf(kit);
  for (const until of [...kills, Infinity]) {
    kit.clock.ms += 1_000;
    const attempt = runIdentities({
      store: kit.store,
      source: {
        spec: { providerId: "github" } as never,
        async *syncIdentities(_ctx: unknown, run: { cursor: unknown }) {
          const from = (run.cursor as Cursor | null)?.at ?? 0;
          for (const [i, event] of events.entries()) {
            if (i >= until) throw new Killed();
            if (i >= from) yield event as IdentityEvent;
          }
        },
      },
      context: {} as never,
      authority: {
        connectorId: kit.connectorId,
        users: { providerId: "github", instance: "api.github.com" },
      },
      reporter: {
        connectorId: kit.connectorId,
        toldIn: "identities",
        isTrusted: true,
        runId: "run",
        mode: "whole",
        maxAclAgeMs: DAY_MS,
      },
      dueBefore: 0,
      now: () => kit.clock.ms,
      signal: new AbortController().signal,
      onEnded: async () => undefined,
    });
    await attempt.catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
  }
  const { memberships, groups, users, oldestAt } = await kit.sourcePeople.summaryOf(kit.connectorId);
  const members: Record<string, unknown> = {};
  for (const id of ["a", "b", "c"]) {
    const listed = await kit.store.access.membersOf(kit.group(id));
    members[id] = listed.map((member) => member.replace(kit.connectorId, "con"));
  }
  const identities = await kit.store.identities.list(kit.connectorId, { limit: 50 });
  return {
    memberships,
    groups,
    users,
    members,
    isStamped: oldestAt !== null,
    identities: identities.map(({ principal, state, name, aliasOf }) => [principal, state, name, aliasOf]),
  };
}

test("a run that is killed at any event, once or twice, and taken up again ends as one that was not", async ({
  expect,
}) => {
  const whole = await stateAfter([]);
  expect(whole).toMatchObject({
    groups: 3,
    members: {
      a: ["user:github:api.github.com:1"],
      b: ["group:con:a", "user:github:api.github.com:3"],
      c: ["everyone"],
    },
  });
  // Nobody who was told only before it is left.
  expect(JSON.stringify(whole)).not.toContain(":9");
  for (let at = 0; at <= 12; at++) {
    expect([at, await stateAfter([at])]).toEqual([at, whole]);
    expect([at, await stateAfter([Math.min(12, at + 3), at])]).toEqual([at, whole]);
  }
});
