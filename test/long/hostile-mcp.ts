/**
 * What a hostile MCP server costs, at the caps that kb has: `npx tsx test/long/hostile-mcp.ts`. One line for each way,
 * with the code, the time, and how much the resident memory grew at most. `test/mcp-client/hostile.test.ts` is the short form.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { McpProblem } from "#mcp-client/problem.ts";
import { openMcpSession } from "#mcp-client/session.ts";
import { makeAddressGuard } from "#net/address-guard.ts";
import { makeGuardedClient } from "#net/guarded-client.ts";

const MB = 1024 * 1024;
const JSON_TYPE = { "content-type": "application/json" };

function pour(response: ServerResponse, head: Record<string, string>, first: string, piece: Buffer): void {
  response.writeHead(200, head);
  response.write(first);
  let left = 1024 * MB;
  const next = () => {
    while (!response.destroyed && (left -= piece.length) > 0) {
      if (!response.write(piece)) return void response.once("drain", next);
    }
    response.end();
  };
  next();
}

const bomb = gzipSync(Buffer.alloc(1024 * MB, " "), { level: 9 });
const WAYS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "1 GB in one text": (response) =>
    pour(response, JSON_TYPE, '{"jsonrpc":"2.0","id":2,"result":{"a":"', Buffer.alloc(64 * 1024, "x")),
  "1 GB compressed to 1 MB": (response) =>
    void response.writeHead(200, { ...JSON_TYPE, "content-encoding": "gzip" }).end(bomb),
  "an endless stream of events": (response) =>
    pour(
      response,
      { "content-type": "text/event-stream" },
      "",
      Buffer.from('data: {"jsonrpc":"2.0","method":"x"}\n\n'.repeat(100)),
    ),
  "20 MB of opening brackets": (response) => void response.writeHead(200, JSON_TYPE).end("[".repeat(20 * MB)),
  "20 MB of empty objects": (response) => void response.writeHead(200, JSON_TYPE).end(`[${"{},".repeat(6 * MB)}`),
  "a drip": (response) => {
    response.writeHead(200, JSON_TYPE);
    const dripping = setInterval(() => response.write(" "), 100);
    response.once("close", () => clearInterval(dripping));
  },
};

let way = (_response: ServerResponse): void => undefined;
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (piece: Buffer) => (body += piece.toString("utf8")));
  request.on("end", () => {
    const { id, method } = JSON.parse(body || "{}") as { id?: unknown; method?: string };
    if (method === "tools/call") way(response);
    else if (method !== "initialize") response.writeHead(id === undefined ? 202 : 404).end();
    else {
      const result = {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "hostile", version: "1" },
      };
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
// A server that listens at a port has an address of this shape.
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
const guard = makeAddressGuard({ lookup: async () => [], privateHosts: [host], isOwn: () => false });
const client = makeGuardedClient({ guard, keepsConnections: false });

for (const [name, answer] of Object.entries(WAYS)) {
  way = answer;
  const session = await openMcpSession(
    { url: `http://${host}/mcp`, headers: async () => ({}), isListUsed: true },
    {
      client,
      signal: new AbortController().signal,
      clientInfo: { name: "kb", version: "0" },
      hop: { instanceId: "this", before: [] },
      // As long as kb waits, it is seconds here.
      caps: { requestMs: 10_000 },
    },
  );
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const looking = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
  const startedAt = performance.now();
  const code = await session.callTool("x", {}).then(
    () => "answered",
    (error: unknown) => (error instanceof McpProblem ? error.code : String(error)),
  );
  const tookMs = Math.round(performance.now() - startedAt);
  most = Math.max(most, process.memoryUsage().rss);
  clearInterval(looking);
  process.stdout.write(`${name.padEnd(30)} ${code.padEnd(12)} ${tookMs} ms, +${Math.round((most - before) / MB)} MB\n`);
  await session.close();
}
client.close();
server.closeAllConnections();
server.close();
