import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { item, upsert } from "./harness.ts";
import { HOUR_MS, listed, makeMirror, OPEN } from "./mirror.ts";

// Sequences by which content stayed readable that its source no longer showed, or went dark that it did.

const DAY_MS = 24 * HOUR_MS;
const NOTHING: SyncEvent = { t: "end", listing: "partial", permissions: "not_checked" };
const CURRENT: SyncEvent = { t: "end", listing: "complete", permissions: "current" };
const space = (id: string) => ({ type: "folder" as const, id });

function inside(id: string, container: string, more: Partial<SourceItem> = {}): SyncEvent {
  const containers = [{ ...space(container), name: container, isHome: true as const }];
  return upsert(id, `text of ${id}`, { access: OPEN, containers, ...more });
}

const unauthorized = () => {
  throw new ApiError("source_unauthorized", { message: "401" });
};

describe("what could not be looked at", () => {
  test("goes a day after its last look, while what was looked at stays", async ({ expect }) => {
    const kb = await makeMirror(() => [inside("open", "a"), inside("closed", "b"), CURRENT]);
    await kb.work();
    kb.world.script = () => [inside("open", "a"), { ...CURRENT, notLookedAt: [{ container: space("b") }] }];
    for (let hour = 0; hour < 23; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["closed", "open"]);
    await kb.pass(2 * HOUR_MS);
    expect(await kb.readable()).toEqual(["open"]);
    expect((await kb.connector()).counts.aclStale).toBe(1);
    expect(await kb.search("text")).toMatchObject({ total: 1 });
    expect(await kb.explain("closed")).toMatchObject({
      reason: "permissions_too_old",
      lists: [{ origin: "connector", isMet: false, principals: [`group:connector:${kb.connectorId}`] }, {}],
    });
    kb.world.script = () => [{ t: "seen", externalIds: ["open", "closed"] }, CURRENT];
    await kb.pass(12 * HOUR_MS);
    expect(await kb.readable()).toEqual(["closed", "open"]);
    expect((await kb.connector()).counts.aclStale).toBe(0);
    expect(await kb.explain("closed")).toMatchObject({ reason: "allowed" });
  });

  test("is an item whose permissions failed, too", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a", "b"));
    await kb.work();
    kb.world.script = function* () {
      yield upsert("a", "text of a", { access: OPEN });
      yield { t: "skip", externalId: "b", reason: "failed", message: "403", retryable: true };
      yield CURRENT;
    };
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["a"]);
  });

  test("is a part that no one named, though what it is a part of was looked at", async ({ expect }) => {
    const { access: _none, ...bare } = item("part", "text of part", { partOf: "whole" });
    const part: SyncEvent = { t: "upsert", item: bare };
    const whole = upsert("whole", "text of whole", { access: OPEN });
    const kb = await makeMirror(() => [whole, part, CURRENT]);
    await kb.work();
    expect(await kb.readable()).toEqual(["part", "whole"]);
    kb.world.script = () => [whole, NOTHING];
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["whole"]);
    expect(await kb.search("text")).toMatchObject({ total: 1 });
    kb.world.script = () => [whole, part, NOTHING];
    await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["part", "whole"]);
  });

  test("is what waits for someone to approve its removal, too", async ({ expect }) => {
    const ids = Array.from({ length: 30 }, (_, i) => `i${i}`);
    const kb = await makeMirror(() => listed("a", ...ids));
    await kb.work();
    kb.world.script = () => listed("a");
    await kb.sync();
    expect(await kb.readable()).toEqual(["a"].concat(ids).sort());
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["a"]);
  });
});

describe("a refusal", () => {
  test("of one container hides what lives in it and nothing else", async ({ expect }) => {
    const kb = await makeMirror(() => [inside("x", "a"), inside("y", "b"), CURRENT]);
    await kb.work();
    kb.world.script = () => [{ t: "refused", what: { container: space("b") }, code: "source_forbidden" }, NOTHING];
    await kb.sync();
    expect(await kb.readable()).toEqual(["x"]);
    kb.world.script = () => [inside("x", "a"), inside("y", "b"), CURRENT];
    await kb.sync();
    expect(await kb.readable()).toEqual(["x", "y"]);
  });

  test("of everything is told, and ends when the source answers", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a"));
    await kb.work();
    kb.world.script = unauthorized;
    await kb.sync();
    expect((await kb.connector()).aclStale).toMatchObject({ cause: "refused" });
    expect(await kb.search("text")).toMatchObject({
      total: 0,
      notes: expect.arrayContaining([expect.stringMatching(/needs new credentials/u)]),
    });
    kb.world.script = () => listed("a");
    await kb.sync();
    expect(await kb.readable()).toEqual(["a"]);
    expect((await kb.connector()).aclStale).toBeNull();
  });

  test("of everything for a week leaves nothing behind", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a"));
    const stored = async () => (await kb.kb.database.read.selectFrom("items").select("kbId").execute()).length;
    await kb.work();
    kb.world.script = unauthorized;
    await kb.sync();
    await kb.pass(6 * DAY_MS);
    expect(await stored()).toBe(1);
    await kb.pass(DAY_MS);
    expect(await stored()).toBe(0);
  });

  test("hides nothing where access is set in kb", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a"), ["workspace"], { acl: "connector" });
    await kb.work();
    kb.world.script = unauthorized;
    await kb.sync();
    expect(await kb.readable()).toEqual(["a"]);
    expect(await kb.connector()).toMatchObject({ state: "needs_reauth", aclStale: null });
  });

  test("is not what a limit is", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a"));
    await kb.work();
    kb.world.script = () => {
      throw new ApiError("source_rate_limited", { message: "429", retryAfterMs: HOUR_MS });
    };
    await kb.sync();
    expect(await kb.readable()).toEqual(["a"]);
    expect(await kb.connector()).toMatchObject({ state: "active", aclStale: null });
  });
});

describe("proof in time", () => {
  const script = (run: { mode: string }): SyncEvent[] => {
    if (run.mode === "full") return [...listed("a")];
    if (run.mode === "access")
      return [
        { t: "access", externalId: "a", access: OPEN },
        { ...NOTHING, permissions: "current" },
      ];
    return [NOTHING];
  };

  test("is a pass over accesses where the source has one", async ({ expect }) => {
    const kb = await makeMirror(script, ["workspace"], { freshness: "access" });
    await kb.work();
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["a"]);
    expect(kb.world.runs.filter((mode) => mode !== "incremental")).toEqual(["full", "access", "access"]);
  });

  test("goes on where a pass over accesses was interrupted, in the same run alone", async ({ expect }) => {
    const places: unknown[] = [];
    let isLimited = true;
    const kb = await makeMirror(
      (run) => {
        if (run.mode === "full") return listed("a", "b");
        if (run.mode !== "access") return [NOTHING];
        places.push(run.cursor);
        return (function* (): Generator<SyncEvent> {
          if (run.cursor === null) {
            yield { t: "access", externalId: "a", access: OPEN };
            yield { t: "checkpoint", cursor: { after: "a" } };
            if (isLimited) throw new ApiError("source_rate_limited", { message: "Later.", retryAfterMs: 60_000 });
          }
          yield { t: "access", externalId: "b", access: OPEN };
          yield { t: "end", listing: "complete", permissions: "current" };
        })();
      },
      ["workspace"],
      { freshness: "access" },
    );
    await kb.work();
    for (let hour = 0; hour < 13; hour++) await kb.pass(HOUR_MS);
    isLimited = false;
    expect(places).toEqual([null, { after: "a" }]);
    expect(await kb.readable()).toEqual(["a", "b"]);
    for (let hour = 0; hour < 13; hour++) await kb.pass(HOUR_MS);
    expect(places).toEqual([null, { after: "a" }, null]);
    expect(await kb.readable()).toEqual(["a", "b"]);
  });

  test("is a feed only where it shows what has moved", async ({ expect }) => {
    const feed = () => [{ ...NOTHING, permissions: "current" as const }];
    for (const [placement, expected] of [
      ["feed", ["full"]],
      ["listing", ["full", "full", "full"]],
    ] as const) {
      const kb = await makeMirror((run) => (run.mode === "full" ? listed("a") : feed()), ["workspace"], {
        freshness: "feed",
        placement,
      });
      await kb.work();
      for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
      expect(await kb.readable()).toEqual(["a"]);
      expect(kb.world.runs.filter((mode) => mode === "full")).toEqual(expected);
    }
  });

  test("that an item is still where it was is a listing's alone: one that moved out of sight goes in a day", async ({
    expect,
  }) => {
    const feed: SyncEvent[] = [inside("other", "open"), { ...NOTHING, permissions: "current" }];
    let isListed = true;
    const kb = await makeMirror(
      ({ mode }) => {
        if (mode !== "full") return feed;
        if (!isListed) return feed;
        return [inside("other", "open"), inside("moved", "open"), CURRENT];
      },
      ["workspace"],
      { freshness: "feed", placement: "listing" },
    );
    await kb.work();
    // Into a project that is closed to the credential: the feed of the former one never tells, and no listing comes to its end.
    isListed = false;
    for (let hour = 0; hour < 23; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["moved", "other"]);
    for (let hour = 0; hour < 3; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["other"]);
    kb.world.script = ({ mode }) => (mode === "full" ? [inside("other", "open"), CURRENT] : feed);
    for (let hour = 0; hour < 6; hour++) await kb.pass(HOUR_MS);
    expect([await kb.readable(), (await kb.connector()).aclStale]).toEqual([["other"], null]);
  });

  test("is asked of a connector without a schedule, too", async ({ expect }) => {
    const kb = await makeMirror(script);
    await kb.kb.as(kb.owner).patch(`/api/connectors/${kb.connectorId}`, { schedule: null });
    await kb.work();
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["a"]);
    expect(kb.world.runs).toEqual(["full", "full", "full"]);
  });
});

describe("clocks", () => {
  test("that jump make nothing readable for ever, and nothing dark for long", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a"));
    await kb.work();
    kb.kb.clock.advance(-HOUR_MS);
    expect(await kb.readable()).toEqual([]);
    kb.kb.clock.advance(HOUR_MS - 60_000);
    expect(await kb.readable()).toEqual(["a"]);
    kb.kb.clock.advance(25 * HOUR_MS);
    expect(await kb.readable()).toEqual([]);
    await kb.pass(0);
    expect(await kb.readable()).toEqual(["a"]);
  });

  test("that went back say so, and heal by a run that is queued at once", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a"));
    await kb.work();
    await kb.pass(1);
    kb.kb.clock.advance(-3 * HOUR_MS);
    expect(await kb.readable()).toEqual([]);
    await kb.pass(0);
    expect(await kb.readable()).toEqual(["a"]);
    const runs = kb.world.runs.length;
    await kb.pass(1_000);
    expect(kb.world.runs).toHaveLength(runs);
    const aclCheckedAt = kb.kb.clock.now() + HOUR_MS;
    await kb.kb.database.write.updateTable("connectors").set({ aclCheckedAt }).execute();
    const since = new Date(kb.kb.clock.now()).toISOString();
    kb.kb.clock.advance(3 * HOUR_MS);
    await kb.kb.database.write
      .updateTable("connectors")
      .set({ aclCheckedAt: aclCheckedAt + 4 * HOUR_MS })
      .execute();
    expect(since < (await kb.connector()).aclStale.since).toBe(true);
    expect((await kb.connector()).aclStale.cause).toBe("clock_went_back");
  });

  test("run as long as the workspace says", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a"));
    await kb.work();
    const { json } = await kb.kb.as(kb.owner).patch("/api/workspace", { maxAclAgeHours: 1 });
    expect(json.workspace.maxAclAgeHours).toBe(1);
    kb.kb.clock.advance(HOUR_MS + 1);
    expect(await kb.readable()).toEqual([]);
    await kb.kb.as(kb.owner).patch("/api/workspace", { maxAclAgeHours: 48 });
    expect(await kb.readable()).toEqual(["a"]);
    const { status } = await kb.kb.as(kb.owner).patch("/api/workspace", { maxAclAgeHours: 0 });
    expect(status).toBe(400);
  });

  test("of another age are asked for at once, and read whole where they were too old by the former one", async ({
    expect,
  }) => {
    const kb = await makeMirror(() => listed("a"));
    const setHours = (maxAclAgeHours: number) => kb.kb.as(kb.owner).patch("/api/workspace", { maxAclAgeHours });
    await setHours(1);
    await kb.work();
    kb.kb.clock.advance(HOUR_MS + 1);
    expect(await kb.readable()).toEqual([]);
    // What is believed again was last looked at long ago.
    kb.world.runs = [];
    kb.world.script = () => listed("b");
    await setHours(48);
    await kb.work();
    expect(kb.world.runs).toEqual(["full"]);
    expect(await kb.readable()).toEqual(["b"]);
    kb.kb.clock.advance(60_000);
    await setHours(24);
    await kb.work();
    expect(kb.world.runs).toHaveLength(2);
    // The same again changes nothing.
    await setHours(24);
    await kb.work();
    expect(kb.world.runs).toHaveLength(2);
  });

  test("of a listing that takes longer than a day are those of what it has named", async ({ expect }) => {
    let clock: { advance(ms: number): void } | undefined;
    const kb = await makeMirror(function* () {
      for (const id of ["a", "b", "c"]) {
        yield inside(id, "s");
        clock?.advance(10 * HOUR_MS);
        // Without a place to stop at, it would be one that never ends.
        yield { t: "checkpoint", cursor: id };
      }
      yield { t: "listed", container: space("s") };
      throw new ApiError("source_rate_limited", { message: "429", retryAfterMs: HOUR_MS });
    });
    clock = kb.kb.clock;
    await kb.work();
    clock = undefined;
    expect(await kb.readable()).toEqual(["a", "b", "c"]);
    kb.kb.clock.advance(DAY_MS);
    expect(await kb.readable()).toEqual([]);
  });
});

test("a slice that was listed whole loses what it did not name, and nothing beside it", async ({ expect }) => {
  const kb = await makeMirror(() => [inside("x", "a"), inside("gone", "a"), inside("y", "b"), CURRENT]);
  await kb.work();
  kb.world.script = () => [{ t: "seen", externalIds: ["x"] }, { t: "listed", container: space("a") }, NOTHING];
  await kb.sync();
  expect(await kb.readable()).toEqual(["x", "y"]);
});

test("a slice of time loses what was created in it and not named: from its first millisecond, before its last", async ({
  expect,
}) => {
  const at = (id: string, ms: number) => inside(id, "a", { createdAt: ms });
  const kb = await makeMirror(() => [
    at("before", 999),
    at("first", 1_000),
    at("last", 1_999),
    at("after", 2_000),
    CURRENT,
  ]);
  await kb.work();
  kb.world.script = () => [{ t: "listed", container: space("a"), from: 1_000, to: 2_000 }, NOTHING];
  await kb.sync();
  expect(await kb.readable()).toEqual(["after", "before"]);
});
