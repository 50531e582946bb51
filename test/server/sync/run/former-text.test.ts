import { describe, expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { Source } from "#sources/contract.ts";
import type { FileContent, SourceItem } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import type { Extractor } from "#extract/extractor.ts";
import { end, fakeExtractor, item, listing, makeHarness, upsert } from "../harness.ts";
import { HOUR_MS, makeMirror, OPEN } from "../mirror.ts";

const DAY_MS = 24 * HOUR_MS;

type Mirror = Awaited<ReturnType<typeof makeMirror>>;

const fetched = (text: string): FileContent => ({ bytes: Buffer.from(text), fileName: "notes.txt" });

/** An item whose bytes are fetched, in this version. */
const file = (version: string, access: SourceAccess = OPEN, content: SourceItem["content"] = { type: "fetch" }) =>
  ({ t: "upsert", item: item("notes", "", { version, access, content }) }) satisfies SyncEvent;

/** Every way in which a source, or the reading, says that a content can't be read now. */
const WAYS: Record<string, { event: SyncEvent; fetch?: () => FileContent; message: string; acl?: "connector" }> = {
  "is listed as too large": {
    event: file("2", OPEN, { type: "none", reason: "too_large" }),
    message: "The file is larger than the connector's limit.",
  },
  "has no end when it is read": {
    event: file("2"),
    fetch: () => {
      throw new ApiError("payload_too_large", { message: "The response from one.test is larger than 50 bytes." });
    },
    message: "The response from one.test is larger than 50 bytes.",
  },
  "comes without end": {
    event: file("2"),
    fetch: () => ({
      fileName: "notes.txt",
      // oxlint-disable-next-line require-yield -- it ends as the guarded body of a source does
      stream: (async function* () {
        throw new ApiError("payload_too_large", { message: "It has no end." });
      })(),
    }),
    message: "It has no end.",
  },
  "unpacks to too much": { event: file("2"), fetch: () => fetched("BOMB"), message: "It unpacks to too much." },
  "can't be read in its new version": { event: file("2"), fetch: () => fetched("FAIL"), message: "Broken." },
  "may be read another time": { event: file("2"), fetch: () => fetched("LATER"), message: "Broken." },
  "is left out as too large": {
    event: { t: "skip", externalId: "notes", reason: "too_large", message: "Too large a page.", retryable: false },
    message: "Too large a page.",
    // Where permissions are mirrored, what a source doesn't list is soon nobody's.
    acl: "connector",
  },
};

/** A mirror that has read `notes`, with words of them. */
async function readOnce(acl: Source["spec"]["acl"] = "container") {
  const mirror = await makeMirror(() => [file("1"), end()], ["workspace"], { hasLastingContent: true, acl });
  mirror.world.fetch = () => fetched("lighthouse keepers");
  await mirror.sync();
  const { kb, owner } = mirror;
  const api = kb.as(owner);
  const hits = async (): Promise<Json[]> => (await api.get("/api/connectors/search?query=lighthouse")).json.results;
  const kbId: string = (await hits())[0].kbId;
  return {
    ...mirror,
    kbId,
    hits,
    file: async (): Promise<Json> => (await api.get(`/api/connectors/files/${kbId}`)).json.file,
    /** The stored text, once no session is left that could ask. */
    text: async () => (await kb.database.read.selectFrom("item_texts").select("text").execute())[0]?.text,
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers as they come, each looked at by its test
type Json = any;

function breaks(mirror: Mirror, way: string): string {
  const { event, fetch, message } = WAYS[way] ?? { event: end(), message: "" };
  mirror.world.script = () => [event, end()];
  if (fetch) mirror.world.fetch = fetch;
  return message;
}

const iso = (ms: number) => new Date(ms).toISOString();

describe.for(Object.keys(WAYS))("what %s", (way) => {
  test("keeps its text for seven days, says how old it is, and then why it has none", async () => {
    const mirror = await readOnce(WAYS[way]?.acl);
    expect((await mirror.file()).textState).toMatchObject({ state: "ok", asOf: null });
    mirror.kb.clock.advance(DAY_MS);
    const message = breaks(mirror, way);
    await mirror.sync();
    const asOf = iso(mirror.kb.clock.now());
    for (let day = 0; day < 7; day++) {
      expect(await mirror.hits()).toMatchObject([{ kbId: mirror.kbId, textAsOf: asOf }]);
      expect(await mirror.file()).toMatchObject({
        indexState: "failed",
        textState: { state: "ok", reason: "failed", message, asOf },
      });
      await mirror.sync();
      await mirror.pass(day === 6 ? DAY_MS - 60_000 : DAY_MS);
    }
    await mirror.pass(2 * HOUR_MS);
    expect(await mirror.hits()).toEqual([]);
    const ended = await mirror.file();
    expect(ended.textState).toMatchObject({ state: "none", chars: 0, asOf: null });
    expect(ended.textState.message).toContain(message);
    await mirror.sync();
    expect((await mirror.file()).textState).toMatchObject({ state: "none", message, asOf: null });
    expect(await mirror.hits()).toEqual([]);
  });

  test("has its text again as soon as it can be read", async () => {
    const mirror = await readOnce(WAYS[way]?.acl);
    breaks(mirror, way);
    await mirror.sync();
    mirror.world.script = () => [file("3"), end()];
    mirror.world.fetch = () => fetched("lighthouse keepers");
    await mirror.sync();
    expect(await mirror.hits()).toMatchObject([{ textAsOf: null }]);
    expect((await mirror.file()).textState).toMatchObject({ state: "ok", reason: null, message: null, asOf: null });
    await mirror.pass(8 * DAY_MS);
    expect(await mirror.text()).toBe("lighthouse keepers");
  });
});

test("a text of before is only for those whom its source shows today's content", async () => {
  const mirror = await readOnce();
  breaks(mirror, "comes without end");
  await mirror.sync();
  expect(await mirror.hits()).toHaveLength(1);
  const nobody: SourceAccess = { known: true, all: [["user:mirror:nobody"]] };
  mirror.world.script = () => [file("2", nobody), end()];
  await mirror.sync();
  expect(await mirror.readable()).toEqual([]);
  expect(await mirror.hits()).toEqual([]);
});

test("a text of before stays closed to those to whom only today's content is open", async () => {
  const mirror = await readOnce();
  const nobody: SourceAccess = { known: true, all: [["user:mirror:nobody"]] };
  mirror.world.script = () => [file("2", nobody), end()];
  await mirror.sync();
  expect(await mirror.readable()).toEqual([]);
  mirror.world.script = () => [file("3", OPEN, { type: "none", reason: "too_large" }), end()];
  await mirror.sync();
  expect(await mirror.readable()).toEqual([]);
  expect(await mirror.hits()).toEqual([]);
});

test("nothing of a new item that is too large is searchable, and another try finds what it can", async () => {
  const mirror = await makeMirror(() => [file("1"), end()], ["workspace"], { hasLastingContent: true });
  mirror.world.fetch = () => fetched("BOMB");
  await mirror.sync();
  const [stored] = await mirror.kb.database.read.selectFrom("items").select(["indexState", "textReason"]).execute();
  expect(stored).toEqual({ indexState: "unsearchable", textReason: "too_large" });
});

test("a server that was off meanwhile ends the text when it is back", async () => {
  const mirror = await readOnce();
  breaks(mirror, "is listed as too large");
  await mirror.sync();
  await mirror.pass(8 * DAY_MS);
  expect(await mirror.text()).toBeUndefined();
});

test.each([9e18, -9e18])(
  "a text that is the former one since a time that can't be is over: %d",
  async (formerSince) => {
    const mirror = await readOnce();
    await mirror.kb.database.write.updateTable("items").set({ formerSince }).execute();
    breaks(mirror, "is listed as too large");
    await mirror.sync();
    await mirror.pass(2 * DAY_MS);
    expect(await mirror.text()).toBeUndefined();
  },
);

test("a text of this very version is no text of before: only kb fails at it", async () => {
  const mirror = await readOnce();
  mirror.world.script = () => [file("1"), end()];
  mirror.world.fetch = () => fetched("FAIL");
  await mirror.sync();
  expect(await mirror.hits()).toMatchObject([{ textAsOf: null }]);
  await mirror.pass(8 * DAY_MS);
  expect(await mirror.text()).toBe("lighthouse keepers");
});

test("what a source can't show for a while stays as it was, whatever its age", async () => {
  const mirror = await readOnce();
  mirror.world.script = () => [
    { t: "skip", externalId: "notes", reason: "failed", message: "The server is busy.", retryable: true },
    upsert("other", "other"),
    end(),
  ];
  await mirror.sync();
  const rows = await mirror.kb.database.read.selectFrom("items").select(["externalId", "formerSince"]).execute();
  expect(rows).toContainEqual({ externalId: "notes", formerSince: null });
});

test("files inside a file are as old as it is, and go with its text", async () => {
  const inside = { id: "minutes.txt", fileName: "minutes.txt", bytes: Buffer.from("harbour minutes") };
  const extractor: Pick<Extractor, "extract"> = {
    async extract(request, signal) {
      const read = await fakeExtractor.extract(request, signal);
      return read.state === "ok" && request.fileName === "notes.zip" ? { ...read, children: [inside] } : read;
    },
  };
  let content: SourceItem["content"] = { type: "fetch" };
  const listed = () => [item("notes", "", { version: content.type, content })];
  const kb = await makeHarness(listing(listed), { extractor });
  kb.source.fetchContent = async () => ({ bytes: Buffer.from("a bundle"), fileName: "notes.zip" });
  const stored = () =>
    kb.database.read
      .selectFrom("items")
      .select(["title", "textChars", "formerSince"])
      .where("removedAt", "is", null)
      .orderBy("externalId")
      .execute();
  await kb.sync();
  content = { type: "none", reason: "too_large" };
  await kb.sync();
  const former = { formerSince: kb.clock.now };
  expect(await stored()).toEqual([
    { title: "notes", textChars: 8, ...former },
    { title: "minutes.txt", textChars: 15, ...former },
  ]);
  content = { type: "fetch" };
  await kb.sync();
  expect((await stored()).map(({ formerSince }) => formerSince)).toEqual([null, null]);
  content = { type: "none", reason: "too_large" };
  await kb.sync();
  kb.clock.now += 7 * DAY_MS;
  await kb.worker.runUntilIdle();
  expect(await stored()).toEqual([{ title: "notes", textChars: 0, formerSince: null }]);
});
