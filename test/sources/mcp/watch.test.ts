import type { ServerResponse } from "node:http";
import { expect, test, vi } from "vitest";
import type { SourceContext } from "#sources/context.ts";
import { McpConfig } from "#sources/mcp/config.ts";
import { makeMcpSource } from "#sources/mcp/index.ts";
import { type Answers, INITIALIZED, makeTestOpener, startRaw } from "../../mcp-client/servers.ts";

/** A watch on a server with 50 resources that treats subscriptions as told; `closed` counts the sessions that kb has ended. */
async function watchServer(
  onSubscribe: (response: ServerResponse) => unknown,
  now: () => number,
  unasked?: (response: ServerResponse) => void,
) {
  let [subscribed, closed] = [0, 0];
  const ends: unknown[] = [];
  const answers: Answers = {
    initialize: () => INITIALIZED("2025-06-18", { resources: { subscribe: true, listChanged: true } }),
    "resources/list": () => ({ resources: Array.from({ length: 50 }, (_, n) => ({ uri: `a:///${n}`, name: `${n}` })) }),
    "resources/subscribe": ({ response }) => (subscribed++, onSubscribe(response)),
  };
  const url = await startRaw(answers, unasked);
  const openMcp = makeTestOpener([url]);
  const ctx = {
    config: McpConfig.parse({}),
    now,
    signal: new AbortController().signal,
    mcp: {
      isWaiting: false,
      open: async ({ signal, isListening }: { signal: AbortSignal; isListening?: boolean }) => {
        const session = await openMcp({ url, headers: async () => ({}) }, signal, isListening);
        return { ...session, close: () => (closed++, session.close()) };
      },
    },
  };
  // What a watch doesn't ask for is not in it.
  const watch = makeMcpSource().watch?.(
    ctx as unknown as SourceContext<McpConfig>,
    { include: [], exclude: [] },
    {
      notify: () => undefined,
      ended: (error) => void ends.push(error),
    },
  );
  return { watch, ends, count: () => ({ subscribed, closed }) };
}

test("a server that refuses subscriptions keeps no session open", async () => {
  const { watch, count } = await watchServer((response) => void response.writeHead(403).end(), Date.now);
  await expect(watch).rejects.toMatchObject({ code: "source_unauthorized", details: { step: "subscribe" } });
  expect(count()).toEqual({ subscribed: 1, closed: 1 });
});

test("a server that is slow to take subscriptions is asked for a minute", async () => {
  let now = 0;
  const { watch, count } = await watchServer(
    () => ((now += 25_000), {}),
    () => now,
  );
  await (await watch)?.stop();
  expect(count()).toEqual({ subscribed: 3, closed: 1 });
});

/** A stream that has begun, and breaks off when it is told to. */
function breakable() {
  let response: ServerResponse | undefined;
  return {
    begin(begun: ServerResponse) {
      response = begun;
      begun.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    },
    breakOff: () => response?.destroy(),
  };
}

test("a stream of notices that breaks off ends the watch with its session, and says why", async () => {
  const { begin, breakOff } = breakable();
  const { watch, ends, count } = await watchServer(() => ({}), Date.now, begin);
  await watch;
  expect(ends).toEqual([]);
  breakOff();
  await vi.waitFor(() => expect(ends).toMatchObject([{ code: "source_unavailable", details: { step: "listen" } }]));
  expect(count().closed).toBe(1);
});

test("a stream of notices that breaks off while kb subscribes is why there is no watch", async () => {
  const { begin, breakOff } = breakable();
  const { watch, ends } = await watchServer(() => (breakOff(), undefined), Date.now, begin);
  await expect(watch).rejects.toMatchObject({ details: { step: "listen" } });
  expect(ends).toEqual([]);
});
