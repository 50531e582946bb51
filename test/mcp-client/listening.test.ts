import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  type Answers,
  bodyOf,
  INITIALIZED,
  open,
  type OpenOptions,
  parse,
  problemFrom,
  send,
  startHttp,
  startRaw,
} from "./servers.ts";

const LISTENING = INITIALIZED("2025-06-18", { resources: { subscribe: true, listChanged: true } });
const NOTICE = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/list_changed" })}\n\n`;
const SOON = { timeout: 5_000, interval: 5 };

interface Talk {
  /** Says something unasked: on the stream that the client listens to, each time that it opens one. */
  unasked?: (response: ServerResponse) => void;
  /** What comes before each answer but the first. */
  before?: string;
}

/** A session that listens to a server; `heard` counts notices, and `ends` has why it stopped hearing any. */
async function listenTo({ unasked, before = "" }: Talk, options: OpenOptions = {}) {
  let opened = 0;
  const answers: Answers = {
    initialize: () => LISTENING,
    "resources/list": ({ id, response }) => {
      const answer = { jsonrpc: "2.0", id, result: { resources: [] } };
      stream(response).end(`${before}data: ${JSON.stringify(answer)}\n\n`);
    },
  };
  const url = await startRaw(answers, (response) => {
    opened++;
    if (unasked) unasked(response);
    else response.writeHead(405).end();
  });
  const session = await open(url, { isListening: true, ...options });
  const ends: string[] = [];
  let heard = 0;
  session.onListChanged(() => heard++);
  session.onEnded(({ step, code }) => ends.push(`${step}: ${code}`));
  return { session, ends, heard: () => heard, opened: () => opened };
}

/** Begins the stream, and gives what writes to it. */
function stream(response: ServerResponse): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  return response;
}

/** The most notices that came in one turn of the event loop, until `end`. */
async function mostAtOnce(heard: () => number, end: () => boolean): Promise<number> {
  let [most, before] = [0, heard()];
  while (!end()) {
    await turn();
    most = Math.max(most, heard() - before);
    before = heard();
  }
  return most;
}

test("notices before an answer come at the session's pace, and leave the thread to others", async () => {
  const caps = { pace: { perSecond: 2_000, burst: 20 } };
  const { session, heard } = await listenTo({ before: NOTICE.repeat(400) }, { caps });
  let isAnswered = false;
  const asked = session.listResources().finally(() => (isAnswered = true));
  const most = await mostAtOnce(heard, () => isAnswered);
  expect(await asked).toEqual({ items: [], leftOut: 0 });
  expect(heard()).toBe(400);
  expect(most).toBeLessThan(100);
});

test("an answer with thousands of notices before it is refused", async () => {
  const { session, heard } = await listenTo({ before: NOTICE.repeat(3_000) });
  expect(await problemFrom(session.listResources())).toBe("resources: too_many");
  expect(heard()).toBeLessThan(1_000);
});

test("a stream that never stops flooding is read no faster than its pace, and is closed", async () => {
  let poured = 0;
  const pour = (response: ServerResponse) => {
    const next = () => {
      while (!response.destroyed) {
        poured += 1_000;
        if (!response.write(NOTICE.repeat(1_000))) return void response.once("drain", next);
      }
    };
    stream(response);
    next();
  };
  const caps = { pace: { perSecond: 500, burst: 20 }, floodMs: 100 };
  const { heard, ends, opened } = await listenTo({ unasked: pour }, { caps });
  const most = await mostAtOnce(heard, () => ends.length > 0);
  expect(ends).toEqual(["listen: too_many"]);
  expect(most).toBeLessThan(100);
  expect(heard()).toBeLessThan(1_000);
  expect(poured).toBeGreaterThan(1_000);
  expect(opened()).toBe(1);
});

test("a stream of anything but events is read at the pace, too", async () => {
  const pour = (response: ServerResponse) => {
    const next = () => {
      while (!response.destroyed) if (!response.write("\n".repeat(64_000))) return void response.once("drain", next);
    };
    stream(response);
    next();
  };
  const { ends } = await listenTo({ unasked: pour }, { caps: { pace: { perSecond: 1_000, burst: 20 }, floodMs: 100 } });
  await vi.waitFor(() => expect(ends).toEqual(["listen: too_many"]), SOON);
});

test("a stream goes on for more events and bytes than an answer may have", async () => {
  const caps = { events: 5, otherBytes: 1_000 };
  const { heard, ends } = await listenTo(
    { unasked: (response) => stream(response).write(NOTICE.repeat(50)) },
    { caps },
  );
  await vi.waitFor(() => expect(heard()).toBe(50), SOON);
  expect(ends).toEqual([]);
});

test("a stream that its server ends again and again is resumed for as long as the session lasts", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const ids: unknown[] = [];
  const unasked = (response: ServerResponse) => {
    ids.push(response.req.headers["last-event-id"]);
    stream(response).end(`id: ${ids.length}\n${NOTICE.repeat(3)}`);
  };
  const { heard, ends } = await listenTo({ unasked }, { caps: { otherBytes: 200 } });
  // What waits is the next stream, and nothing that a leap of the clock would end.
  for (let n = 1; n <= 30; n++) {
    for (let turns = 0; turns < 5_000 && (heard() < 3 * n || vi.getTimerCount() === 0); turns++) await turn();
    await vi.advanceTimersByTimeAsync(60_000);
  }
  expect(heard()).toBeGreaterThanOrEqual(90);
  expect(ids.slice(0, 3)).toEqual([undefined, "1", "2"]);
  expect(ends).toEqual([]);
});

test.for<[string, (response: ServerResponse) => unknown, string]>([
  ["breaks off", (response) => stream(response).write(NOTICE, () => response.destroy()), "listen: unreachable"],
  ["is refused", (response) => response.writeHead(500).end(), "listen: server_error"],
  ["has an event that is too large", (response) => stream(response).write("x".repeat(300_000)), "listen: too_large"],
])("a stream that %s has ended, and that is told", async ([, unasked, told]) => {
  const { ends } = await listenTo({ unasked });
  await vi.waitFor(() => expect(ends).toEqual([told]), SOON);
});

test("questions on a stream are answered for as long as it lasts, and what comes of an answer is bounded", async () => {
  const replies: unknown[] = [];
  const piece = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "ping" }).replace("{", '{"id":"p",')}\n\n`;
  const url = await startHttp((request, response) => {
    void bodyOf(request).then((body) => {
      if (request.method === "GET") return stream(response).write(piece.repeat(40));
      const { id, method } = parse(body);
      if (method === "initialize") return send(response, { jsonrpc: "2.0", id, result: LISTENING });
      if (method === "server/discover") return response.writeHead(404).end();
      if (id === "p" && replies.push(id) === 40) return response.writeHead(202).end("x".repeat(300_000));
      return response.writeHead(202).end();
    });
  });
  const session = await open(url, { isListening: true, caps: { pace: { perSecond: 10_000, burst: 500 } } });
  const ends: string[] = [];
  session.onEnded(({ step, code }) => ends.push(`${step}: ${code}`));
  await vi.waitFor(() => expect(replies).toHaveLength(40), SOON);
  await vi.waitFor(() => expect(ends).toEqual(["listen: too_large"]), SOON);
});

test("a server without a stream, and the end of the session, are no end of the stream", async () => {
  const without = await listenTo({});
  await vi.waitFor(() => expect(without.opened()).toBe(1), SOON);
  const open = await listenTo({ unasked: (response) => stream(response).write(NOTICE) });
  await vi.waitFor(() => expect(open.heard()).toBe(1), SOON);
  await open.session.close();
  await turn();
  expect([without.ends, open.ends]).toEqual([[], []]);
});

test("the stream of the newest revision is told to have ended, and one that another takes the place of is not", async () => {
  const streams: ServerResponse[] = [];
  const capabilities = { resources: { subscribe: true } };
  const found = {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    serverInfo: { name: "new", version: "1" },
  };
  const url = await startRaw({
    "server/discover": () => ({ ...found, capabilities, ttlMs: 0, cacheScope: "private" }),
    "subscriptions/listen": ({ id, response }) => {
      streams.push(response);
      const params = { notifications: {}, _meta: { "io.modelcontextprotocol/subscriptionId": id } };
      const first = { jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params };
      stream(response).write(`data: ${JSON.stringify(first)}\n\n`);
    },
  });
  const session = await open(url, { isListening: true });
  const ends: string[] = [];
  session.onEnded(({ code }) => ends.push(code));
  await session.subscribe("a:///1");
  await session.subscribe("a:///2");
  await vi.waitFor(() => expect(streams[0]?.destroyed).toBe(true), SOON);
  expect(ends).toEqual([]);
  streams[1]?.destroy();
  await vi.waitFor(() => expect(ends).toEqual(["unreachable"]), SOON);
});
