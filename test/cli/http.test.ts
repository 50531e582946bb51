import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "vitest";
import { makeFetch, type Answer, type FetchRequest } from "#cli/host/http.ts";

async function withServer<T>(listener: RequestListener, work: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    // A listening TCP server's address is an object.
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const ask = (url: string, more: Partial<FetchRequest> = {}): Promise<Answer> =>
  makeFetch()(url, { redirect: "manual", signal: new AbortController().signal, ...more });

test("method, headers and body arrive as they are, and so do status, headers, cookies and text", async ({ expect }) => {
  const answer = await withServer(
    async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(Buffer.from(part as Uint8Array));
      response.setHeader("set-cookie", ["a=1; Path=/", "b=2"]);
      response.writeHead(201, { "x-seen": `${request.method} ${request.headers["x-key"]} ${Buffer.concat(parts)}` });
      response.end("\uFEFFgrüß");
    },
    async (url) => {
      const given = await ask(url, { method: "POST", headers: { "x-key": "k" }, body: "plän" });
      const { status, headers } = given;
      return {
        status,
        cookies: headers.getSetCookie(),
        names: [...headers].map(([name]) => name),
        text: await given.text(),
      };
    },
  );
  expect(answer).toMatchObject({ status: 201, cookies: ["a=1; Path=/", "b=2"], text: "grüß" });
  expect(answer.names).toContain("x-seen");
});

test("a redirect is an answer", async ({ expect }) => {
  const asked: string[] = [];
  const status = await withServer(
    (request, response) => {
      asked.push(request.url ?? "");
      response.writeHead(302, { location: "/elsewhere" }).end();
    },
    async (url) => (await ask(`${url}/here`)).status,
  );
  expect([status, asked]).toEqual([302, ["/here"]]);
});

test("an answer that does not come rejects with the reason of the signal", async ({ expect }) => {
  const stop = new AbortController();
  const reason = new DOMException("No answer", "TimeoutError");
  await withServer(
    () => stop.abort(reason),
    async (url) => await expect(ask(url, { signal: stop.signal })).rejects.toBe(reason),
  );
});

test("an answer that breaks off rejects as text and as bytes", async ({ expect }) => {
  await withServer(
    (_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("a part", () => response.destroy());
    },
    async (url) => {
      await expect(ask(url).then((answer) => answer.text())).rejects.toThrow();
      const read = async (): Promise<void> => {
        for await (const part of (await ask(url)).body ?? []) expect(part.length).toBeGreaterThan(0);
      };
      await expect(read()).rejects.toThrow();
    },
  );
});

test("a kept connection that the server closed meanwhile is replaced, where a repeat does no harm", async ({
  expect,
}) => {
  const used = new WeakSet<object>();
  await withServer(
    (request, response) => {
      if (used.has(request.socket)) return void request.socket.destroy();
      used.add(request.socket);
      response.end("here");
    },
    async (url) => {
      const fetch = makeFetch();
      const call = async (more: Partial<FetchRequest>): Promise<string> => {
        const answer = await fetch(url, { redirect: "manual", signal: new AbortController().signal, ...more });
        const text = await answer.text();
        // The connection goes back to where the next request finds it.
        await new Promise((resolve) => setImmediate(resolve));
        return text;
      };
      const keyed = { method: "POST", headers: { "idempotency-key": "k" }, body: "{}" };
      expect([await call({}), await call({}), await call(keyed)]).toEqual(["here", "here", "here"]);
      await expect(call({ method: "POST", body: "{}" })).rejects.toThrow();
    },
  );
});
