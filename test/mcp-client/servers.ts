import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { openMcpSession } from "#mcp-client/session.ts";
import type { McpCaps } from "#mcp-client/caps.ts";
import type { McpSession, McpTarget } from "#mcp-client/contract.ts";
import type { OpenMcp } from "#server/provider-servers/deps.ts";
import { McpProblem } from "#mcp-client/problem.ts";
import { makeAddressGuard } from "#net/address-guard.ts";
import { type GuardedClient, makeGuardedClient } from "#net/guarded-client.ts";

/** A server of this test: its base URL. */
export async function startHttp(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // A server that listens at a port has an address of this shape.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A way out that may reach the servers of this test only. */
export function makeTestClient(
  urls: readonly string[],
  lookup: (host: string) => Promise<{ address: string; family: number }[]> = () => Promise.resolve([]),
): GuardedClient {
  const privateHosts = urls.map((url) => new URL(url).host);
  const guard = makeAddressGuard({ lookup, privateHosts, isOwn: () => false });
  const client = makeGuardedClient({ guard, keepsConnections: true });
  onTestFinished(() => client.close());
  return client;
}

/** Opens sessions with the servers of this test, as the program does with all. */
export function makeTestOpener(urls: readonly string[]): OpenMcp {
  const client = makeTestClient(urls);
  return (target, signal, isListening = false) =>
    openMcpSession(target, {
      client,
      signal,
      isListening,
      clientInfo: { name: "kb", version: "0" },
      hop: { instanceId: "this", before: [] },
    });
}

export interface OpenOptions {
  caps?: Partial<McpCaps>;
  headers?: McpTarget["headers"];
  client?: GuardedClient;
  signal?: AbortSignal;
  isListening?: boolean;
  before?: readonly string[];
  instanceId?: string;
}

/** A session with a server of this test; it ends with the test. */
export async function open(url: string, options: OpenOptions = {}): Promise<McpSession> {
  const {
    caps,
    headers = async () => ({}),
    client = makeTestClient([url]),
    before = [],
    isListening = false,
  } = options;
  const session = await openMcpSession(
    { url, headers },
    {
      client,
      signal: options.signal ?? new AbortController().signal,
      ...(caps && { caps }),
      clientInfo: { name: "kb", version: "0.0.0" },
      hop: { instanceId: options.instanceId ?? "this", before },
      isListening,
    },
  );
  onTestFinished(() => session.close());
  return session;
}

/** What a promise failed with: step and code, and how much of `planted` is in it. */
export async function problemFrom(asked: Promise<unknown>, planted = "PLANTED"): Promise<string> {
  const error = await asked.then(
    () => new Error("It did not fail."),
    (reason: unknown) => reason,
  );
  if (!(error instanceof McpProblem)) throw error;
  const { step, code, message, challenge, elicitationUrl } = error;
  if (JSON.stringify([message, challenge, elicitationUrl, String(error)]).includes(planted))
    throw new Error("It says what the server said.");
  return `${step}: ${code}`;
}

/** JSON-RPC of a server without any library: what each method answers, sent as it is. */
export type Answers = Readonly<Record<string, Answer | undefined>>;
type Answer = (ask: {
  id: unknown;
  params: Record<string, unknown>;
  request: IncomingMessage;
  response: ServerResponse;
}) => unknown;

export const INITIALIZED = (
  version = "2025-06-18",
  capabilities: object = { tools: {}, resources: { subscribe: true } },
) => ({
  protocolVersion: version,
  capabilities,
  serverInfo: { name: "fake", version: "1" },
});

/**
 * A server whose answers are objects, or are written by the test itself when it gives nothing.
 *
 * @param unasked  begins the stream for what it says unasked; it has none unless told
 */
export function startRaw(answers: Answers, unasked?: (response: ServerResponse) => void): Promise<string> {
  return startHttp((request, response) => {
    if (unasked && request.method === "GET") unasked(response);
    else void answerWith(answers, request, response);
  });
}

async function answerWith(answers: Answers, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id, method = "", params = {} } = parse(await bodyOf(request));
  const answer = answers[method] ?? DEFAULTS[method];
  if (request.method !== "POST") response.writeHead(405).end();
  else if (answer !== undefined) {
    const result = answer({ id, params, request, response });
    if (result !== undefined) send(response, { jsonrpc: "2.0", id, result });
  } else if (id === undefined) response.writeHead(202).end();
  else send(response, { jsonrpc: "2.0", id, error: { code: -32_601, message: "PLANTED: no such method" } });
}

const DEFAULTS: Answers = { initialize: () => INITIALIZED() };

export function send(response: ServerResponse, message: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

export function parse(body: string): { id?: unknown; method?: string; params?: Record<string, unknown> } {
  return body === "" ? {} : (JSON.parse(body) as { id?: unknown; method?: string; params?: Record<string, unknown> });
}
