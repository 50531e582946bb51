import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, onTestFinished, test } from "vitest";
import { listen, type ListenOptions } from "#server/listen.ts";
import { makeTestLog } from "../helpers.ts";

const SHORT = { firstByteMs: 60, requestMs: 200, youngMs: 0, lookMs: 10, endingMs: 60 };
const LONG = { firstByteMs: 60_000, requestMs: 60_000, youngMs: 0, lookMs: 10, endingMs: 60_000 };

/** A server whose answers wait for `release` where the path is /slow. */
async function serve(options: ListenOptions = {}) {
  const log = makeTestLog();
  let release = () => undefined as void;
  const released = new Promise<void>((resolve) => (release = resolve));
  let onAsked = () => undefined as void;
  const asked = new Promise<void>((resolve) => (onAsked = resolve));
  const answer = async (incoming: Request) => {
    if (!incoming.url.endsWith("/slow")) return new Response("ok");
    onAsked();
    await released;
    return new Response("late");
  };
  const listener = await listen(answer, "127.0.0.1", 0, log, options);
  onTestFinished(async () => void (await listener.close(0)));
  return { log, listener, release, asked, url: `http://127.0.0.1:${listener.port}` };
}

async function open(port: number, text = ""): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  // Without a reader the end would never come.
  socket.resume();
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
}

function ask(url: string, agent?: Agent): Promise<{ connection: string | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    request(url, agent ? { agent } : {}, (response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString("utf8")));
      response.once("end", () => resolve({ connection: response.headers.connection, text }));
    })
      .once("error", reject)
      .end();
  });
}

describe("a connection without a request", () => {
  test("closes in its time whether it sends nothing, line breaks or half a header", async ({ expect }) => {
    const { listener } = await serve({ times: SHORT });
    const sockets = await Promise.all(
      ["", "\r\n\r\n", "GET / HTTP/1.1\r\nX-"].map((text) => open(listener.port, text)),
    );
    await Promise.all(sockets.map((socket) => once(socket, "close")));
    expect(sockets.every((socket) => socket.closed)).toBe(true);
  });

  test("closes between two requests too when only line breaks come, and a request keeps it open", async ({
    expect,
  }) => {
    const { listener, release, asked } = await serve({ times: SHORT });
    const waiting = await open(listener.port, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    await asked;
    // Others come and go meanwhile: looks are taken.
    await once(await open(listener.port), "close");
    await once(await open(listener.port), "close");
    expect(waiting.closed).toBe(false);
    const answered = once(waiting, "data");
    release();
    expect(String((await answered)[0])).toContain("HTTP/1.1 200");
  });
});

describe("near the limit of open files", () => {
  test("the connections that waited longest go, a request stays, and the log says so once", async ({ expect }) => {
    let opened = 0;
    // Ten files beside the connections.
    const descriptors = { limit: 20, count: () => 10 + opened };
    const { listener, url, log, release, asked } = await serve({ times: LONG, descriptors });
    opened++;
    const slow = ask(`${url}/slow`);
    await asked;
    const held: Socket[] = [];
    for (; opened < 8; opened++) held.push(await open(listener.port));
    opened++;
    const late = await open(listener.port);
    const [first, second, third, ...rest] = held;
    for (const socket of [first, second, third]) if (socket?.closed === false) await once(socket, "close");
    expect([...rest, late].map((socket) => socket.closed)).toEqual([false, false, false, false, false]);
    const told = log.lines.filter(({ message }) => message.startsWith("Open files are near the limit"));
    expect(told.map(({ level, fields }) => [level, fields["limit"]])).toEqual([["warn", 20]]);
    release();
    expect((await slow).text).toBe("late");
  });

  test("when no file is left to count them, a new connection is closed and requests under way go on", async ({
    expect,
  }) => {
    let isExhausted = false;
    const count = (): number => {
      if (isExhausted) throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
      return 18;
    };
    const { listener, url, release, asked } = await serve({ times: LONG, descriptors: { limit: 20, count } });
    const slow = ask(`${url}/slow`);
    await asked;
    isExhausted = true;
    const late = await open(listener.port);
    if (!late.closed) await once(late, "close");
    release();
    expect((await slow).text).toBe("late");
  });
});

describe("from the end's beginning on", () => {
  test("every answer is its connection's last, new ones still come in, and idle connections end", async ({
    expect,
  }) => {
    const { listener, url, release, asked } = await serve({ times: LONG });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    expect((await ask(url, agent)).connection).toBe("keep-alive");
    const idle = await open(listener.port);
    const slow = ask(`${url}/slow`);
    await asked;
    listener.beginClosing();
    expect((await ask(url, agent)).connection).toBe("close");
    expect((await ask(url)).connection).toBe("close");
    await once(idle, "close");
    release();
    expect(await slow).toEqual({ connection: "close", text: "late" });
  });

  test("a connection that comes then has its time for a request, however long ago the end began", async ({
    expect,
  }) => {
    const { listener, url } = await serve({ times: LONG });
    const idle = await open(listener.port);
    listener.beginClosing();
    const late = await open(listener.port);
    // Its connection came after that one.
    await ask(url);
    await once(idle, "close");
    late.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const [answer] = await Promise.race([once(late, "data"), once(late, "close").then(() => ["closed"])]);
    expect(String(answer)).toContain("HTTP/1.1 200");
  });

  test("a connection without a request holds up no end, whether it sends nothing or half a header", async ({
    expect,
  }) => {
    const { listener, url } = await serve({ times: { ...LONG, endingMs: 60 } });
    listener.beginClosing();
    await Promise.all(["", "GET / HTTP/1.1\r\nX-"].map((text) => open(listener.port, text)));
    await ask(url);
    expect(await listener.close(60_000)).toBe(0);
  });

  test("a close waits for the answers under way, cuts none, and then for nothing else", async ({ expect }) => {
    const { listener, url, release, asked } = await serve({ times: { ...LONG, endingMs: 1_000 } });
    await open(listener.port, "GET / HTTP/1.1\r\nX-");
    const slow = ask(`${url}/slow`);
    await asked;
    const closed = listener.close(60_000);
    release();
    expect([(await slow).text, await closed]).toEqual(["late", 0]);
  });
});

test("an idle connection stays for its next request: longer than proxies keep theirs, or as long as it is set", async ({
  expect,
}) => {
  const told = async (options: ListenOptions) => {
    const socket = await open((await serve(options)).listener.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const [head] = await once(socket, "data");
    return { socket, told: /^keep-alive: (.*)\r$/im.exec(String(head))?.[1] };
  };
  expect((await told({})).told).toBe("timeout=75");
  const { socket, told: seconds } = await told({ times: SHORT, keepAliveMs: 1_000 });
  expect(seconds).toBe("timeout=1");
  // Node waits a second longer than it says, so that who keeps to the word is never cut off.
  await once(socket, "close");
});
