import { describe, test } from "vitest";
import type { PeopleEvent } from "#storage/people-batch.ts";
import { DAY_MS, makePeopleKit, type PeopleKit } from "./source-people-kit.ts";

/** A user who is in a team, joined to a member. */
async function makeTeam() {
  const kb = await makePeopleKit();
  const ana = await kb.member();
  await kb.run([kb.identity("1"), kb.whole("team", [kb.user("1")])]);
  await kb.join(kb.user("1"), ana.userId);
  return kb;
}

/** How often the epoch rises with a report: what is kept of a viewer counts until then. */
async function risesWith(
  kb: PeopleKit,
  events: readonly PeopleEvent[],
  more: Parameters<PeopleKit["run"]>[1] = {},
): Promise<number> {
  const before = await kb.store.access.epoch();
  await kb.run(events, { isComplete: false, ...more });
  return (await kb.store.access.epoch()) - before;
}

const FEED = { mode: "changes", runId: "feed" } as const;

describe("the epoch rises", () => {
  test("with other members of a group, told whole or one by one, and not with the same ones", async ({ expect }) => {
    const kb = await makeTeam();
    expect(await risesWith(kb, [kb.whole("team", [])], { runId: "left" })).toBe(1);
    expect(await risesWith(kb, [kb.whole("team", [])], { runId: "again" })).toBe(0);
    expect(await risesWith(kb, [kb.whole("team", [kb.user("1")])], { runId: "back" })).toBe(1);
    expect(await risesWith(kb, [kb.delta("team", kb.user("1"))], FEED)).toBe(0);
    expect(await risesWith(kb, [kb.delta("team", kb.user("1"), true)], FEED)).toBe(1);
    expect(await risesWith(kb, [kb.delta("team", kb.user("1"), true)], FEED)).toBe(0);
    expect(await risesWith(kb, [kb.delta("team", kb.user("1"))], FEED)).toBe(1);
    expect(await risesWith(kb, [kb.whole("team", [kb.user("1")])], { runId: "checked" })).toBe(0);
  });

  test("with the end of a group", async ({ expect }) => {
    const kb = await makeTeam();
    expect(await risesWith(kb, [kb.identity("1")], { runId: "next", isComplete: true })).toBe(1);
  });

  test("with a user or group that comes back after its clock has run out, and not where it has none", async ({
    expect,
  }) => {
    const kb = await makeTeam();
    const later = () => (kb.clock.ms += 2 * DAY_MS);
    later();
    expect(await risesWith(kb, [kb.identity("1")], { runId: "user" })).toBe(1);
    expect(await risesWith(kb, [kb.whole("team", [kb.user("1")])], { runId: "whole" })).toBe(1);
    later();
    expect(await risesWith(kb, [kb.same("team")], { runId: "same" })).toBe(1);
    await kb.run([kb.whole("fixed", [kb.user("1")])], { runId: "fixed", isComplete: false, neverAges: true });
    later();
    const again = { runId: "fixed again", neverAges: true };
    expect(await risesWith(kb, [kb.whole("fixed", [kb.user("1")])], again)).toBe(0);
  });

  test("not with what a feed has kept current", async ({ expect }) => {
    const kb = await makeTeam();
    kb.clock.ms += 2 * DAY_MS;
    await kb.run([], { ...FEED, currentAt: kb.clock.ms });
    expect(await risesWith(kb, [kb.identity("1"), kb.whole("team", [kb.user("1")])], { runId: "next" })).toBe(0);
  });
});
