import { PassThrough } from "node:stream";
import { describe, onTestFinished, test } from "vitest";
import { runBridge, type BridgeOptions } from "#bridge/main.ts";
import type { FindLogin } from "#bridge/session.ts";
import { ApiError } from "#api/errors.ts";
import { TOOLS } from "#api/tools.ts";
import { VERSION } from "#api/version.ts";
import { events, result, startUpstream, status, type Answer, type Upstream } from "./upstream.ts";

interface Message {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

interface Host {
  send(message: unknown): void;
  write(text: string): void;
  /** The next line on stdout. */
  next(): Promise<Message>;
  /** Everything that was ever on stdout, as text. */
  all(): string;
  end(): Promise<number>;
  logs: string[];
}

function startBridge(findLogin: FindLogin, times: Pick<BridgeOptions, "lastAnswersMs" | "listMs"> = {}): Host {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const abort = new AbortController();
  const logs: string[] = [];
  const waiting: ((message: Message) => void)[] = [];
  const arrived: Message[] = [];
  let text = "";
  let read = 0;
  stdout.on("data", (part: Buffer) => {
    text += part.toString("utf8");
    for (let at = text.indexOf("\n", read); at !== -1; at = text.indexOf("\n", read)) {
      // Throws in the test when stdout carries anything but JSON lines.
      const message = JSON.parse(text.slice(read, at)) as Message;
      read = at + 1;
      const resolve = waiting.shift();
      if (resolve === undefined) arrived.push(message);
      else resolve(message);
    }
  });
  const ended = runBridge({
    stdin,
    stdout,
    findLogin,
    log: (level, message) => logs.push(`${level} ${message}`),
    signal: abort.signal,
    ...times,
  });
  onTestFinished(() => abort.abort());
  return {
    logs,
    write: (raw) => void stdin.write(raw),
    send: (message) => void stdin.write(`${JSON.stringify(message)}\n`),
    next: () => {
      const message = arrived.shift();
      return message === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(message);
    },
    all: () => text,
    end: () => {
      stdin.end();
      return ended;
    },
  };
}

function loginTo(upstream: Pick<Upstream, "url">, token = "kb_pat_test"): FindLogin {
  return async () => ({ mcpUrl: `${upstream.url}/mcp`, token, storedFor: upstream.url, from: "the stored login" });
}

async function bridgeTo(answer: Answer): Promise<{ host: Host; upstream: Upstream }> {
  const upstream = await startUpstream(answer);
  return { host: startBridge(loginTo(upstream)), upstream };
}

/** The words of a call that failed, as the model reads them. */
function said({ result: failed }: Message): unknown {
  const [block] = (failed?.["isError"] === true ? failed["content"] : []) as { text: string }[];
  return block?.text;
}

const call = (id: unknown, name = "kb_search", more: Record<string, unknown> = {}): unknown => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: { query: "x" }, ...more },
});

test("initialize, ping and server/discover are answered without the server", async ({ expect }) => {
  const host = startBridge(() => Promise.reject(new Error("the login is not read before it is needed")));
  host.send({ jsonrpc: "2.0", id: "a", method: "initialize", params: { protocolVersion: "2025-06-18" } });
  expect(await host.next()).toMatchObject({
    id: "a",
    result: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "kb" },
    },
  });
  host.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  host.send({ jsonrpc: "2.0", id: 2, method: "ping" });
  expect(await host.next()).toEqual({ jsonrpc: "2.0", id: 2, result: {} });
  host.send({ jsonrpc: "2.0", id: "p", method: "prompts/list" });
  expect(await host.next()).toEqual({ jsonrpc: "2.0", id: "p", result: { prompts: [] } });
  host.send({ jsonrpc: "2.0", id: 3, method: "server/discover", params: meta("2026-07-28") });
  expect(await host.next()).toMatchObject({
    id: 3,
    result: { supportedVersions: ["2026-07-28"], resultType: "complete" },
  });
  host.send({ jsonrpc: "2.0", id: 4, method: "server/discover", params: meta("2031-01-01") });
  expect(await host.next()).toMatchObject({ id: 4, error: { code: -32022, data: { supported: ["2026-07-28"] } } });
});

function meta(version: string): Record<string, unknown> {
  return { _meta: { "io.modelcontextprotocol/protocolVersion": version } };
}

test.for([
  ["2024-11-05", "2024-11-05", undefined],
  ["2025-03-26", "2025-03-26", undefined],
  ["2025-06-18", "2025-06-18", "2025-06-18"],
  ["2025-11-25", "2025-11-25", "2025-11-25"],
  ["2099-01-01", "2025-11-25", "2025-11-25"],
] as const)("a host that asks for %s gets %s and forwards the header %s", async ([asked, got, header], { expect }) => {
  const { host, upstream } = await bridgeTo(result({ tools: [] }));
  host.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: asked } });
  expect((await host.next()).result).toMatchObject({ protocolVersion: got });
  host.send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  await host.next();
  expect(upstream.seen[0]?.headers["mcp-protocol-version"]).toBe(header);
});

test("a request goes upstream as it came, with the token, and its answer comes back under its id", async ({
  expect,
}) => {
  const { host, upstream } = await bridgeTo(result({ content: [{ type: "text", text: "zwölf" }] }));
  const line = '{"jsonrpc": "2.0",  "id": "x-1", "method": "tools/call", "params": {"name": "kb_search"}}';
  host.write(`${line}\n`);
  expect(await host.next()).toEqual({
    jsonrpc: "2.0",
    id: "x-1",
    result: { content: [{ type: "text", text: "zwölf" }] },
  });
  expect(upstream.seen[0]?.body).toBe(line);
  expect(upstream.seen[0]?.headers).toMatchObject({
    authorization: "Bearer kb_pat_test",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });
});

test("what a host adds to arguments, or writes as text, is the server's to read", async ({ expect }) => {
  const { host, upstream } = await bridgeTo(result({ content: [] }));
  const written = { name: "kb_search", arguments: '{"query":"x","toolCallId":"call_1"}' };
  host.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: written });
  await host.next();
  expect(JSON.parse(upstream.seen[0]?.body ?? "")).toMatchObject({ params: written });
});

test("a request of 2026-07-28 carries its standard headers", async ({ expect }) => {
  const { host, upstream } = await bridgeTo(result({ resultType: "complete" }));
  host.send(call(1, "kb_süche", meta("2026-07-28")));
  await host.next();
  expect(upstream.seen[0]?.headers).toMatchObject({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": `=?base64?${Buffer.from("kb_süche").toString("base64")}?=`,
  });
});

test("an error found before the id was read gets the id of its request", async ({ expect }) => {
  const { host } = await bridgeTo((_seen, response) => {
    response.writeHead(413, { "content-type": "application/json" });
    response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too large"}}');
  });
  host.send(call(7));
  expect(await host.next()).toMatchObject({ id: 7, error: { code: -32600, message: "too large" } });
});

test("twenty calls run side by side and each id is answered once", async ({ expect }) => {
  const held: (() => void)[] = [];
  const { host } = await bridgeTo((seen, response) => {
    held.push(() => void result({ n: seen.id })(seen, response));
    // Nothing is answered until all are there: a bridge that waits for one before the next would hang here.
    if (held.length === 20) for (const release of held.toReversed()) release();
  });
  for (let id = 0; id < 20; id += 1) host.send(call(id));
  const ids = new Set<unknown>();
  for (let id = 0; id < 20; id += 1) ids.add((await host.next()).id);
  expect(ids.size).toBe(20);
});

test("an id that is still in use is refused and the first call stays alone under it", async ({ expect }) => {
  let isThere: (release: () => void) => void = () => undefined;
  const held = new Promise<() => void>((resolve) => {
    isThere = resolve;
  });
  const { host } = await bridgeTo((seen, response) => isThere(() => void result({ first: true })(seen, response)));
  host.send(call(1));
  host.send(call(1));
  expect(await host.next()).toMatchObject({ id: 1, error: { code: -32600 } });
  (await held)();
  expect(await host.next()).toMatchObject({ id: 1, result: { first: true } });
});

test("a cancelled call is aborted at the server and gets no answer", async ({ expect }) => {
  let isThere = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    isThere = resolve;
  });
  const { host, upstream } = await bridgeTo((seen, response) => {
    if (seen.id === 1) isThere();
    else void result({})(seen, response);
  });
  host.send(call(1));
  await arrived;
  host.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, reason: "no" } });
  await upstream.seen[0]?.aborted;
  host.send(call(2));
  expect(await host.next()).toMatchObject({ id: 2 });
  expect(host.all()).not.toContain('"id":1');
});

test("progress is forwarded before the answer of a stream", async ({ expect }) => {
  const note = (progress: number): unknown => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: "t", progress },
  });
  const { host } = await bridgeTo(
    events((seen) => [note(1), note(2), { jsonrpc: "2.0", id: seen.id, result: { done: true } }]),
  );
  host.send(call(1));
  expect((await host.next()).params).toMatchObject({ progress: 1 });
  expect((await host.next()).params).toMatchObject({ progress: 2 });
  expect(await host.next()).toMatchObject({ id: 1, result: { done: true } });
});

test("a stream that ends without an answer is answered with an error", async ({ expect }) => {
  const { host } = await bridgeTo(events(() => []));
  host.send(call(1));
  expect(said(await host.next())).toContain("ended the stream without an answer");
});

test("an 8 MB answer with line breaks arrives as one line", async ({ expect }) => {
  const text = "ä".repeat(4_000_000);
  const { host } = await bridgeTo((seen, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: seen.id, result: { text } }, null, 2));
  });
  host.send(call(1));
  expect((await host.next()).result?.["text"]).toBe(text);
});

test("invalid lines are answered and the next request works", async ({ expect }) => {
  const { host } = await bridgeTo(result({}));
  host.write("{nope\n[]\n");
  expect(await host.next()).toMatchObject({ id: null, error: { code: -32700 } });
  expect(await host.next()).toMatchObject({ id: null, error: { code: -32600 } });
  host.send(call(1));
  expect(await host.next()).toMatchObject({ id: 1, result: {} });
});

test("a batch is answered as a batch, without its notifications", async ({ expect }) => {
  const { host } = await bridgeTo(result({ ok: true }));
  host.send([
    call(1),
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "ping" },
  ]);
  const answers = (await host.next()) as unknown as Message[];
  expect(answers.map((message) => [message.id, message.result])).toEqual([
    [1, { ok: true }],
    [2, {}],
  ]);
});

/** Ids that no number holds, as hosts of 64 bits count. */
const LARGE = ["9223372036854775807", "9223372036854775806", "-9007199254740993", "1e400"] as const;
const largeCall = (id: string) => `{"jsonrpc":"2.0", "id": ${id}, "method":"tools/call","params":{"name":"kb_search"}}`;

test("an id comes back with every digit, from the server, from the bridge and in a batch", async ({ expect }) => {
  const { host, upstream } = await bridgeTo((seen, response) => {
    response.setHeader("content-type", "application/json");
    // A server of before, which reads the id as a number.
    if (seen.body.includes("806")) response.end(`{"jsonrpc":"2.0","id":9223372036854776000,"result":{}}`);
    else response.end(seen.body.replace(/"method".*$/, '"result":{}}'));
  });
  for (const id of LARGE) host.write(`${largeCall(id)}\n`);
  for (let count = 0; count < LARGE.length; count += 1) await host.next();
  const lines = host.all().trimEnd().split("\n");
  expect(lines.map((line) => /"id": ?([^,]*),/.exec(line)?.[1]).toSorted()).toEqual([...LARGE].toSorted());
  expect(upstream.seen.map(({ body }) => body).toSorted()).toEqual(LARGE.map(largeCall).toSorted());
  const before = host.all().length;
  const ping = '{"jsonrpc":"2.0","id":9223372036854775807,"method":"ping","params":null}';
  host.write(`[${ping}, {"jsonrpc":"2.0","method":"notifications/x","params":[1]}]\n`);
  await host.next();
  expect(host.all().slice(before)).toBe('[{"jsonrpc":"2.0","id":9223372036854775807,"result":{}}]\n');
});

test("a call is cancelled by its own id, not by one that rounds to the same", async ({ expect }) => {
  const arrived: (() => void)[] = [];
  const both = Promise.all([0, 1].map(() => new Promise<void>((resolve) => arrived.push(resolve))));
  const { host, upstream } = await bridgeTo(() => arrived.pop()?.());
  const cancel = (id: string) =>
    host.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}\n`);
  host.write(`${largeCall("9223372036854775807")}\n${largeCall("9223372036854775806")}\n`);
  await both;
  cancel("9223372036854775806");
  await upstream.seen.find(({ body }) => body.includes("806"))?.aborted;
  host.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect(await host.next()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  cancel("9223372036854775807");
  await upstream.seen.find(({ body }) => body.includes("807"))?.aborted;
});

test("a notification is never answered, whatever is wrong with it", async ({ expect }) => {
  const { host } = await bridgeTo(result({}));
  for (const params of ["[1]", '"x"', "null", "7", '{"requestId":[1]}', '{"requestId":1e400}']) {
    for (const method of ["notifications/cancelled", "tools/list", "initialize", "nonsense"]) {
      host.write(`{"jsonrpc":"2.0","method":"${method}","params":${params}}\n`);
    }
  }
  host.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  await host.next();
  expect(host.all()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n');
});

const NOT_SIGNED_IN = "not_signed_in: this bridge has no login for http://127.0.0.1:7700, so ask the person to run: …";
const noLogin: FindLogin = () => Promise.reject(new ApiError("unauthenticated", { message: NOT_SIGNED_IN }));

/** Begins as a host does and gives the list that it is given. */
async function listed(host: Host): Promise<unknown> {
  host.send({ jsonrpc: "2.0", id: "i", method: "initialize", params: { protocolVersion: "2025-11-25" } });
  await host.next();
  host.send({ jsonrpc: "2.0", id: "l", method: "tools/list" });
  return (await host.next()).result?.["tools"];
}

const OWN_TOOLS: unknown = JSON.parse(JSON.stringify(TOOLS));
const CHANGED = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };

describe("the tools are listed whatever is wrong", () => {
  test("without a login, and each call says what the person runs", async ({ expect }) => {
    const host = startBridge(noLogin);
    expect(await listed(host)).toEqual(OWN_TOOLS);
    host.send(call(1));
    expect((await host.next()).result).toEqual({ content: [{ type: "text", text: NOT_SIGNED_IN }], isError: true });
  });

  test.for([
    ["refuses the login", status(401, "{}")],
    ["refuses in JSON-RPC", status(403, '{"jsonrpc":"2.0","id":null,"error":{"code":-32003,"message":"no"}}')],
    ["is no kb server", status(200, "<html>")],
    ["fails", status(500)],
    ["redirects", status(308, "", { location: "https://kb.example.com/mcp" })],
    ["gives a list that is none", result({ tools: "all" })],
  ] as const)("while the server %s", async ([, answer], { expect }) => {
    const { host, upstream } = await bridgeTo(answer);
    expect(await listed(host)).toEqual(OWN_TOOLS);
    host.send(call(1));
    await host.next();
    // The call was tried, and what is said of it names the server.
    expect(upstream.seen.at(-1)?.method).toBe("tools/call");
  });

  test("while the server keeps silent", async ({ expect }) => {
    const upstream = await startUpstream(() => undefined);
    const host = startBridge(loginTo(upstream), { listMs: 20 });
    expect(await listed(host)).toEqual(OWN_TOOLS);
    // What nobody waits for any more is given up.
    await upstream.seen[0]?.aborted;
  });

  test("a host of 2026-07-28 is told to ask again", async ({ expect }) => {
    const host = startBridge(noLogin);
    host.send({ jsonrpc: "2.0", id: 1, method: "tools/list", params: meta("2026-07-28") });
    expect((await host.next()).result).toMatchObject({ tools: OWN_TOOLS, resultType: "complete", ttlMs: 0 });
  });

  test("a page that no list has stays the server's error", async ({ expect }) => {
    const { host } = await bridgeTo(
      status(200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"one page"}}'),
    );
    host.send({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor: "2" } });
    expect((await host.next()).error?.message).toBe("one page");
  });
});

describe("a list that differs from the one the host has", () => {
  /** A server with this list, that answers calls with their id. */
  const serverOf = (tools: () => unknown): Answer => {
    return (seen, response) => result(seen.method === "tools/list" ? { tools: tools() } : { ok: true })(seen, response);
  };

  test("is told once the server can be reached, and one time", async ({ expect }) => {
    const upstream = await startUpstream(serverOf(() => [{ name: "kb_other" }]));
    let login: FindLogin = noLogin;
    const host = startBridge(() => login());
    expect(await listed(host)).toEqual(OWN_TOOLS);
    login = loginTo(upstream);
    host.send(call(1));
    expect(await host.next()).toMatchObject({ id: 1, result: { ok: true } });
    expect(await host.next()).toEqual(CHANGED);
    host.send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
    expect((await host.next()).result).toEqual({ tools: [{ name: "kb_other" }] });
    for (const id of [3, 4]) {
      host.send(call(id));
      expect(await host.next()).toMatchObject({ id, result: { ok: true } });
    }
    expect(host.all().split("list_changed")).toHaveLength(2);
  });

  test("after an outage it is the one of the server that came back", async ({ expect }) => {
    let tools = [{ name: "kb_search" }];
    let isUp = true;
    const { host } = await bridgeTo((seen, response) =>
      isUp ? serverOf(() => tools)(seen, response) : status(503)(seen, response),
    );
    expect(await listed(host)).toEqual(tools);
    isUp = false;
    host.send(call(1));
    expect((await host.next()).result).toMatchObject({ isError: true });
    [isUp, tools] = [true, [{ name: "kb_find" }]];
    host.send(call(2));
    expect(await host.next()).toMatchObject({ id: 2 });
    expect(await host.next()).toEqual(CHANGED);
  });

  test("an equal list is told to no one, and a host without a list or a beginning is asked nothing", async ({
    expect,
  }) => {
    const upstream = await startUpstream(serverOf(() => TOOLS));
    let login: FindLogin = noLogin;
    const host = startBridge(() => login());
    host.send({ jsonrpc: "2.0", id: 0, method: "tools/list" });
    await host.next();
    login = loginTo(upstream);
    host.send(call(1));
    await host.next();
    expect(upstream.seen.map(({ method }) => method)).toEqual(["tools/call"]);
    login = noLogin;
    const begun = startBridge(() => login());
    await listed(begun);
    login = loginTo(upstream);
    for (const id of [1, 2, 3]) {
      begun.send(call(id));
      expect(await begun.next()).toMatchObject({ id, result: { ok: true } });
    }
    expect(upstream.seen.filter(({ method }) => method === "tools/list")).toHaveLength(1);
  });
});

test("a login that comes later is used without a restart", async ({ expect }) => {
  const upstream = await startUpstream(result({ ok: true }));
  let login: FindLogin = noLogin;
  const host = startBridge(() => login());
  host.send(call(1));
  expect((await host.next()).result).toMatchObject({ isError: true });
  login = loginTo(upstream);
  host.send(call(2));
  expect((await host.next()).result).toEqual({ ok: true });
});

test("a refused token is looked up again once and the call repeated with the new one", async ({ expect }) => {
  const upstream = await startUpstream((seen, response) =>
    seen.headers.authorization === "Bearer kb_pat_new"
      ? result({ ok: true })(seen, response)
      : status(401, "{}")(seen, response),
  );
  let token = "kb_pat_old";
  const host = startBridge(() => loginTo(upstream, token)());
  host.send(call(1));
  expect((await host.next()).result).toMatchObject({ isError: true });
  token = "kb_pat_new";
  host.send(call(2));
  expect((await host.next()).result).toEqual({ ok: true });
  expect(host.all() + host.logs.join("\n")).not.toContain("kb_pat_");
});

test("a token never goes to an origin that it was not stored for", async ({ expect }) => {
  const upstream = await startUpstream(result({}));
  const host = startBridge(async () => ({
    mcpUrl: `${upstream.url}/mcp`,
    token: "kb_pat_secret",
    storedFor: "https://kb.example.com",
    from: "the stored login",
  }));
  host.send(call(1));
  expect(said(await host.next())).toContain("belongs to https://kb.example.com");
  expect(upstream.seen).toEqual([]);
});

test("a redirect is an error and is not followed", async ({ expect }) => {
  const other = await startUpstream(result({}));
  const { host } = await bridgeTo(status(307, "", { location: `${other.url}/mcp` }));
  host.send(call(1));
  expect(said(await host.next())).toMatch(/^redirect_refused: /);
  expect(other.seen).toEqual([]);
});

test.for([
  [status(502, "<html>"), /HTTP 502/],
  [status(200, "<html>"), /without an MCP message/],
  [status(202), /without an MCP message/],
  [status(429, "", { "retry-after": "12" }), /wait 12 seconds/],
] as const)(
  "an answer without an MCP message becomes words with the way on (%#)",
  async ([answer, text], { expect }) => {
    const { host } = await bridgeTo(answer);
    host.send(call(1));
    expect(said(await host.next())).toMatch(text);
  },
);

test("a server that is down gives an answer to each request, and one that comes back is found again", async ({
  expect,
}) => {
  const first = await startUpstream(result({}));
  const port = Number(new URL(first.url).port);
  await first.close();
  const host = startBridge(loginTo(first));
  host.send(call(1));
  expect(said(await host.next())).toMatch(/^unavailable: no answer from http:.*kb serve/);
  host.send({ jsonrpc: "2.0", id: 2, method: "resources/read" });
  expect(await host.next()).toMatchObject({ id: 2, error: { code: -32050, data: { retryable: true } } });
  await startUpstream(result({ back: true }), port);
  host.send(call(3));
  expect((await host.next()).result).toEqual({ back: true });
});

test("a call whose kept connection was closed by a restart is repeated once", async ({ expect }) => {
  let count = 0;
  const { host } = await bridgeTo((seen, response) => {
    count += 1;
    if (count === 2) response.socket?.destroy();
    else void result({ count })(seen, response);
  });
  host.send(call(1));
  expect((await host.next()).result).toEqual({ count: 1 });
  host.send(call(2));
  expect((await host.next()).result).toEqual({ count: 3 });
});

test("what is in flight when stdin ends is answered before the end", async ({ expect }) => {
  let answerNow = (): void => undefined;
  const mayAnswer = new Promise<void>((resolve) => {
    answerNow = resolve;
  });
  const { host } = await bridgeTo(async (seen, response) => {
    await mayAnswer;
    await result({ late: true })(seen, response);
  });
  host.send(call(1));
  // Without its newline, as `printf` leaves it.
  host.write(JSON.stringify(call(2)));
  const ended = host.end();
  answerNow();
  expect(await ended).toBe(0);
  const answers = host
    .all()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Message);
  expect(answers.map((message) => message.id).toSorted()).toEqual([1, 2]);
  expect(answers.map((message) => message.result)).toEqual([{ late: true }, { late: true }]);
});

test("what is not answered in time after the end of stdin is aborted; it ends with 0", async ({ expect }) => {
  let isThere = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    isThere = resolve;
  });
  const upstream = await startUpstream(() => isThere());
  const host = startBridge(loginTo(upstream), { lastAnswersMs: 20 });
  host.send(call(1));
  await arrived;
  expect(await host.end()).toBe(0);
  await upstream.seen[0]?.aborted;
  expect(host.all()).toBe("");
});

test("the server is told which client calls, as its host named it when it began", async ({ expect }) => {
  const { host, upstream } = await bridgeTo(result({ content: [] }));
  const begin = async (id: number, clientInfo: unknown) => {
    host.send({ jsonrpc: "2.0", id, method: "initialize", params: { protocolVersion: "2025-06-18", clientInfo } });
    await host.next();
    host.send(call(id + 1));
    await host.next();
    return upstream.seen.at(-1)?.headers["user-agent"];
  };
  const bridge = `kb/${VERSION}`;
  host.send(call(1));
  await host.next();
  expect(upstream.seen[0]?.headers["user-agent"]).toBe(bridge);
  expect(await begin(2, { name: "claude-code", version: "2.0.14" })).toBe(`claude-code/2.0.14 ${bridge}`);
  expect(await begin(4, { name: "acme agent" })).toBe(`acme agent ${bridge}`);
  // Nothing that would break the header, or name another one.
  expect(await begin(6, { name: "a\r\nx-other: 1\u00e9/b", version: 3 })).toBe(`ax-other: 1b ${bridge}`);
  expect(await begin(8, "nonsense")).toBe(bridge);
});
