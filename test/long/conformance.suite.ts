import { spawn } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { onTestFinished, test } from "vitest";
import type { ToolCalls } from "#server/mcp/rpc.ts";
import { makeServer, type TestUser } from "../helpers.ts";
import { startServer as startOAuth, type OAuthTestServer } from "../server/identity/oauth/harness.ts";

/** What the suite asks for and kb does not offer; `checks` = failures that are known where other checks have to pass. */
interface ByDesign {
  scenario: RegExp;
  reason: string;
  checks?: number;
}

const SERVER: readonly ByDesign[] = [
  { scenario: /^prompts-|^completion-/, reason: "no prompts" },
  { scenario: /^resources-/, reason: "no resources" },
  { scenario: /^caching$/, checks: 3, reason: "its lists of prompts, resources and templates do not exist" },
  { scenario: /^logging-|^tools-call-with-logging$/, reason: "no log messages to clients" },
  { scenario: /^tools-call-(?:image|audio|embedded-resource|mixed-content)$/, reason: "tools answer in text" },
  { scenario: /^tools-call-(?:sampling|elicitation)$|^elicitation-/, reason: "tools never ask the client" },
  { scenario: /^input-required-result-/, reason: "tools never ask the client" },
  { scenario: /^tasks-/, reason: "extension: no tasks" },
  { scenario: /^json-schema-2020-12$/, reason: "asks for a tool of its own, with keywords that model APIs refuse" },
  { scenario: /^http-custom-header-server-validation$/, reason: "no argument of a tool travels in a header" },
  {
    scenario: /^server-stateless$/,
    checks: 4,
    reason: "asks for tools of its own that need the client's capabilities or log",
  },
];

const CLIENT: readonly ByDesign[] = [
  { scenario: /^elicitation-|^sep-2322-/, reason: "the server never asks, so the bridge offers nothing to ask" },
  { scenario: /^sse-retry$/, reason: "a cut stream is answered with an error that says so; nothing is resumed by GET" },
  { scenario: /^http-(?:custom-headers|invalid-tool-headers)$/, reason: "no argument of a tool travels in a header" },
  { scenario: /^request-metadata$/, checks: 0, reason: "the host of this test stays with its first version" },
];

/** What kb's client of provider servers doesn't do; the number of failures is what the suite finds without it. */
const PROVIDER: readonly ByDesign[] = [
  {
    scenario: /^auth\/client-credentials-/,
    checks: 2,
    reason: "extension: a connection is a person's, and no token is without one",
  },
  {
    scenario: /^auth\/enterprise-managed-authorization$/,
    checks: 2,
    reason: "extension: exchanges an identity provider's token for one of the server, without asking the person",
  },
  { scenario: /^auth\/wif-jwt-bearer$/, checks: 1, reason: "extension: a workload's token, without a person" },
  {
    scenario: /^auth\/dpop$/,
    checks: 3,
    reason: "extension: tokens are bearer tokens, sealed at rest, and sign one origin",
  },
  { scenario: /^auth\/dpop-nonce$/, checks: 5, reason: "extension: as above" },
  { scenario: /^elicitation-|^sep-2322-/, reason: "fills in no forms for a server; a page is opened by the person" },
  { scenario: /^auth\/2025-03-26-oauth-endpoint-fallback$/, reason: "no sign-in without metadata that promises PKCE" },
];

/**
 * Scenarios for kb as the client of provider servers: all 48 for clients that the suite lists, with its ten extensions. Those of
 * skills (`sep-2640-*`) check what a client of skills does with them; kb reads them as resources like any other, so the suite
 * has nothing to check (0 passed, 0 failed) but that it opens the server and ends without a failure.
 * `auth/basic-cimd` passes with a warning: kb registers where it can, and gives a document only where it can't.
 */
const PROVIDER_SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  "2025-03-26": ["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"],
  "2025-11-25": [
    "initialize",
    "tools_call",
    "sse-retry",
    "elicitation-sep1034-client-defaults",
    "json-schema-2020-12-preservation",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
  ],
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
    "sep-2322-client-request-state",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/resource-mismatch",
    "auth/metadata-issuer-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/authorization-server-migration",
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
  ],
  extension: [
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/wif-jwt-bearer",
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-size",
    "sep-2640-client-verify-frontmatter",
  ],
};

/**
 * Scenarios for clients without those of OAuth (`auth/…`): they stand up an authorization server of their own and ask
 * whether a client finds it, registers and keeps to its scopes. The bridge never does: it uses the sign-in that `kb login`
 * made at the one server that it belongs to. Unmodified clients against our server: `test/interop/oauth.test.ts`.
 */
const CLIENT_SCENARIOS = [
  ["initialize", "2025-11-25"],
  ["tools_call", "2025-11-25"],
  ["elicitation-sep1034-client-defaults", "2025-11-25"],
  ["sse-retry", "2025-11-25"],
  ["json-schema-2020-12-preservation", "2025-11-25"],
  ["tools_call", "2026-07-28"],
  ["request-metadata", "2026-07-28"],
  ["sep-2322-client-request-state", "2026-07-28"],
  ["http-standard-headers", "2026-07-28"],
  ["http-custom-headers", "2026-07-28"],
  ["http-invalid-tool-headers", "2026-07-28"],
  ["json-schema-ref-no-deref", "2026-07-28"],
  ["json-schema-2020-12-preservation", "2026-07-28"],
] as const;

const SUITE = ["-y", "-p", "node@22", "-p", "@modelcontextprotocol/conformance@0.2.0-alpha.12", "conformance"];

test.each(["2025-11-25", "2026-07-28"])("/mcp does what revision %s asks of it", async (revision) => {
  const output = await runSuite(["server", "--url", await startEndpoint(), "--requirements", revision]);
  const summary = output.slice(output.indexOf("=== SUMMARY ==="));
  const verdicts = [...summary.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gmu)].map(
    ([, scenario = "", passed, failed]) => ({ scenario, passed: Number(passed), failed: Number(failed) }),
  );
  judge(revision, verdicts, SERVER);
});

test("the bridge does what the suite asks of a client", async () => {
  judge("the bridge as client", await verdictsOn("conformance-client.ts", CLIENT_SCENARIOS), CLIENT);
});

test("the client of provider servers does what the suite asks of a client", async () => {
  const all = Object.entries(PROVIDER_SCENARIOS);
  const scenarios = all.flatMap(([revision, names]) => names.map((name) => [name, revision] as const));
  judge("the client of provider servers", await verdictsOn("conformance-provider.ts", scenarios), PROVIDER);
});

/** What the suite finds in a client, which is a script beside this file, by scenario and revision. */
async function verdictsOn(script: string, scenarios: readonly (readonly [string, string])[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const driver = join(import.meta.dirname, script);
  const command = `${process.execPath} --import ${import.meta.resolve("tsx")} ${driver}`;
  for (const [scenario, revision] of scenarios) {
    // An extension belongs to no revision.
    const version = revision === "extension" ? [] : ["--spec-version", revision];
    const args = ["client", "--command", command, "--scenario", scenario, ...version];
    const output = await runSuite([...args, "--timeout", "120000"]);
    const [, passed, failed] = /Passed: (\d+)\/\d+, (\d+) failed/.exec(output) ?? [];
    verdicts.push({ scenario, passed: Number(passed), failed: Number(failed) });
  }
  return verdicts;
}

test("the authorization server does what the suite asks of one", async () => {
  const kb = await startOAuth({ settings: { rateLimits: "off" } });
  const owner = await kb.addOwner();
  let isAnswered = false;
  // Both scenarios in one run: the second uses the metadata that the first found. `auth/…` are scenarios for clients.
  const about = ["--resource", `${kb.base}/mcp`, "-p", String(await freePort())];
  const output = await runSuite(
    ["authorization", "--url", kb.base, "--client-id", await kb.client(), ...about],
    (soFar) => {
      const [url] = /http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?\S+/.exec(soFar) ?? [];
      if (url === undefined || isAnswered) return;
      isAnswered = true;
      // The person that the suite waits for.
      void sayYes(kb, owner, url);
    },
  );
  const summary = output.slice(output.indexOf("=== SUMMARY ==="));
  const verdicts = [...summary.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gmu)].map(
    ([, scenario = "", passed, failed]) => ({ scenario, passed: Number(passed), failed: Number(failed) }),
  );
  if (verdicts.length !== 2) process.stdout.write(output);
  judge("the authorization server", verdicts, []);
});

async function sayYes(kb: OAuthTestServer, user: TestUser, url: string): Promise<void> {
  const browser = kb.browser(user);
  const uid = ((await browser.get(url)).headers.get("location") ?? "").split("/").at(-1) ?? "";
  const { redirectTo } = (await (await kb.decide(browser, uid)).json()) as { redirectTo: string };
  await fetch((await browser.get(redirectTo)).headers.get("location") ?? "");
}

interface Verdict {
  scenario: string;
  passed: number;
  /** NaN when the suite said nothing. */
  failed: number;
}

function judge(title: string, verdicts: readonly Verdict[], byDesign: readonly ByDesign[]): void {
  const lines = verdicts.map(({ scenario, passed, failed }) => {
    const known = byDesign.find((one) => one.scenario.test(scenario));
    const isKnown = known !== undefined && failed <= (known.checks ?? Number.POSITIVE_INFINITY);
    const word = failed === 0 ? "passed" : isKnown ? "by design" : "FAILED";
    const reason = word === "by design" ? `: ${known?.reason}` : "";
    return `${word.padEnd(10)} ${scenario} (${passed} passed, ${failed} failed)${reason}`;
  });
  process.stdout.write(`${title}\n${lines.join("\n")}\n`);
  const bad = lines.filter((line) => line.startsWith("FAILED"));
  if (verdicts.length === 0 || bad.length > 0) throw new Error(bad.join("\n") || "The suite gave no verdict.");
}

/** Some of the suite's own tools: texts, errors, progress and names can be looked at on no other. */
const TOOLS: ToolCalls = {
  async call(_actor, name, _args, context) {
    if (name === "test_simple_text") return { text: "This is a simple text response for testing." };
    if (name === "test_error_handling") {
      return { text: "This tool intentionally returns an error for testing", isError: true };
    }
    if (name === "kb_search") return { text: "Nothing." };
    if (name !== "test_tool_with_progress") return undefined;
    for (const done of [0, 50, 100]) context.report(done, 100, `${done} of 100`);
    return { text: "Done." };
  },
};

async function startEndpoint(): Promise<string> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const kb = await makeServer({ settings: { baseUrl, rateLimits: "off" } }, () => ({ tools: TOOLS }));
  const token = await kb.token(await kb.addOwner());
  // The suite has no option for a token.
  const signedIn = (request: Request) => {
    const headers = new Headers(request.headers);
    headers.set("authorization", `Bearer ${token}`);
    return kb.app.fetch(new Request(request, { headers }));
  };
  const server = serve({ fetch: signedIn, port, hostname: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  return `${baseUrl}/mcp`;
}

/** The app has to know its own address before it listens. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  // A listening TCP server has an address with a port.
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** What the suite prints, without colours. */
async function runSuite(args: readonly string[], watch: (soFar: string) => void = () => {}): Promise<string> {
  // The suite's dependencies ask for Node 22, which it gets; npx itself runs on what is here.
  const env = { ...process.env, npm_config_engine_strict: "false" };
  const child = spawn("npx", [...SUITE, ...args], { stdio: ["ignore", "pipe", "pipe"], env });
  let output = "";
  const take = (part: Buffer) => {
    output += part.toString("utf8");
    watch(output);
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  await new Promise((resolve) => child.once("close", resolve));
  // oxlint-disable-next-line no-control-regex -- the escape that begins a colour
  return output.replace(/\u001B\[\d+m/g, "");
}
