import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request as the upstream saw it. */
export interface Seen {
  headers: IncomingMessage["headers"];
  body: string;
  /** The JSON-RPC method, when the body is one. */
  method: string | undefined;
  id: unknown;
  /** Resolves when the client goes away before the answer is complete. */
  aborted: Promise<void>;
}

export type Answer = (seen: Seen, response: ServerResponse) => void | Promise<void>;

export interface Upstream {
  url: string;
  seen: Seen[];
  /** The rule for the next requests. */
  answer: Answer;
  close(): Promise<void>;
}

/** A scripted HTTP server on a port of its own; closed with the test. */
export async function startUpstream(answer: Answer, port = 0): Promise<Upstream> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString("utf8");
      const message = body.startsWith("{") ? (JSON.parse(body) as Record<string, unknown>) : {};
      const aborted = new Promise<void>((resolve) => {
        response.on("close", () => {
          if (!response.writableFinished) resolve();
        });
      });
      const method = typeof message["method"] === "string" ? message["method"] : undefined;
      const record: Seen = { headers: request.headers, body, method, id: message["id"], aborted };
      seen.push(record);
      void self.answer(record, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  // A listening TCP server's address is an object.
  const { port: chosen } = server.address() as AddressInfo;
  const self: Upstream = {
    url: `http://127.0.0.1:${chosen}`,
    seen,
    answer,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  onTestFinished(() => self.close());
  return self;
}

/** Answers with a JSON-RPC result under the request's id. */
export function result(value: unknown): Answer {
  return (seen, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: seen.id, result: value }));
  };
}

/** Answers with a status and a text. */
export function status(code: number, text = "", headers: Record<string, string> = {}): Answer {
  return (_seen, response) => {
    response.writeHead(code, headers);
    response.end(text);
  };
}

/** Writes each value as one event of a stream and ends it. */
export function events(values: (seen: Seen) => unknown[]): Answer {
  return (seen, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const value of values(seen)) response.write(`event: message\r\ndata: ${JSON.stringify(value)}\r\n\r\n`);
    response.end();
  };
}
