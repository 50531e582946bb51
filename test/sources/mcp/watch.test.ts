import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { SourceContext } from "#sources/contract.ts";
import { McpConfig } from "#sources/mcp/config.ts";
import { makeMcpSource } from "#sources/mcp/index.ts";
import { INITIALIZED, makeTestOpener, startRaw } from "../../mcp-client/servers.ts";

/** A watch on a server with 50 resources that treats subscriptions as told; `closed` counts the sessions that kb has ended. */
async function watchServer(onSubscribe: (response: ServerResponse) => unknown, now: () => number) {
  let [subscribed, closed] = [0, 0];
  const url = await startRaw({
    initialize: () => INITIALIZED("2025-06-18", { resources: { subscribe: true, listChanged: true } }),
    "resources/list": () => ({ resources: Array.from({ length: 50 }, (_, n) => ({ uri: `a:///${n}`, name: `${n}` })) }),
    "resources/subscribe": ({ response }) => (subscribed++, onSubscribe(response)),
  });
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
      ended: () => undefined,
    },
  );
  return { watch, count: () => ({ subscribed, closed }) };
}

test("a server that refuses subscriptions keeps no session open", async () => {
  const { watch, count } = await watchServer((response) => void response.writeHead(403).end(), Date.now);
  await expect(watch).rejects.toThrow();
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
