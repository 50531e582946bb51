import { describe, test } from "vitest";
import type { Sync } from "#api/connector-records.ts";
import { ApiError } from "#api/errors.ts";
import { makeProgressStream } from "#server/connectors/progress-stream.ts";
import { FOLDER, makeConnectorServer } from "./server.ts";

const ACTOR = { userId: "usr_1" } as never;

/** A stream over what `states` says, a look at a time; every pause is `pause`. */
function setUp(states: readonly string[], { pause = 1_000, isReady = (): boolean => true } = {}) {
  let now = 0;
  let looks = 0;
  const lines: unknown[] = [];
  const stream = makeProgressStream(
    {
      clock: { now: () => now },
      sleep: async () => void (now += pause),
      log: { error: (fields: unknown) => lines.push(fields) } as never,
    },
    isReady,
  );
  const list = async () => {
    const state = states[Math.min(looks++, states.length - 1)];
    if (state === "broken") throw new Error("the store is gone");
    return { syncs: [{ state } as Sync] };
  };
  const open = (reauthenticate: () => Promise<never> = async () => ACTOR) =>
    stream({ actor: ACTOR, reauthenticate, signal: new AbortController().signal }, list);
  return { open, lines, looks: () => looks };
}

const statesIn = (text: string) => [...text.matchAll(/"state":"(\w+)"/g)].map(([, state]) => state);

describe("GET /api/connectors/progress as events", () => {
  test("tells what runs at once, then each change, with the headers of a stream", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const made = await kb.as(kb.owner).post("/api/connectors", { ...FOLDER, access: { visibility: "private" } });
    expect(made.status).toBe(201);
    const left = new AbortController();
    const response = await kb.app.request("http://127.0.0.1:7700/api/connectors/progress", {
      headers: { cookie: `${kb.deps.cookie.name}=${kb.owner.sessionSecret}`, accept: "text/event-stream" },
      signal: left.signal,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    const chunks = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await chunks?.read())?.value).toBe("retry: 2000\n\n");
    expect((await chunks?.read())?.value).toContain('"queued"');
    left.abort();
    expect((await chunks?.read())?.done).toBe(true);
  });

  test("says nothing twice, and ends after its time", async ({ expect }) => {
    const { open, looks } = setUp(["queued", "queued", "running", "running", "succeeded"]);
    const text = await open().text();
    expect(statesIn(text)).toEqual(["queued", "running", "succeeded"]);
    expect(text.startsWith("retry: 2000\n\n")).toBe(true);
    expect(text).toContain(": nothing changed\n\n");
    expect(looks()).toBe(15 * 60);
  });

  test("ends when the credential ends, and when the server stops", async ({ expect }) => {
    const revoked = setUp(["running", "succeeded"]);
    const end = async () => {
      throw new ApiError("unauthenticated", { message: "This token is unknown, expired or revoked." });
    };
    const text = await revoked.open(end).text();
    expect(statesIn(text)).toEqual(["running"]);
    expect(text).not.toContain("unknown");
    expect(revoked.lines).toEqual([]);
    let looks = 0;
    const stopping = setUp(["queued", "running", "succeeded"], { isReady: () => (looks += 1) < 3 });
    expect(statesIn(await stopping.open().text())).toEqual(["queued", "running"]);
  });

  test("a failure ends it, is logged, and shows nothing of itself", async ({ expect }) => {
    const { open, lines } = setUp(["running", "broken"]);
    const text = await open().text();
    expect(statesIn(text)).toEqual(["running"]);
    expect(text).not.toContain("store");
    expect(lines).toHaveLength(1);
  });

  test("one person opens 20 at once, and another one when they close one", async ({ expect }) => {
    const { open } = setUp(["running"]);
    await open().body?.cancel();
    const readers = Array.from({ length: 20 }, () => open().body?.getReader());
    for (const reader of readers) await reader?.read();
    expect(() => open()).toThrow("20 progress streams");
    for (const reader of readers) await reader?.cancel();
    expect(statesIn(await open().text())).toEqual(["running"]);
  });
});
