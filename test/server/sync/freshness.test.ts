import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { RefusalCode } from "#sources/outcomes.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { upsert } from "./harness.ts";
import { HOUR_MS, listed, makeMirror, OPEN, type Script } from "./mirror.ts";

function refused(externalId: string, code: RefusalCode): SyncEvent {
  return { t: "refused", what: { externalId }, code };
}

test("what a full run names is readable, increments come hourly, and a refusal ends its run", async ({ expect }) => {
  const kb = await makeMirror((run) =>
    run.mode === "full" ? listed("a", "b") : [{ t: "end", listing: "partial", permissions: "not_checked" }],
  );
  await kb.work();
  expect(await kb.readable()).toEqual(["a", "b"]);
  for (let hour = 0; hour < 11; hour++) await kb.pass(HOUR_MS);
  expect(await kb.readable()).toEqual(["a", "b"]);
  expect(kb.world.runs).toEqual(["full", ...Array.from({ length: 11 }, () => "incremental")]);
  kb.world.script = () => {
    throw new ApiError("source_unauthorized", { message: "401" });
  };
  await kb.sync();
  expect(await kb.lastSync()).toMatchObject({ state: "failed", problem: { code: "auth_required" } });
});

describe("what a source refuses", () => {
  test("with 401 withholds all that the connector has", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a", "b"));
    await kb.work();
    kb.world.script = () => {
      throw new ApiError("source_unauthorized", { message: "401" });
    };
    await kb.sync();
    expect(await kb.readable()).toEqual([]);
  });

  test.for(["source_forbidden", "source_gone"] as const)(
    "for one item (%s) withholds that item alone",
    async (code, { expect }) => {
      const kb = await makeMirror(() => listed("a", "b"));
      await kb.work();
      kb.world.script = function* () {
        yield { t: "seen", externalIds: ["a"] };
        yield refused("b", code);
        yield { t: "end", listing: "partial", permissions: "not_checked" };
      };
      await kb.sync();
      expect(await kb.readable()).toEqual(["a"]);
    },
  );
});

describe("whether mirrored permissions are still true", () => {
  test("is asked in time: 26 hours of good increments leave everything readable", async ({ expect }) => {
    const kb = await makeMirror((run) =>
      run.mode === "full" ? listed("a") : [{ t: "end", listing: "partial", permissions: "not_checked" }],
    );
    await kb.work();
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["a"]);
  });

  test("is known of each item when it is read, not only when the first full run ends", async ({ expect }) => {
    const kb = await makeMirror(function* () {
      yield upsert("a", "text", { access: OPEN });
      yield { t: "checkpoint", cursor: 1 };
      throw new ApiError("source_rate_limited", { message: "429", retryAfterMs: 12 * HOUR_MS });
    });
    await kb.work();
    expect(await kb.readable()).toEqual(["a"]);
  });
});

describe("an access that names someone who is not known here", () => {
  const stranger = "user:mirror:wiki.test:77";
  const naming = (all: string[][]): Script =>
    function* () {
      yield upsert("a", "text", { access: { known: true, all } });
      yield { t: "end", listing: "complete", permissions: "current" };
    };

  test("is still open to the others whom it names", async ({ expect }) => {
    const kb = await makeMirror(naming([[stranger, "workspace"]]));
    await kb.work();
    expect(await kb.readable()).toEqual(["a"]);
  });

  test("is told with the run that met it, which has not failed for that", async ({ expect }) => {
    const kb = await makeMirror(naming([[stranger]]));
    await kb.work();
    expect(await kb.lastSync()).toMatchObject({
      state: "succeeded",
      problem: { code: "names_nobody", message: expect.stringMatching(/1 item.* no one/u) },
    });
    expect(await kb.readable()).toEqual([]);
    kb.world.script = naming([["workspace"]]);
    await kb.sync();
    expect((await kb.lastSync()).problem).toBeNull();
  });

  test("is open to the workspace only where the config says so", async ({ expect }) => {
    const kb = await makeMirror(naming([["workspace"]]), []);
    await kb.work();
    expect(await kb.readable()).toEqual([]);
    expect((await kb.lastSync()).problem).toMatchObject({ code: "names_nobody" });
  });
});

test.for([
  ["per_item", ["open"]],
  // Who reads is a matter of its container's groups, which have clocks of their own.
  ["container", ["closed", "open"]],
] as const)("what an increment could not look at is a day old after a day: %s", async ([acl, after], { expect }) => {
  const inside = (id: string, container: string) =>
    upsert(id, `text of ${id}`, {
      access: OPEN,
      containers: [{ type: "space", id: container, name: container, isHome: true }],
    });
  const current = { t: "end", listing: "complete", permissions: "current" } as const;
  const kb = await makeMirror(() => [inside("open", "a"), inside("closed", "b"), current], ["workspace"], {
    acl,
    freshness: "feed",
  });
  await kb.work();
  const notLookedAt = [{ container: { type: "space", id: "b" } as const }];
  kb.world.script = () => [{ ...current, listing: "partial", notLookedAt }];
  for (let hour = 0; hour < 23; hour++) await kb.pass(HOUR_MS);
  expect(await kb.readable()).toEqual(["closed", "open"]);
  await kb.pass(2 * HOUR_MS);
  expect(await kb.readable()).toEqual(after);
});

test.for([
  ["per_item", ["named"]],
  ["container", ["named", "other"]],
] as const)("of a container that was read in part, the rest alone grows old: %s", async ([acl, after], { expect }) => {
  const inside = (id: string) =>
    upsert(id, `text of ${id}`, {
      access: OPEN,
      containers: [{ type: "space", id: "a", name: "a", isHome: true }],
    });
  const current = { t: "end", listing: "complete", permissions: "current" } as const;
  const kb = await makeMirror(() => [inside("named"), inside("other"), current], ["workspace"], {
    acl,
    freshness: "feed",
  });
  await kb.work();
  const notLookedAt = [{ container: { type: "space", id: "a" }, isRest: true } as const];
  kb.world.script = () => [inside("named"), { ...current, listing: "partial", notLookedAt }];
  for (let hour = 0; hour < 25; hour++) await kb.pass(HOUR_MS);
  expect(await kb.readable()).toEqual(after);
});
