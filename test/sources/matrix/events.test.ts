import { expect, test } from "vitest";
import {
  EventList,
  Events,
  isForMembers,
  mediaOf,
  mentionsOf,
  OneEvent,
  relationOf,
  textOf,
  visibilityOf,
} from "#sources/matrix/events.ts";
import { parseId, userPrincipal } from "#sources/matrix/map.ts";

const event = (content: object, more: object = {}) =>
  OneEvent.parse({
    event_id: "$one",
    type: "m.room.message",
    sender: "@ann:kb.test",
    origin_server_ts: 5,
    content,
    ...more,
  }) ?? expect.unreachable();

test("what is no event is left out of a list", () => {
  const good = { event_id: "$a", type: "m.room.message", sender: "@a:b", origin_server_ts: 1, content: [] };
  const list = [null, 1, {}, { ...good, sender: "nobody" }, { ...good, origin_server_ts: "now" }, good];
  expect(Events.parse(list)).toMatchObject([{ id: "$a", content: {} }]);
});

test("what someone with a name of earlier days says is left out and fails nothing, and what they delete is deleted", () => {
  const by = { sender: "@Zoë 🦊:old.test", origin_server_ts: 1 };
  const list = EventList.parse([
    { ...by, event_id: "$said", type: "m.room.message", content: { body: "Hello." } },
    { ...by, event_id: "$deletes", type: "m.room.redaction", content: { redacts: "$other" } },
  ]);
  expect(list).toMatchObject({ odd: [], nameless: 0, known: [{ isRedacted: true }, { redacts: "$other" }] });
});

test("only the author of a message edits it", () => {
  const edit = (sender: string) => ({
    unsigned: {
      "m.relations": {
        "m.replace": {
          sender,
          origin_server_ts: 9,
          content: { "m.new_content": { msgtype: "m.text", body: "new" } },
        },
      },
    },
  });
  expect(textOf(event({ body: "old" }, edit("@ann:kb.test")))).toBe("new");
  expect(textOf(event({ body: "old" }, edit("@eve:kb.test")))).toBe("old");
});

test("a quote that an old client puts before an answer is no text of it", () => {
  const answer = { "m.relates_to": { "m.in_reply_to": { event_id: "$other" } } };
  expect(textOf(event({ body: "> <@ben:kb.test> What?\n> Really?\n\nYes.", ...answer }))).toBe("Yes.");
  expect(textOf(event({ body: "> a quote of mine\n\nYes." }))).toBe("> a quote of mine\n\nYes.");
  expect(relationOf(event({ body: "Yes.", ...answer }))).toEqual({ answers: "$other" });
});

test("a file has a name and an address; what leads elsewhere is no file", () => {
  const file = { msgtype: "m.file", body: "Read this", filename: "a.txt", url: "mxc://kb.test/AbC_d-1" };
  expect(mediaOf(event({ ...file, info: { size: 7, mimetype: "text/plain" } }))).toEqual({
    name: "a.txt",
    address: "mxc://kb.test/AbC_d-1",
    size: 7,
    mimeType: "text/plain",
  });
  expect(textOf(event(file))).toBe("a.txt\nRead this");
  for (const url of ["https://kb.test/a", "mxc://kb.test/../secret", "mxc://kb.test/a/b", "mxc://kb.test", 7]) {
    expect(mediaOf(event({ ...file, url }))).toBeUndefined();
  }
});

test("a thread, an edit and an answer are told apart, and nonsense is neither", () => {
  const relation = (relates: unknown) => relationOf(event({ "m.relates_to": relates }));
  expect(relation({ rel_type: "m.thread", event_id: "$r", "m.in_reply_to": { event_id: "$x" } })).toEqual({
    thread: "$r",
  });
  expect(relation({ rel_type: "m.replace", event_id: "$r" })).toEqual({ replaces: "$r" });
  for (const nonsense of [undefined, null, 7, { rel_type: "m.thread" }, { rel_type: 7, event_id: [] }]) {
    expect(relation(nonsense)).toEqual({});
  }
});

test("an unknown visibility is that of members, and a closed one is not", () => {
  const isOpen = (value: unknown) => isForMembers(visibilityOf({ history_visibility: value }));
  expect(["shared", "world_readable", "something", undefined].map(isOpen)).toEqual([true, true, true, true]);
  expect(["joined", "invited"].map(isOpen)).toEqual([false, false]);
});

test("people who can't be are no one", () => {
  const named = ["@ben:kb.test", "ben", "@ben", 7, "@b n:kb.test", `@${"x".repeat(300)}:kb.test`, "@\ud800:kb.test"];
  expect(mentionsOf(event({ "m.mentions": { user_ids: named } }))).toEqual(["@ben:kb.test"]);
});

test("a user of another server is of another instance, whatever that is called", () => {
  const connector = { id: "con_aaaaaaaaaaaaaaaa", name: "Chat", instance: "chat.kb.test" };
  const own = userPrincipal({ connector }, "kb.test", "@ann:kb.test");
  expect(own).toBe("user:matrix:chat.kb.test:%40ann%3Akb.test");
  expect(userPrincipal({ connector }, "kb.test", "@ann:chat.kb.test")).not.toContain("matrix:chat.kb.test:");
});

test("ids of events may hold a slash", () => {
  expect(parseId("!room:kb.test/$a/b+c")).toEqual({ room: "!room:kb.test", event: "$a/b+c", isFile: false });
  expect(parseId("!room/$a#file")).toEqual({ room: "!room", event: "$a", isFile: true });
  for (const other of ["!room:kb.test", "../$a", "$a", "!room/a", "!room/$a#other", ""])
    expect(parseId(other)).toBeUndefined();
});
