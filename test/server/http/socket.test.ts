import { once } from "node:events";
import { connect } from "node:net";
import { onTestFinished, test } from "vitest";
import { answerStarting, listen } from "#server/listen.ts";
import { makeServer, TEST_PASSWORD } from "../../helpers.ts";

async function serve() {
  const kb = await makeServer();
  const listener = await listen(kb.app.fetch, "127.0.0.1", 0, kb.log);
  onTestFinished(async () => void (await listener.close(0)));
  return { kb, url: `http://127.0.0.1:${listener.port}` };
}

test("over a real socket: sign in, make a token, use it, sign out", async ({ expect }) => {
  const { kb, url } = await serve();
  const ana = await kb.addOwner();
  const headers = { "content-type": "application/json" };
  const signedIn = await fetch(`${url}/api/session`, {
    method: "POST",
    headers,
    body: JSON.stringify({ email: ana.email, password: TEST_PASSWORD }),
  });
  expect(signedIn.status).toBe(200);
  const cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const made = await fetch(`${url}/api/api-tokens`, {
    method: "POST",
    headers: { ...headers, cookie },
    body: '{"name":"x","scopes":["kb:api"]}',
  });
  // The answer of the contract's `create`.
  const { plaintext } = (await made.json()) as { plaintext: string };
  const used = await fetch(`${url}/api/workspace`, { headers: { authorization: `Bearer ${plaintext}` } });
  expect(await used.json()).toMatchObject({ workspace: { id: ana.workspaceId } });
  expect(used.headers.get("x-request-id")).toMatch(/^req_/);
  const head = await fetch(`${url}/api/workspace`, { method: "HEAD", headers: { cookie } });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect((await fetch(`${url}/api/session`, { method: "DELETE", headers: { cookie } })).status).toBe(204);
  expect((await fetch(`${url}/api/session`, { headers: { cookie } })).status).toBe(401);
});

test("over a real socket: a body that grows past the limit is cut off", async ({ expect }) => {
  const { kb, url } = await serve();
  const ana = await kb.addOwner();
  const chunk = new Uint8Array(1024 * 1024).fill(32);
  let sent = 0;
  const stream = new ReadableStream({
    pull(controller) {
      sent++;
      if (sent > 40) controller.close();
      else controller.enqueue(chunk);
    },
  });
  const answer = await fetch(`${url}/api/groups`, {
    method: "POST",
    headers: { cookie: `kb_session=${ana.sessionSecret}`, "content-type": "application/json" },
    body: stream,
    duplex: "half",
  } as RequestInit).then(
    (response) => response.status,
    () => "cut",
  );
  // The client may see the answer, or the connection going away under its feet; what counts is that it stops.
  expect([413, "cut"]).toContain(answer);
  expect(sent).toBeLessThan(40);
});

test("over a real socket: the rest of a body that no one reads is not waited for, of a GET either", async ({
  expect,
}) => {
  const { url } = await serve();
  const { hostname, port } = new URL(url);
  for (const method of ["GET", "POST"]) {
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (part: Buffer) => (answer += part.toString("utf8")));
    // Half of a body, and then nothing.
    socket.write(`${method} /nothing-here HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 1000\r\n\r\nabc`);
    await once(socket, "close");
    expect(answer).toMatch(/^HTTP\/1.1 404/);
  }
});

test("over a real socket: what is too long to be read, or no HTTP, gets a problem with its request id", async ({
  expect,
}) => {
  const { kb, url } = await serve();
  const cases = [
    [`GET /api/sso/authorize?returnTo=${"a".repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, "headers_too_large"],
    [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(17_000)}\r\n\r\n`, 431, "headers_too_large"],
    ["no such thing\r\n\r\n", 400, "invalid_request"],
  ] as const;
  for (const [sent, status, code] of cases) {
    const answer = await sendRaw(Number(new URL(url).port), sent);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/^content-type: application\/problem\+json$/im);
    const problem: unknown = JSON.parse(body);
    expect(problem).toMatchObject({ status, code, requestId: expect.stringMatching(/^req_[2-9a-z]{16}$/) });
    const requestId = /^x-request-id: (.+)$/im.exec(head)?.[1];
    expect(problem).toMatchObject({ requestId });
    expect(kb.log.lines.filter(({ fields }) => fields["requestId"] === requestId)).toHaveLength(1);
  }
});

test("over a real socket: a server that is starting says so in a problem, and when to come again", async ({
  expect,
}) => {
  const kb = await makeServer();
  const listener = await listen(answerStarting, "127.0.0.1", 0, kb.log);
  onTestFinished(async () => void (await listener.close(0)));
  const answer = await fetch(`http://127.0.0.1:${listener.port}/api/session`);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  const requestId = answer.headers.get("x-request-id");
  expect(await answer.json()).toMatchObject({ status: 503, code: "unavailable", requestId });
});

/** Sends bytes and gives all that comes back until the server closes. */
function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.on("data", (chunk) => (answer += String(chunk)));
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}
