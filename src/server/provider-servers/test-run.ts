import type { ServerProblem, ServerTest } from "#api/provider-servers.ts";
import { isApiError } from "#api/errors.ts";
import type { McpAuthorization } from "#mcp-client/authorization.ts";
import type { McpSession, McpTarget } from "#mcp-client/contract.ts";
import { McpProblem } from "#mcp-client/problem.ts";
import type { ServerDeps } from "./deps.ts";
import type { ServerAuth } from "./target.ts";

/** The longest time that a person waits for a test, in milliseconds. */
export const TEST_MS = 10_000;

type Step = ServerTest["steps"][number];

/**
 * The target of a test, and whether its requests are signed. A server that only requires a sign-in passes while no one
 * is signed in.
 */
export interface Tried {
  target: McpTarget;
  auth: ServerAuth;
  isSigned: boolean;
}

/** The dependencies of a test. Without `discover`, as in probes, the test doesn't look for the sign-in. */
export type TestDeps = Pick<ServerDeps, "openMcp" | "clock" | "log"> & Partial<Pick<ServerDeps, "discover" | "oauth">>;

/**
 * Tests a server step by step. Never throws for the server's errors. It returns names of steps and codes; from the
 * server's responses it returns only the name, revision, capabilities and issuer, sanitized. Source: S31.
 */
export async function runTest(
  deps: TestDeps,
  { target, auth, isSigned }: Tried,
  signal = AbortSignal.timeout(TEST_MS),
): Promise<ServerTest> {
  const steps: Step[] = [];
  let session: McpSession | undefined;
  const take = async (step: Step["step"], work: () => Promise<unknown>): Promise<McpProblem | undefined> => {
    const began = deps.clock.now();
    try {
      await work();
      steps.push({ step, ok: true, ms: deps.clock.now() - began });
      return undefined;
    } catch (error) {
      const problem = problemOf(error, step, signal);
      if (problem === undefined) throw error;
      deps.log.info(
        { step: problem.step, code: problem.code, status: problem.status },
        "a provider server failed a test",
      );
      steps.push({ step: stepOf(problem, step), ok: false, ms: deps.clock.now() - began, problem: toProblem(problem) });
      return problem;
    }
  };
  try {
    const problem = await take("initialize", async () => (session = await deps.openMcp(target, signal)));
    if (problem) return await refused(deps, { steps, problem, signal }, { target, auth, isSigned });
    // The previous step has opened the session.
    const opened = session as McpSession | undefined;
    if (!opened) throw new Error("An opened session is missing.");
    if (auth.authKind !== "none") steps.push({ step: "auth", ok: true, ms: 0 });
    const { capabilities, serverInfo, protocolVersion } = opened;
    if (capabilities.tools) await take("tools", () => opened.listTools());
    if (capabilities.resources) await take("resources", () => opened.listResources());
    return { ok: steps.every(({ ok }) => ok), steps, serverInfo, protocolVersion, capabilities: { ...capabilities } };
  } finally {
    await session?.close();
  }
}

/** Converts a failure to the API's form. */
export function toProblem({ step, code, message, metadata }: McpProblem): ServerProblem {
  return { step, code, message, ...(metadata !== undefined && { metadata }) };
}

/** Returns the server's failure. Undefined for an error that isn't the server's fault. */
export function problemOf(error: unknown, step: McpProblem["step"], signal?: AbortSignal): McpProblem | undefined {
  if (error instanceof McpProblem) return error;
  if (signal?.aborted) return new McpProblem({ step, code: "timeout", cause: error });
  if (isApiError(error, "address_not_allowed"))
    return new McpProblem({ step: "resolve", code: "address_not_allowed", cause: error });
  if (isApiError(error) && error.class === "source_unavailable") {
    return new McpProblem({ step: "connect", code: "unreachable", cause: error });
  }
  return undefined;
}

/** A server that only requires people to sign in is healthy while no one has. */
async function refused(
  deps: TestDeps,
  { steps, problem, signal }: { steps: Step[]; problem: McpProblem; signal: AbortSignal },
  tried: Tried,
): Promise<ServerTest> {
  const { auth, isSigned } = tried;
  const last = steps.at(-1);
  if (problem.code !== "auth_required" || !last) return { ok: false, steps };
  const scopes = problem.challenge?.scope?.split(" ").filter((scope) => scope !== "") ?? [];
  const authRequired = { ...(await whereToSignIn(deps, problem, tried, signal)), scopes };
  if (isSigned || auth.authKind === "none") return { ok: false, steps, authRequired };
  const { problem: _problem, ...asked } = last;
  return { ok: true, steps: [...steps.slice(0, -1), { ...asked, step: "auth", ok: true }], authRequired };
}

/**
 * Returns the issuer where people would sign in. Undefined if the server accepts a token. Returns the reason if the
 * issuer can't be found.
 */
async function whereToSignIn(
  { discover, oauth, log }: TestDeps,
  { challenge = {} }: McpProblem,
  { target: { url }, auth: { authKind, clientId } }: Tried,
  signal: AbortSignal,
): Promise<Pick<NonNullable<ServerTest["authRequired"]>, "authorizationServers" | "needsClient" | "problem">> {
  if (discover === undefined || (authKind !== "oauth" && authKind !== "none")) return { authorizationServers: [] };
  try {
    const found = await discover(url, challenge, signal);
    const needsClient = clientId === null && oauth?.needsClient(found) === true;
    return { authorizationServers: [shownIssuer(found)], ...(needsClient && { needsClient }) };
  } catch (error) {
    const problem = problemOf(error, "auth", signal);
    if (problem === undefined) throw error;
    const { step, code, metadata } = problem;
    log.info({ step, code, metadata }, "where people sign in at a provider server was not found");
    return { authorizationServers: [], problem: toProblem(problem) };
  }
}

/** The issuer is third-party text. Characters that aren't plain ASCII are shown as a browser sends them. */
function shownIssuer({ issuer }: Pick<McpAuthorization, "issuer">): string {
  return /^[\u0021-\u007E]+$/.test(issuer) ? issuer : new URL(issuer).href;
}

const SHOWN: ReadonlySet<string> = new Set(["resolve", "connect", "initialize", "auth", "tools", "resources"]);

function stepOf(problem: McpProblem, step: Step["step"]): Step["step"] {
  if (problem.code === "auth_required") return "auth";
  // `SHOWN` contains the names of the contract.
  return SHOWN.has(problem.step) ? (problem.step as Step["step"]) : step;
}
