import { expect, test } from "vitest";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { failedSkip } from "#sources/failures.ts";
import { storedCursorSchema } from "#server/sync/run/stored-cursor.ts";
import type { OpenRequest, WalkRequest } from "#sources/session.ts";
import { cursorsOf, END, EVERYONE, itemOf, open, type Place, told, type Walk } from "../one-walk.ts";

const nobody = (): never => {
  throw new Error("Nothing is opened here.");
};

const nothing: Walk = async function* () {
  yield { t: "page", entries: [] };
  return END;
};

test("what is as it was is only named, other readers are told, and what changed is built or read", async () => {
  const asked: string[][] = [];
  const { run, closed } = open(
    async function* () {
      const build = () => itemOf("new");
      const page = [
        { externalId: "same", version: "1" },
        { externalId: "opened", version: "1", access: { known: true, all: [["everyone"]] } as SourceAccess },
        {
          externalId: "moved",
          version: "1",
          access: { known: true, all: [["everyone"]] } as SourceAccess,
          build: () => itemOf("moved"),
        },
        { externalId: "kept", version: "1", access: EVERYONE },
        { externalId: "new", version: "1", build },
        { externalId: "changed", version: "2" },
      ];
      yield { t: "page", entries: page };
      return END;
    },
    {
      stored: { same: "1", opened: "1", moved: "1", kept: "1", changed: "1" },
      async *read(ids) {
        asked.push([...ids]);
        for (const id of ids) yield { t: "upsert", item: itemOf(id) };
      },
    },
  );
  expect(told(await run())).toEqual([
    { t: "access", externalId: "opened", access: { known: true, all: [["everyone"]] } },
    { t: "upsert", item: itemOf("moved") },
    { t: "upsert", item: itemOf("new") },
    { t: "upsert", item: itemOf("changed") },
    { t: "seen", externalIds: ["same", "kept"] },
    { t: "end", listing: "complete", permissions: "current" },
  ]);
  expect(asked).toEqual([["changed"]]);
  expect(closed()).toBe(1);
});

test("an id that was asked for and not answered is no id that is gone", async () => {
  const walk: Walk = async function* () {
    yield { t: "page", entries: [{ externalId: "silent", version: "2" }] };
    return END;
  };
  const { run } = open(walk, { stored: { silent: "1" }, async *read() {} });
  const silence = expect.objectContaining({ t: "skip", externalId: "silent", reason: "failed" });
  expect(await run()).toContainEqual(silence);
  expect(told(await run({ mode: "items", externalIds: ["silent"] }))).toEqual([
    silence,
    { t: "end", listing: "partial", permissions: "not_checked" },
  ]);
});

test("in a run for single items what is no item goes, and what failed or is too large stays", async () => {
  const skip = { t: "skip", message: "", retryable: false } as const;
  const { run } = open(nothing, {
    async *read() {
      yield { ...skip, externalId: "out", reason: "excluded_by_scope" };
      yield { ...skip, externalId: "large", reason: "too_large" };
      yield failedSkip("odd", "No.");
    },
  });
  const events = await run({ mode: "items", externalIds: ["out", "large", "odd"] });
  expect(events.filter(({ t }) => t === "delete")).toEqual([{ t: "delete", externalId: "out" }]);
});

test("an id that was asked for and is another now is answered by the item that it became", async () => {
  const item = { ...itemOf("new"), formerId: "old" };
  const { run } = open(nothing, {
    async *read() {
      yield { t: "upsert", item };
    },
  });
  expect((await run({ mode: "items", externalIds: ["old"] }))[0]).toEqual({ t: "upsert", item });
  expect(told(await run({ mode: "items", externalIds: ["old"] }))).toHaveLength(2);
});

const failing: Walk = async function* ({ resume }) {
  const container = { type: "folder", id: "broken" } as const;
  if (!resume)
    yield { t: "page", entries: [{ t: "failed", what: { container }, message: "No." }], checkpoint: { at: 1 } };
  return END;
};

test.each(["full", "incremental"] as const)(
  "a container that failed stays after a kill, whatever the mode (%s)",
  async (mode) => {
    const { run } = open(failing, {});
    const first = await run({ mode, cursor: { feed: "before" } });
    const notLookedAt = [{ container: { type: "folder", id: "broken" } }];
    expect(first.at(-1)).toMatchObject({ listing: "complete", notLookedAt });
    const resumed = await run({ mode, cursor: JSON.parse(JSON.stringify(cursorsOf(first)[0])) });
    expect(resumed.at(-1)).toMatchObject({ listing: "complete", notLookedAt });
    // Another run has looked again.
    expect((await run({ mode, runId: "two", cursor: cursorsOf(first)[0] })).at(-1)).toMatchObject({ notLookedAt });
  },
);

test("more containers than can be noted prove nothing of the others", async () => {
  const { run } = open(async function* () {
    for (let at = 0; at < 1_000; at++)
      yield { t: "failed", what: { container: { type: "folder", id: `${at}` } }, message: "No." };
    return END;
  }, {});
  expect((await run()).at(-1)).toMatchObject({ listing: "partial", permissions: "not_checked" });
});

test("what failed was not looked at, whether all was named or not", async () => {
  const container = { type: "folder", id: "broken" } as const;
  const { run } = open(async function* () {
    yield { t: "failed", what: { container }, message: "No." };
    return { ...END, complete: false, why: "Half." };
  }, {});
  for (const mode of ["full", "access", "incremental"] as const)
    expect((await run({ mode })).at(-1)).toMatchObject({ listing: "partial", notLookedAt: [{ container }] });
  const increment = await run({ mode: "incremental", cursor: { feed: "before" } });
  expect(increment.at(-1)).toMatchObject({ notLookedAt: [{ container }] });
});

test("a checkpoint goes to another attempt of its run alone, as it was when it was given, and the feed to all", async () => {
  const requests: WalkRequest<string, Place>[] = [];
  const place = { at: 1 };
  const { run } = open(async function* (request) {
    requests.push(request);
    yield { t: "page", entries: [], checkpoint: place };
    place.at = 2;
    yield { t: "page", entries: [] };
    return { ...END, complete: false };
  }, {});
  const [first] = cursorsOf(await run({ cursor: { feed: "before" } }));
  await run({ cursor: first });
  await run({ cursor: first, runId: "two", mode: "incremental" });
  await run({
    cursor: { feed: 5, walk: { runId: "one", checkpoint: "odd", done: 0, failed: [] } },
    mode: "incremental",
  });
  expect(requests.map(({ since, resume }) => ({ since, resume }))).toEqual([
    { since: undefined, resume: undefined },
    { since: undefined, resume: { at: 1 } },
    { since: "before", resume: undefined },
    { since: undefined, resume: undefined },
  ]);
  expect(cursorsOf(await run()).at(-1)).toEqual({ feed: "later" });
});

test("what a run before left is told to every run, and a cursor of before there were sessions counts", async () => {
  const opened: OpenRequest<string, Place>[] = [];
  const { run } = open(nothing, { opened });
  const walk = { runId: "one", checkpoint: { at: 1 }, done: 0, failed: [] };
  await run({ cursor: { feed: "before", walk }, runId: "two" });
  await run({ cursor: { walk }, mode: "items" });
  await run({ cursor: { feed: "before" } });
  expect(opened.map(({ feed, left }) => ({ feed, left }))).toEqual([
    { feed: "before", left: { at: 1 } },
    { feed: undefined, left: { at: 1 } },
    { feed: "before", left: undefined },
  ]);
  const read = storedCursorSchema({
    cursor: z.object({ base: z.string() }),
    checkpoint: z.null(),
    open: () => nobody(),
  });
  expect(read({ base: "a", walk: { position: 5 } })).toEqual({ feed: { base: "a" } });
  expect(read({ walk })).toEqual({});
});

test("a place that a later run has to know is stored before what comes after it", async () => {
  const { run } = open(
    async function* () {
      yield { t: "page", entries: [], checkpoint: { at: 1 } };
      yield { t: "page", entries: [], checkpoint: { at: 2 }, isDue: true };
      return END;
    },
    { batching: { everyMs: 2_000 } },
  );
  const places = cursorsOf(await run()).map((cursor) => Object(cursor).walk?.checkpoint.at);
  expect(places).toEqual([2, undefined]);
});

test("a page that is told while its run is stopped ends there", async () => {
  const { run, abort } = open(async function* () {
    const build = () => (abort.abort(), itemOf("a"));
    yield {
      t: "page",
      entries: [
        { externalId: "a", build },
        { externalId: "b", build },
      ],
    };
    throw new Error("Nothing is asked after the end.");
  }, {});
  expect(told(await run())).toEqual([{ t: "upsert", item: itemOf("a") }]);
});

test("a place that a run began at is given again only once something was stored", async () => {
  const build = () => itemOf("new");
  const { run } = open(
    async function* () {
      yield { t: "page", entries: [{ externalId: "same", version: "1" }], checkpoint: { at: 1 } };
      yield { t: "page", entries: [{ externalId: "same", version: "1" }], checkpoint: { at: 1 } };
      yield { t: "page", entries: [{ externalId: "new", version: "1", build }], checkpoint: { at: 1 } };
      yield { t: "page", entries: [], checkpoint: { at: 2 } };
      return END;
    },
    { stored: { same: "1" } },
  );
  const placesOf = (events: readonly SyncEvent[]) =>
    events.flatMap((event) => {
      if (event.t === "upsert") return [event.item.externalId];
      return event.t === "checkpoint" ? [Object(event.cursor).walk?.checkpoint.at] : [];
    });
  const first = await run();
  expect(placesOf(first)).toEqual([1, "new", 1, 2, undefined]);
  expect(placesOf(await run({ cursor: cursorsOf(first)[0] }))).toEqual(["new", 1, 2, undefined]);
});

test("what reading a page fails with is the failure of the place in the walk that gave it", async () => {
  const error = new ApiError("source_unavailable", { message: "No." });
  const caught: unknown[] = [];
  const reading = {
    stored: {},
    read: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }),
  } as never;
  const { run } = open(async function* () {
    try {
      yield { t: "page", entries: [{ externalId: "a", version: "1" }], checkpoint: { at: 1 } };
    } catch (thrown) {
      caught.push(thrown);
      yield { t: "failed", what: { container: { type: "folder", id: "broken" } }, message: "No." };
    }
    return END;
  }, reading);
  const events = await run();
  expect(caught).toEqual([error]);
  // What was not read is not covered by a place after it.
  expect(cursorsOf(events)).toEqual([{ feed: "later" }]);
  expect(events.at(-1)).toMatchObject({ notLookedAt: [{ container: { id: "broken" } }] });
  const uncaught = open(async function* () {
    yield { t: "page", entries: [{ externalId: "a", version: "1" }] };
    return END;
  }, reading);
  await expect(uncaught.run()).rejects.toBe(error);
  expect(uncaught.closed()).toBe(1);
});

test("a page whose contents take long can be gone on with after each entry", async () => {
  const { run } = open(async function* () {
    const entries = ["a", "b"].map((id) => ({ externalId: id, version: "1", build: () => itemOf(id) }));
    yield { t: "page", entries, checkpoint: { at: 9 }, within: (count) => ({ at: count }), listings: 1 };
    return END;
  }, {});
  const places = cursorsOf(await run()).map((cursor) => Object(cursor).walk?.checkpoint.at);
  expect(places).toEqual([1, 2, 9, undefined]);
});

test("a run may end at a bound only where its source tells what it lists", async () => {
  const listingsOf = async (listed: { listings?: number }) => {
    const { run } = open(async function* () {
      yield { t: "page", entries: [], checkpoint: { at: 1 }, ...listed };
      return END;
    }, {});
    return (await run()).flatMap((event) => (event.t === "checkpoint" ? [event.listings] : []));
  };
  expect(await listingsOf({})).toEqual([undefined, undefined]);
  expect(await listingsOf({ listings: 2 })).toEqual([2, 0]);
});

test("a run that is stopped says no end, and its session is closed", async () => {
  const { run, abort, closed } = open(async function* () {
    yield { t: "page", entries: [] };
    abort.abort();
    return END;
  }, {});
  expect(told(await run())).toEqual([]);
  expect(closed()).toBe(1);
});

test("before a container is said to be listed or gone, what was named in it is told", async () => {
  const container = { type: "folder", id: "a" } as const;
  const { run } = open(
    async function* () {
      yield { t: "page", entries: [{ externalId: "same", version: "1" }] };
      yield { t: "listed", container };
      return END;
    },
    { stored: { same: "1" } },
  );
  expect(told(await run()).map(({ t }) => t)).toEqual(["seen", "listed", "end"]);
});
