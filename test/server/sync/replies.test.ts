import { test } from "vitest";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { upsert } from "./harness.ts";
import { HOUR_MS, makeMirror, OPEN } from "./mirror.ts";

// What answers something is an item of its own: what becomes of that changes nothing of who reads the answer.

const CURRENT: SyncEvent = { t: "end", listing: "complete", permissions: "current" };
const NOBODY = { known: false } as const;

const reply = (id: string, replyTo: string, access: typeof OPEN | typeof NOBODY = OPEN): SyncEvent =>
  upsert(id, `text of ${id}`, { access, replyTo });
const said = (id: string, access: typeof OPEN | typeof NOBODY = OPEN): SyncEvent =>
  upsert(id, `text of ${id}`, { access });

test("an answer is for its own readers: of what is closed, gone, refused, or never came", async ({ expect }) => {
  const kb = await makeMirror(() => [said("root"), reply("answer", "root"), reply("late", "never"), CURRENT]);
  const open = async (...events: SyncEvent[]) => {
    kb.world.script = () => events;
    await kb.sync();
    return kb.readable();
  };
  await kb.work();
  expect(await kb.readable()).toEqual(["answer", "late", "root"]);
  const rest: SyncEvent[] = [{ t: "seen", externalIds: ["answer", "late"] }, CURRENT];
  expect(await open({ t: "access", externalId: "root", access: NOBODY }, ...rest)).toEqual(["answer", "late"]);
  expect(await open({ t: "refused", what: { externalId: "root" }, code: "source_forbidden" }, ...rest)).toEqual([
    "answer",
    "late",
  ]);
  expect(await open({ t: "delete", externalId: "root" }, ...rest)).toEqual(["answer", "late"]);
  for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
  expect(await kb.readable()).toEqual(["answer", "late"]);
});

test("an answer that is closed opens nothing, whatever it answers, and closes nothing", async ({ expect }) => {
  const kb = await makeMirror(() => [reply("answer", "root", NOBODY), said("root"), reply("next", "answer"), CURRENT]);
  await kb.work();
  expect(await kb.readable()).toEqual(["next", "root"]);
});

test("answers in a circle, to themselves, and forty deep are read as they are", async ({ expect }) => {
  const deep = Array.from({ length: 40 }, (_, at) => `d${String(at).padStart(2, "0")}`);
  const kb = await makeMirror(() => [
    reply("a", "b"),
    reply("b", "c"),
    reply("c", "a"),
    reply("self", "self"),
    ...deep.map((id, at) => reply(id, deep[at - 1] ?? "a")),
    CURRENT,
  ]);
  await kb.work();
  expect(await kb.readable()).toEqual(["a", "b", "c", ...deep, "self"]);
  expect((await kb.search("text")).total).toBe(44);
  kb.world.script = () => [reply("a", "b", NOBODY), { t: "seen", externalIds: ["b", "c", "self", ...deep] }, CURRENT];
  await kb.sync();
  expect(await kb.readable()).toEqual(["b", "c", ...deep, "self"]);
});

test("an answer whose part is closed with it leaves what it answers open", async ({ expect }) => {
  const { access: _none, ...bare } = { ...itemOf("file"), partOf: "answer" };
  const kb = await makeMirror(() => [said("root"), reply("answer", "root"), { t: "upsert", item: bare }, CURRENT]);
  await kb.work();
  expect(await kb.readable()).toEqual(["answer", "file", "root"]);
  kb.world.script = () => [reply("answer", "root", NOBODY), { t: "seen", externalIds: ["root", "file"] }, CURRENT];
  await kb.sync();
  expect(await kb.readable()).toEqual(["root"]);
});

function itemOf(id: string) {
  const event = said(id);
  if (event.t !== "upsert") throw new Error("This is no item.");
  return event.item;
}
