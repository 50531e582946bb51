import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  type OAuthClientProvider as ProviderV2,
} from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, onTestFinished, test, vi } from "vitest";
import { cleanEnv } from "../bridge/built.ts";
import { composeFeatures } from "../features.ts";
import type { TestUser } from "../helpers.ts";
import { tempDir } from "../temp-dir.ts";
import { startServer as startOAuth } from "../server/identity/oauth/harness.ts";

const ME = { name: "interop", version: "1.0.0" };
const NAMES = ["kb_search", "kb_search_entities", "kb_get_entity_context", "kb_get_file_content"];

async function startServer() {
  const kb = await startOAuth({ settings: { rateLimits: "off" } }, composeFeatures);
  return { kb, owner: await kb.addOwner(), url: new URL(`${kb.base}/mcp`) };
}

type Server = Awaited<ReturnType<typeof startServer>>;

/** What a person does in a browser: follows the address, says yes, and is sent back. */
async function sayYes({ kb }: Server, user: TestUser, authorizationUrl: string): Promise<URL> {
  const browser = kb.browser(user);
  const asked = await browser.get(authorizationUrl);
  const uid = (asked.headers.get("location") ?? "").split("/").at(-1) ?? "";
  const decided = await kb.decide(browser, uid);
  const { redirectTo } = (await decided.json()) as { redirectTo: string };
  return new URL((await browser.get(redirectTo)).headers.get("location") ?? "");
}

/** The memory of a host: both SDKs ask for the same. */
function makeMemory() {
  const kept: { client?: unknown; tokens?: unknown; verifier?: string; url?: URL; state?: string } = {};
  const provider = {
    redirectUrl: "http://127.0.0.1:7777/callback",
    clientMetadata: {
      client_name: "Interop",
      redirect_uris: ["http://127.0.0.1:7777/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    state: () => (kept.state = "state-of-the-host"),
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens: unknown) => void (kept.tokens = tokens),
    redirectToAuthorization: (url: URL) => void (kept.url = url),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? "",
  };
  return { kept, provider };
}

interface AnyTransport {
  finishAuth(codeOrParams: string | URLSearchParams): Promise<void>;
  close(): Promise<void>;
}

interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

/** 401 → discovery → registration → consent → token → tools → refresh → revoke, by a client that nobody told anything. */
async function goTheWholeWay(
  server: Server,
  { kept, connect }: { kept: ReturnType<typeof makeMemory>["kept"]; connect: () => Promise<[AnyClient, AnyTransport]> },
  finish: (transport: AnyTransport, back: URL) => Promise<void>,
  first: () => Promise<AnyTransport>,
): Promise<void> {
  const { kb, owner } = server;
  const unauthorized = await first();
  expect(kept.url?.origin).toBe(kb.base);
  expect(kept.url?.searchParams.get("resource")).toBe(`${kb.base}/mcp`);
  const back = await sayYes(server, owner, kept.url?.href ?? "");
  expect(back.searchParams.get("iss")).toBe(kb.base);
  await finish(unauthorized, back);

  const [client] = await connect();
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
  const call = () => client.callTool({ name: "kb_search", arguments: { query: "anything" } });
  expect(JSON.stringify(await call())).toContain("0 found");

  const before = JSON.stringify(kept.tokens);
  kb.advance(3_600_000);
  expect(JSON.stringify(await call())).toContain("0 found");
  expect(JSON.stringify(kept.tokens)).not.toBe(before);

  const { client_id: id } = kept.client as { client_id: string };
  const { refresh_token: token = "" } = kept.tokens as { refresh_token?: string };
  expect((await kb.post("/oauth/revoke", { client_id: id, token })).status).toBe(200);
  await expect(call()).rejects.toThrow(/unauthorized|invalid_grant|authorization/i);
  expect((await kb.as(owner).get("/api/grants")).json.grants).toEqual([]);
}

test("SDK version 1 goes the whole way by itself", async () => {
  const server = await startServer();
  const { kept, provider } = makeMemory();
  const open = () => new HttpV1(server.url, { authProvider: provider as unknown as OAuthClientProvider });
  await goTheWholeWay(
    server,
    {
      kept,
      async connect() {
        const [client, transport] = [new ClientV1(ME), open()];
        await client.connect(transport);
        return [client, transport as AnyTransport];
      },
    },
    (transport, back) => transport.finishAuth(back.searchParams.get("code") ?? ""),
    async () => {
      const transport = open();
      await expect(new ClientV1(ME).connect(transport)).rejects.toThrow(/Unauthorized/);
      return transport as AnyTransport;
    },
  );
});

test.each(["default", "auto"] as const)("SDK version 2 goes the whole way by itself, negotiation %s", async (mode) => {
  const server = await startServer();
  const { kept, provider } = makeMemory();
  const make = () => new ClientV2(ME, mode === "auto" ? { versionNegotiation: { mode: "auto" } } : {});
  const open = () => new HttpV2(server.url, { authProvider: provider as unknown as ProviderV2 });
  await goTheWholeWay(
    server,
    {
      kept,
      async connect() {
        const [client, transport] = [make(), open()];
        await client.connect(transport);
        return [client, transport as unknown as AnyTransport];
      },
    },
    (transport, back) => transport.finishAuth(back.searchParams),
    async () => {
      const transport = open();
      await expect(make().connect(transport)).rejects.toThrow(/Unauthorized/i);
      return transport as unknown as AnyTransport;
    },
  );
});

test("mcp-remote goes the whole way by itself", async () => {
  const server = await startServer();
  const { kb, owner, url } = server;
  const proxy = join(dirname(createRequire(import.meta.url).resolve("mcp-remote/package.json")), "dist/proxy.js");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [proxy, url.href, "--allow-http", "--transport", "http-only"],
    // Without programs to find, nothing can open a window.
    env: { ...cleanEnv(tempDir(), {}), MCP_REMOTE_CONFIG_DIR: tempDir(), PATH: "/nonexistent" },
    stderr: "pipe",
  });
  const printed = new Promise<string>((resolve) => {
    let text = "";
    transport.stderr?.on("data", (part: Buffer) => {
      text += part.toString("utf8");
      const found = /(http:\/\/\S+\/oauth\/authorize\S+)/.exec(text)?.[1];
      if (found !== undefined && text.includes("\n", text.indexOf(found))) resolve(found);
    });
  });
  const client = new ClientV1(ME);
  const connected = client.connect(transport);
  onTestFinished(() => client.close());
  const back = await sayYes(server, owner, await printed);
  // It prints the address before it listens for the answer.
  const answer = await vi.waitFor(() => fetch(back), { timeout: 20_000 });
  expect(answer.status).toBe(200);
  await connected;
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
  const call = () => client.callTool({ name: "kb_search", arguments: { query: "anything" } });
  expect(JSON.stringify(await call())).toContain("0 found");
  kb.advance(3_600_000);
  expect(JSON.stringify(await call())).toContain("0 found");
  const refreshed = kb.log.lines.filter(({ fields }) => fields["path"] === "/oauth/token");
  expect(refreshed.length).toBeGreaterThanOrEqual(2);
  const [grant] = (await kb.as(owner).get("/api/grants")).json.grants;
  expect((await kb.as(owner).delete(`/api/grants/${grant.id}`)).status).toBe(204);
  // It asks its person again, which takes as long as they take.
  const refusals = () =>
    kb.log.lines.filter(({ fields }) => fields["path"] === "/mcp" && fields["status"] === 401).length;
  const before = refusals();
  call().catch(() => undefined);
  await vi.waitFor(() => expect(refusals()).toBeGreaterThan(before), { timeout: 20_000 });
}, 120_000);
