import { expect, test } from "vitest";
import {
  type ChatMessage,
  type ChatThread,
  spanOf,
  toFileItem,
  toThreadItem,
  versionOfFile,
} from "#sources/chat/thread.ts";
import { toRoomsPage } from "#sources/chat/rooms.ts";

const said = (text: string, at: number, more: Partial<ChatMessage> = {}): ChatMessage => ({
  author: { name: "Ann", principal: "user:matrix:kb.test:ann", claimed: false },
  at,
  text,
  ...more,
});
const thread = (root: ChatMessage | undefined, replies: ChatMessage[] = []): ChatThread => ({
  externalId: "r/1",
  room: { id: "r", name: "General" },
  place: "#general",
  root,
  replies,
  url: "https://chat.kb.test/r/1",
  readers: "group:con_aaaaaaaaaaaaaaaa:room%3Ar",
});

test("a title is the first line that says something, never half a character", () => {
  const titleOf = (text: string) => toThreadItem(thread(said(text, 1)))?.title;
  expect(titleOf("\n  \n Hello \t there\nmore")).toBe("Hello there");
  expect(titleOf(" \n\u0007")).toBe("Message in #general");
  expect(/\p{Cs}/u.test(titleOf("🗂️".repeat(90)) ?? "\ud800")).toBe(false);
  expect([...(titleOf("x".repeat(500)) ?? "")]).toHaveLength(100);
});

test("a thread says who wrote what, and when it was last written in", () => {
  const bob = { name: "Bob", claimed: false };
  const item = toThreadItem(
    thread(said("One", 10), [said("Two", 20, { author: bob, editedAt: 90 }), said("Three", 30)]),
  );
  expect(item).toMatchObject({
    content: { text: "Ann: One\n\nBob: Two\n\nAnn: Three" },
    createdAt: 10,
    updatedAt: 90,
    people: [bob],
  });
  expect(spanOf(item?.version)).toEqual({ from: 10, to: 90 });
  expect(spanOf(toThreadItem(thread(said("One", 10)))?.version)).toBeUndefined();
  expect(spanOf("something.else")).toBeUndefined();
});

test("without its root a thread is its replies; without them it is nothing", () => {
  expect(toThreadItem(thread(undefined, [said("Two", 20)]))).toMatchObject({ title: "Two", content: { text: "Two" } });
  expect(toThreadItem(thread(undefined))).toBeUndefined();
});

test("a file's version tells its content and what is said of it apart", () => {
  const file = { externalId: "r/1#file", thread: "r/1", room: { id: "r", name: "General" }, place: "#general" };
  const more = {
    name: "a.txt",
    author: said("", 1).author,
    at: 1,
    url: "https://kb.test/1",
    content: { type: "fetch" as const },
  };
  const listed = toFileItem({ ...file, ...more, contentKey: "A" }).version;
  expect(versionOfFile(listed, "A")).toBe(listed);
  expect(versionOfFile(listed, "B")).not.toBe(listed);
  expect(toFileItem({ ...file, ...more, name: "b.txt", contentKey: "A" }).version).not.toBe(listed);
});

test("rooms come page by page, by name, each once", () => {
  const rooms = Array.from({ length: 450 }, (_, at) => ({ id: `r${at}`, name: `Room ${at % 7}`, kind: "room" }));
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = toRoomsPage(rooms, { parent: null, ...(cursor !== undefined && { cursor }) });
    found.push(...page.nodes.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  expect(new Set(found).size).toBe(450);
  expect(found).toHaveLength(450);
  expect(toRoomsPage(rooms, { parent: null, query: "room 3" }).nodes.every(({ title }) => title === "Room 3")).toBe(
    true,
  );
  expect(toRoomsPage(rooms, { parent: "r1" }).nodes).toEqual([]);
});
