import { Agent, createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What came to the proxy. */
export interface Passed {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
}

/** Answers in the server's place; false = the server does. */
export type Instead = (passed: Passed, response: ServerResponse) => boolean;

export interface TestProxy {
  port: number;
  requests: Passed[];
  /** TCP connections that were opened to it. */
  connections(): number;
  instead: Instead | undefined;
  stop(): void;
}

/** Stands before a server: counts what comes, and can fail in its place. Keeps connections, as the server does. */
export async function startProxy(target: number): Promise<TestProxy> {
  const agent = new Agent({ keepAlive: true });
  let connections = 0;
  const proxy: Omit<TestProxy, "port" | "stop" | "connections"> = { requests: [], instead: undefined };
  const server = createServer((request, response) => {
    const { method = "GET", url: path = "/", headers } = request;
    const passed = { method, path, headers };
    proxy.requests.push(passed);
    if (proxy.instead?.(passed, response)) {
      request.resume();
      return;
    }
    const passedOn = send({ port: target, host: "127.0.0.1", method, path, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passedOn.on("error", () => response.destroy());
    request.pipe(passedOn);
  });
  server.keepAliveTimeout = 60_000;
  server.on("connection", () => void connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening server over TCP has such an address.
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    port,
    connections: () => connections,
    stop() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  });
}
