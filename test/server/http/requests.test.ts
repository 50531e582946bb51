import { PassThrough } from "node:stream";
import { describe, test } from "vitest";
import { answerBroken } from "#server/http/broken-request.ts";
import { makeServer, makeTestLog } from "../../helpers.ts";

describe("a request that is not valid", () => {
  test("is told by the field that is at fault, or as a whole", async ({ expect }) => {
    const kb = await makeServer();
    const me = kb.as(await kb.addOwner());
    const field = (await me.post("/api/groups", { name: 5 })).json;
    expect([field.field, field.detail.startsWith('"name": ')]).toEqual(["name", true]);
    const whole = (await me.post("/api/groups", [])).json;
    expect([whole.field, whole.detail.startsWith("The request: ")]).toEqual([undefined, true]);
  });

  test("is a problem in words where it is no HTTP at all", async ({ expect }) => {
    const socket = new PassThrough();
    answerBroken(Object.assign(new Error("Parse Error"), { code: "HPE_INVALID_METHOD" }), socket, makeTestLog());
    const text = String(socket.read());
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(text).toContain("This is not a well-formed HTTP request.");
  });
});

describe("a cursor that means none", () => {
  test("is absent, and other parameters stay as they were given", async ({ expect }) => {
    const kb = await makeServer();
    const me = kb.as(await kb.addOwner());
    for (const none of ["", "null"]) expect((await me.get(`/api/groups?cursor=${none}`)).status).toBe(200);
    expect((await me.get("/api/groups?cursor=elsewhere")).status).toBe(400);
    expect((await me.get("/api/groups?limit=")).status).not.toBe(200);
  });
});

test("who a token that no one knows belongs to is no one, also for a message that can't be read", async ({
  expect,
}) => {
  const kb = await makeServer();
  const raw = "[".repeat(10_000);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const { status } = await kb.withToken("x".repeat(43)).request("POST", "/mcp", { raw, headers });
  expect([400, 401]).toContain(status);
});
