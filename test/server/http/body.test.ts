import { afterEach, beforeEach, describe, test, vi } from "vitest";
import { BODY_PACE, readInPace } from "#server/http/body.ts";
import { makePushServer } from "../connectors/push-harness.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A body that brings `bytes` every `everyMs` up to `count` times, and then nothing, for ever. */
function dripping(bytes: number, everyMs: number, count = Infinity): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    async pull(controller) {
      if (sent++ >= count) return new Promise(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
      controller.enqueue(new Uint8Array(bytes).fill(32));
    },
  });
}

async function readAll(body: ReadableStream<Uint8Array>): Promise<number | string> {
  let bytes = 0;
  try {
    for await (const chunk of readInPace(body)) bytes += chunk.byteLength;
    return bytes;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe("a body", () => {
  test("that stalls is given up after 20 seconds, whatever came before", async ({ expect }) => {
    for (const body of [dripping(1, 1, 0), dripping(5_000_000, 1, 3)]) {
      const read = readAll(body);
      await vi.advanceTimersByTimeAsync(BODY_PACE.windowMs + 10);
      expect(await read).toBe("request_timeout");
    }
  });

  test("that drips is given up after 20 seconds", async ({ expect }) => {
    const read = readAll(dripping(400, 1_000));
    await vi.advanceTimersByTimeAsync(BODY_PACE.windowMs + 1_000);
    expect(await read).toBe("request_timeout");
  });

  test("that makes progress may take an hour", async ({ expect }) => {
    const slow = dripping(6_000, 10_000, 360).pipeThrough(ending(360 * 6_000));
    const read = readAll(slow);
    await vi.advanceTimersByTimeAsync(3_700_000);
    expect(await read).toBe(360 * 6_000);
  });

  test("that is read slowly is not the sender's fault", async ({ expect }) => {
    const chunks: number[] = [];
    const read = (async () => {
      for await (const chunk of readInPace(dripping(100, 10, 5).pipeThrough(ending(500)))) {
        chunks.push(chunk.byteLength);
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      }
    })();
    await vi.advanceTimersByTimeAsync(400_000);
    await read;
    expect(chunks).toHaveLength(5);
  });
});

/** Ends a body after so many bytes. */
function ending(total: number): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      if ((seen += chunk.byteLength) >= total) controller.terminate();
    },
  });
}

test("a body that stalls is answered with 408 on every kind of route", async ({ expect }) => {
  const kb = await makePushServer();
  const { id, owner } = kb;
  const { key } = await kb.rotate(0);
  const json = { "content-type": "application/json" };
  const bearer = (secret: string) => ({ ...json, authorization: `Bearer ${secret}` });
  const post = async (path: string, headers: Record<string, string>) => {
    const sent = { method: "POST", headers, body: dripping(100, 1_000), duplex: "half" } as RequestInit;
    return await kb.app.fetch(new Request(`http://127.0.0.1${path}`, sent));
  };
  const answers = Promise.all([
    post("/api/groups", { ...json, cookie: `kb_session=${owner.sessionSecret}` }),
    post("/api/session", json),
    post("/oauth/register", json),
    post("/mcp", bearer(await kb.token(owner))),
    post(`/api/connectors/${id}/documents`, { ...bearer(key), "content-type": "multipart/form-data; boundary=x" }),
  ]);
  // A push of lines answers while it reads: what it did not get is its last line.
  const pushed = post(`/api/connectors/${id}/items`, { ...bearer(key), "content-type": "application/x-ndjson" });
  for (let n = 0; n < 30; n++) await vi.advanceTimersByTimeAsync(1_000);
  for (const answer of await answers) {
    expect([answer.status, answer.headers.get("connection")]).toEqual([408, "close"]);
    // A problem, an OAuth error or a JSON-RPC error.
    expect(await answer.text()).toContain("The body arrives too slowly");
  }
  expect(await (await pushed).text()).toContain("request_timeout");
});
