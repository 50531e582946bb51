import { describe, expect, test } from "vitest";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { makeSlackFixture, makeWorld } from "./fixture.ts";
import type { Asked } from "./front.ts";

test("a page of a channel that is empty and not the last one is no end: the channel stays as it is", async () => {
  const world = await makeWorld();
  const fixture = await makeSlackFixture(world);
  const replica = makeReplica();
  await runInto(fixture, replica);
  const before = [...replica.items.keys()].sort();
  expect(before.length).toBeGreaterThan(5);
  world.front.instead = ({ name }, response) => {
    if (name !== "conversations.history") return false;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: true, messages: [], has_more: true }));
    return true;
  };
  const { events } = await runInto(fixture, replica);
  expect(events.filter(({ t }) => t === "skip").length).toBeGreaterThan(0);
  expect([...replica.items.keys()].sort()).toEqual(before);
});

test("a channel that could not be read is read whole by the next run, not its last days alone", async () => {
  const world = await makeWorld();
  const fixture = await makeSlackFixture(world);
  const replica = makeReplica();
  /** Days ago from which on each page was asked for. */
  const from: number[] = [];
  const run = async (isBroken: boolean) => {
    from.length = 0;
    world.front.instead = ({ name, values }, response) => {
      if (name !== "conversations.history" || values.get("channel") !== world.channels.engineering) return false;
      from.push(Math.round((Date.now() / 1_000 - Number(values.get("oldest"))) / 86_400));
      if (isBroken) response.writeHead(500).end();
      return isBroken;
    };
    return runInto(fixture, replica, { mode: "incremental" });
  };
  await run(false);
  const [whole] = from;
  expect(whole).toBeGreaterThan(300);
  await run(false);
  expect(new Set(from)).toEqual(new Set([7]));
  const { events } = await run(true);
  expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: world.channels.engineering }));
  await run(false);
  expect(new Set(from)).toEqual(new Set([whole]));
});

/** A workspace that was read, and a second run while `change` answers in place of what Slack does. */
async function runAgain(mode: "full" | "incremental", change: (name: string, answer: Answer) => void) {
  const world = await makeWorld();
  const fixture = await makeSlackFixture(world);
  const replica = makeReplica();
  await runInto(fixture, replica);
  const before = [...replica.items.keys()].sort();
  const answers = new Map<string, Answer>();
  const ask = async ({ name, values }: Asked) => {
    const given = await world.call("kb", name, { ...Object.fromEntries(values), asked: "1" });
    const answer: Answer = JSON.parse(JSON.stringify(given));
    change(name, answer);
    answers.set(name, answer);
    return answer;
  };
  world.front.instead = (asked, response) => {
    if (asked.values.has("asked") || !LISTINGS.has(asked.name)) return false;
    response.writeHead(200, { "content-type": "application/json" });
    void ask(asked).then((answer) => response.end(JSON.stringify(answer)));
    return true;
  };
  const ended = await runInto(fixture, replica, { mode }).catch((error: unknown) => error);
  return { before, after: [...replica.items.keys()].sort(), ended, asked: [...answers.keys()] };
}

interface Answer {
  channels?: unknown[];
  messages?: unknown;
  has_more?: unknown;
  response_metadata?: unknown;
}

const LISTINGS = new Set(["conversations.list", "conversations.history", "conversations.replies"]);

describe("nothing is removed because of what Slack's answer doesn't say", () => {
  /** A first page, and what it says of the next. */
  const withCursor = (cursor: unknown) => (answer: Answer) => {
    answer.response_metadata = { next_cursor: cursor };
    answer.channels?.splice(1);
    if (Array.isArray(answer.messages)) answer.messages.splice(1);
  };
  const CASES: [string, string, (answer: Answer) => void][] = [
    ["a cursor that comes again", "conversations.list", withCursor("same")],
    ["a cursor that comes again", "conversations.replies", withCursor("same")],
    ["a cursor of another type", "conversations.list", withCursor(5)],
    ["a cursor of another type", "conversations.replies", withCursor({})],
    ["no word of more", "conversations.history", (answer) => delete answer.has_more],
    ["a word of more of another type", "conversations.history", (answer) => (answer.has_more = "true")],
    ["a list that is none", "conversations.history", (answer) => (answer.messages = {})],
    ["a message of another form", "conversations.history", (answer) => (answer.messages = [{ ts: 5 }])],
    ["a reply of another form", "conversations.replies", (answer) => (answer.messages = ["gone"])],
    [
      "a channel of another form",
      "conversations.list",
      (answer) => (answer.channels = [{ id: "c-1" }, ...(answer.channels ?? []).slice(1)]),
    ],
    ["a channel of another form", "conversations.list", (answer) => (answer.channels = [null])],
    [
      "an error that isn't known",
      "conversations.history",
      (answer) => Object.assign(answer, { ok: false, error: "odd" }),
    ],
  ];
  for (const mode of ["full", "incremental"] as const)
    test.for(CASES)(`${mode}: %s, of %s`, async ([, method, change]) => {
      const { before, after, asked } = await runAgain(mode, (name, answer) => {
        if (name === method) change(answer);
      });
      expect(asked).toContain(method);
      expect(before.length).toBeGreaterThan(5);
      expect(after).toEqual(before);
    });

  test("and a channel that can't be understood keeps no other from coming", async () => {
    const world = await makeWorld();
    const fixture = await makeSlackFixture(world);
    const replica = makeReplica();
    world.front.instead = ({ name, values }, response) => {
      if (name !== "conversations.history" || values.get("channel") !== world.channels.engineering) return false;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ok: false, error: "something_new" }));
      return true;
    };
    const { events } = await runInto(fixture, replica);
    expect(events).toContainEqual(
      expect.objectContaining({ t: "skip", externalId: world.channels.engineering, reason: "failed" }),
    );
    const rooms = new Set([...replica.items.keys()].map((id) => id.split("/")[0]));
    expect(rooms).toContain(world.channels.lobby);
    expect(rooms).not.toContain(world.channels.engineering);
  });
});

test("a thread whose replies can't be read stays as it was, and the others of its channel come", async () => {
  const world = await makeWorld();
  const fixture = await makeSlackFixture(world);
  const replica = makeReplica();
  await runInto(fixture, replica);
  const before = new Map(replica.items);
  let failed = 0;
  world.front.instead = ({ name }, response) => {
    if (name !== "conversations.replies") return false;
    failed++;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: false, error: "internal_error" }));
    return true;
  };
  const { events } = await runInto(fixture, replica);
  expect(failed).toBeGreaterThan(0);
  const skips = events.filter((event) => event.t === "skip");
  expect(skips).toEqual(
    skips.map(() => expect.objectContaining({ reason: "failed", externalId: expect.stringContaining("/") })),
  );
  expect(skips.length).toBe(failed);
  expect([...replica.items.keys()].sort()).toEqual([...before.keys()].sort());
});

test("a channel that can't be read to its beginning has what is new in it, also while it waits", async () => {
  const world = await makeWorld();
  const given = await makeSlackFixture(world);
  let late = 0;
  const fixture = { ...given, context: { ...given.context, now: () => Date.now() + late } };
  const replica = makeReplica();
  const { engineering } = world.channels;
  let asked = 0;
  world.front.instead = ({ name, values }, response) => {
    const isOld = Date.now() / 1_000 - Number(values.get("oldest")) > 8 * 86_400;
    if (name !== "conversations.history" || values.get("channel") !== engineering || !isOld) return false;
    asked += 1;
    response.writeHead(500).end();
    return true;
  };
  await runInto(fixture, replica);
  for (let at = 0; at < 4; at++) await runInto(fixture, replica, { mode: "incremental" });
  const tries = asked;
  const added = await fixture.add();
  const { events } = await runInto(fixture, replica, { mode: "incremental" });
  expect(asked).toBe(tries);
  expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: engineering, reason: "failed" }));
  expect(replica.items.has(added)).toBe(true);
  expect(added).toContain(engineering);
  late = 4 * 3_600_000;
  await runInto(fixture, replica, { mode: "incremental" });
  expect(asked).toBeGreaterThan(tries);
});
