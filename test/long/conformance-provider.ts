/**
 * kb's client of provider servers, for the conformance suite that appends the address of its server: opens it, signs in
 * where it asks for that, as a person's browser that agrees would, lists the tools and calls each one. What the server
 * answers is for the suite to judge.
 */
import { randomBytes } from "node:crypto";
import { VERSION } from "#api/version.ts";
import { discoverAuthorization } from "#mcp-client/authorization.ts";
import { McpProblem } from "#mcp-client/problem.ts";
import { openMcpSession } from "#mcp-client/session.ts";
import { makeGuardedClient } from "#net/guarded-client.ts";
import { makeProviderOAuth } from "#server/provider-servers/oauth.ts";
import { makeSourceHttpPool } from "#sources/http/pool.ts";
import { guardOf } from "../net/everywhere.ts";

const url = process.argv.at(-1) ?? "";
const told = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  client_id?: string;
  client_secret?: string;
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
};
// The suite starts servers at ports of its choice, all on this machine: nothing else is reached.
const guard = guardOf(async ({ host, port }) => ({ host, port, address: "127.0.0.1", family: 4, isListed: true }));
const client = makeGuardedClient({ guard, keepsConnections: false });
const http = makeSourceHttpPool({ guard, now: () => Date.now() });
const oauth = makeProviderOAuth({ http, baseUrl: "http://127.0.0.1:7700", now: () => Date.now() });
const signal = AbortSignal.timeout(60_000);
let token: string | undefined;

// A tool can want more rights than the first sign-in gave; a server that is never content is left alone.
for (let tries = 0; ; tries++) {
  try {
    await use();
    break;
  } catch (error) {
    const wantsSignIn = error instanceof McpProblem && (error.code === "auth_required" || error.code === "forbidden");
    if (!wantsSignIn || tries === 2) throw error;
    await signIn(error.challenge ?? {});
  }
}

async function use(): Promise<void> {
  const session = await openMcpSession(
    { url, headers: async () => (token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    { client, signal, clientInfo: { name: "kb", version: VERSION }, hop: { instanceId: "conformance", before: [] } },
  );
  try {
    const { items } = await session.listTools();
    for (const { name } of items) {
      const wanted = told.toolCalls?.filter((call) => call.name === name) ?? [];
      for (const call of wanted) await session.callTool(name, call.arguments);
      // One scenario wants back, word for word, the schema that it published for its first tool.
      if (wanted.length === 0) await session.callTool(name, { a: 2, b: 3, schema: items[0]?.inputSchema });
    }
  } finally {
    await session.close();
  }
}

async function signIn(challenge: NonNullable<McpProblem["challenge"]>): Promise<void> {
  const found = await discoverAuthorization({ url }, challenge, { client, signal });
  const own = { clientId: told.client_id ?? null, secret: told.client_secret, callback: null };
  const registered = await oauth.register(found, own);
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(16).toString("base64url");
  const address = oauth.addressOf(found, registered, { scopes: found.scopes, state, verifier });
  const { headers } = await fetch(address, { redirect: "manual" });
  const back = new URL(headers.get("location") ?? "");
  // As `arrive.ts` judges the way back.
  const issuer = back.searchParams.get("iss") ?? undefined;
  const isIssuer = issuer === undefined ? !found.sendsIssuer : issuer === found.issuer;
  if (!isIssuer) throw new Error("The answer is of another authorization server.");
  const { secrets } = await oauth.redeem(registered, back.searchParams.get("code") ?? "", verifier);
  token = secrets.accessToken;
}
