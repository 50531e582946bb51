import { describe, test } from "vitest";
import { PROMPT_BODY_MS, readFor } from "#server/http/body.ts";
import { makeServer, type TestServer } from "../../helpers.ts";

/** A request that is authenticated and keeps its body back, for longer than a prompt one takes. */
async function hold(kb: TestServer, path: string, headers: Record<string, string>, content: unknown) {
  const { promise: released, resolve: release } = withResolve();
  const { promise: reading, resolve: isRead } = withResolve();
  const body = new ReadableStream<Uint8Array>(
    {
      // Called by the first reader, which is after authentication.
      async pull(controller) {
        isRead();
        await released;
        controller.enqueue(new TextEncoder().encode(JSON.stringify(content)));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const type = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const request = { method: "POST", headers: { ...type, ...headers }, body, duplex: "half" } as const;
  const answer = kb.app.request(`http://127.0.0.1:7700${path}`, request);
  await reading;
  return async () => {
    kb.clock.advance(PROMPT_BODY_MS + 1);
    release();
    return (await answer).status;
  };
}

function withResolve() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

describe("a request that keeps its body back until its credential is over", () => {
  test("makes no token, no session and no invitation", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const { json } = await kb.as(ana).post("/api/workspaces", { name: "Other" });
    const headers = { cookie: `kb_session=${ana.sessionSecret}` };
    const held = [
      await hold(kb, "/api/api-tokens", headers, { name: "x", scopes: ["kb:admin"] }),
      await hold(kb, "/api/session/workspace", headers, { workspaceId: json.workspace.id }),
      await hold(kb, "/api/workspace/invitations", headers, { email: "mole@acme.test", role: "admin" }),
    ];
    expect((await kb.as(ana).delete("/api/session")).status).toBe(204);
    expect(await Promise.all(held.map((finish) => finish()))).toEqual([401, 401, 401]);
  });

  test("acts with the role that its person has at the end", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const eve = await kb.addMember(ana.workspaceId, "admin");
    const headers = { cookie: `kb_session=${eve.sessionSecret}` };
    const finish = await hold(kb, "/api/workspace/invitations", headers, { email: "mole@acme.test", role: "member" });
    await kb.as(ana).patch(`/api/workspace/members/${eve.userId}`, { role: "member" });
    expect(await finish()).toBe(403);
  });

  test("reads nothing over /mcp", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const { json } = await kb.as(ana).post("/api/api-tokens", { name: "x", scopes: ["mcp:read"] });
    const ping = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const finish = await hold(kb, "/mcp", { authorization: `Bearer ${json.plaintext}` }, ping);
    await kb.as(ana).delete(`/api/api-tokens/${json.token.id}`);
    expect(await finish()).toBe(401);
  });
});

describe("a caller who is let in is looked up again after the body", () => {
  test.for([
    [0, 0],
    [PROMPT_BODY_MS, 0],
    [PROMPT_BODY_MS + 1, 1],
    // The clock was set back: nobody knows how long it took.
    [-1, 1],
  ] as const)("that took %i ms %i times", async ([tookMs, times], { expect }) => {
    let now = 5_000;
    let lookUps = 0;
    const read = async () => {
      now += tookMs;
      return "body";
    };
    const authenticate = async () => `again ${++lookUps}`;
    const { caller, body } = await readFor("at once", { now: () => now }, { read, authenticate });
    expect([caller, body, lookUps]).toEqual([times === 0 ? "at once" : "again 1", "body", times]);
  });
});
