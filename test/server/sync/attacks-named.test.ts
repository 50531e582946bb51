import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { upsert } from "./harness.ts";
import { HOUR_MS, makeMirror, OPEN } from "./mirror.ts";

// Sequences by which an item that its run had named was believed, although its permissions were not looked at or not taken.

const CURRENT: SyncEvent = { t: "end", listing: "complete", permissions: "current" };
const FEED: SyncEvent = { t: "end", listing: "partial", permissions: "current" };
const NOTHING: SyncEvent = { t: "end", listing: "partial", permissions: "not_checked" };
const SPACE = { type: "folder" as const, id: "a" };
const LISTED: SyncEvent = { t: "listed", container: SPACE };

function inside(id: string, access = OPEN): SyncEvent {
  return upsert(id, `text of ${id}`, { access, containers: [{ ...SPACE, name: "a", isHome: true }] });
}

describe("the end of a slice", () => {
  test("takes back no refusal of its own run", async ({ expect }) => {
    const kb = await makeMirror(() => [inside("x"), inside("y"), CURRENT]);
    await kb.work();
    kb.world.script = () => [
      { t: "seen", externalIds: ["x"] },
      { t: "refused", what: { externalId: "y" }, code: "source_forbidden" },
      LISTED,
      NOTHING,
    ];
    await kb.sync();
    expect(await kb.readable()).toEqual(["x"]);
  });

  test("proves nothing of what failed in it", async ({ expect }) => {
    const kb = await makeMirror(() => [inside("x"), inside("y"), CURRENT]);
    await kb.work();
    kb.world.script = () => [
      { t: "seen", externalIds: ["x"] },
      { t: "skip", externalId: "y", reason: "failed", message: "403", retryable: true },
      LISTED,
      CURRENT,
    ];
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["x"]);
  });
});

describe("an item that a feed names and its run does not take", () => {
  const feed = (...events: SyncEvent[]) => [...events, FEED];
  const nobody = { known: true as const, all: [[]] };

  async function makeFed(access: SourceAccess = OPEN) {
    const first = () => [inside("x"), inside("y", access), CURRENT];
    const kb = await makeMirror(first, ["workspace"], { freshness: "feed" });
    await kb.work();
    return kb;
  }

  const newer = (access: SourceAccess) => upsert("y", "unused", { version: "2", content: { type: "fetch" }, access });

  test("is hidden when it is not found, until it is", async ({ expect }) => {
    const kb = await makeFed();
    kb.world.script = () => feed(newer(OPEN));
    await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["x"]);
    kb.world.fetch = () => ({ bytes: Buffer.from("found"), fileName: "y", version: "2" });
    await kb.pass(10_000);
    expect(await kb.readable()).toEqual(["x", "y"]);
    expect(kb.world.runs.at(-1)).toBe("items");
  });

  for (const [told, before, after] of [
    ["before", nobody, OPEN],
    ["now", OPEN, nobody],
  ] as const) {
    test(`is read by no one who may not ${told}, when its content is newer still`, async ({ expect }) => {
      const kb = await makeFed(before);
      kb.world.fetch = () => ({ bytes: Buffer.from("newer"), fileName: "y", version: "3" });
      kb.world.script = () => feed(newer(after));
      await kb.pass(HOUR_MS);
      expect(await kb.readable()).toEqual(["x"]);
    });
  }

  test("is left with its former text to whom both let in, while the newer one can't be read", async ({ expect }) => {
    const kb = await makeFed(nobody);
    kb.world.fetch = () => ({ bytes: Buffer.from("FAIL"), fileName: "y", version: "2" });
    kb.world.script = () => feed(newer(OPEN));
    await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["x"]);
    // Its access alone says nothing of the former text either.
    kb.world.script = () => feed({ t: "access", externalId: "y", access: OPEN });
    await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["x"]);
    kb.world.fetch = () => ({ bytes: Buffer.from("found"), fileName: "y", version: "3" });
    kb.world.script = () => feed(upsert("y", "", { version: "3", content: { type: "fetch" }, access: OPEN }));
    await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["x", "y"]);
    // Narrowed with a version that can't be read, it is narrowed.
    kb.world.fetch = () => ({ bytes: Buffer.from("FAIL"), fileName: "y", version: "4" });
    kb.world.script = () => feed(upsert("y", "", { version: "4", content: { type: "fetch" }, access: nobody }));
    await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["x"]);
  });

  test("keeps the readers of its former text when it has moved and can't be read", async ({ expect }) => {
    const kb = await makeMirror(() => [
      upsert("hidden", "text", { access: nobody }),
      upsert("open", "text", { access: OPEN }),
      upsert("part", "text", { partOf: "hidden", access: OPEN }),
      CURRENT,
    ]);
    await kb.work();
    kb.world.fetch = () => ({ bytes: Buffer.from("FAIL"), fileName: "part", version: "2" });
    const moved = { partOf: "open", version: "2", content: { type: "fetch" as const }, access: OPEN };
    kb.world.script = () => [{ t: "seen", externalIds: ["hidden", "open"] }, upsert("part", "", moved), CURRENT];
    await kb.sync();
    expect(await kb.readable()).toEqual(["open"]);
  });

  test("is for whom its source says, when only another try to read the same version fails", async ({ expect }) => {
    const kb = await makeFed();
    const same = (access: SourceAccess) => upsert("y", "", { version: "2", content: { type: "fetch" }, access });
    kb.world.fetch = () => ({ bytes: Buffer.from("found"), fileName: "y", version: "2" });
    kb.world.script = () => feed(same(nobody));
    await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["x"]);
    kb.world.fetch = () => {
      throw new ApiError("source_unavailable", { message: "503" });
    };
    kb.world.script = () => feed(same(OPEN));
    await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["x", "y"]);
  });

  test("is not taken with content that tells no version, unless its content never changes", async ({ expect }) => {
    for (const hasLastingContent of [undefined, true] as const) {
      const kb = await makeMirror(() => [newer(OPEN), CURRENT], ["workspace"], {
        ...(hasLastingContent && { hasLastingContent }),
      });
      kb.world.fetch = () => ({ bytes: Buffer.from("of which version"), fileName: "y" });
      await kb.work();
      expect(await kb.search("which")).toMatchObject({ total: hasLastingContent ? 1 : 0 });
      if (!hasLastingContent) {
        const row = await kb.kb.database.read.selectFrom("items").select("textMessage").executeTakeFirst();
        expect(row?.textMessage).toBe("Mirror didn't say which version of the content this is.");
      }
    }
  });

  test("goes in time when it is no item any more", async ({ expect }) => {
    const kb = await makeFed();
    kb.world.script = () =>
      feed({ t: "skip", externalId: "y", reason: "too_large", message: "Too large.", retryable: false });
    await kb.pass(HOUR_MS);
    kb.world.script = () => feed();
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["x"]);
  });
});

test("at another place nothing is believed before it was listed whole there", async ({ expect }) => {
  const kb = await makeMirror(() => [inside("x"), inside("y"), CURRENT], ["workspace"], { freshness: "feed" });
  await kb.work();
  kb.world.origin = "https://two.test";
  kb.world.script = ({ mode }) => {
    if (mode === "full") throw new ApiError("source_unavailable", { message: "503" });
    return [FEED];
  };
  for (let hour = 0; hour < 12; hour++) await kb.pass(HOUR_MS);
  expect(await kb.readable()).toEqual([]);
  expect(new Set(kb.world.runs)).toEqual(new Set(["full"]));
  kb.world.script = () => [inside("x"), CURRENT];
  for (let hour = 0; hour < 12; hour++) await kb.pass(HOUR_MS);
  expect(await kb.readable()).toEqual(["x"]);
});
