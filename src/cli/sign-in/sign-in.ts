/** The interactive part of a login: a browser on this machine, or a code for a browser elsewhere. */
import { createHash } from "node:crypto";
import type { ServerUrl } from "#api/server-url.ts";
import type { Deps } from "#cli/host/deps.ts";
import { startDevice, waitForDevice } from "./device.ts";
import { listenForCode, LOOPBACK_TIMEOUT_MS } from "./loopback.ts";
import type { AuthorizationServer } from "./metadata.ts";
import { resourceOf } from "#cli/login/refresh.ts";
import { CLIENT_ID, requestTokens, type TokenAnswer } from "#cli/login/tokens.ts";

/** The dependencies that a sign-in gets from its command. */
export interface SignIn {
  deps: Deps;
  server: ServerUrl;
  endpoints: AuthorizationServer;
  /** Shows the person what to do. */
  talk(text: string): void;
}

/** Scopes of a login: the tools for the bridge, and the member's REST routes for the other commands. */
export const LOGIN_SCOPES = ["mcp:read", "kb:api"];
const ADMIN_SCOPES = ["kb:api", "kb:admin"];

/** Signs in with this machine's browser if one can be opened, otherwise with a code that the person types into another browser. */
export async function signIn(job: SignIn, isDevice: boolean): Promise<TokenAnswer> {
  const { server } = job;
  const resources = [resourceOf(server, "mcp"), resourceOf(server, "api")];
  const reason = whyNoBrowser(job.deps);
  if (!isDevice && reason === undefined) {
    const answer = await throughBrowser(job, LOGIN_SCOPES, resources);
    if (answer !== undefined) return answer;
  }
  if (!isDevice)
    job.talk(`No browser can be opened here${reason === undefined ? "" : ` (${reason})`}: sign in with one elsewhere.`);
  return await throughDevice(job, resources);
}

/** Requests admin rights. Undefined when no browser could be opened, because a code doesn't grant them (S27). */
export async function signInAsAdmin(job: SignIn): Promise<TokenAnswer | undefined> {
  return await throughBrowser(job, ADMIN_SCOPES, [resourceOf(job.server, "api")]);
}

/** Returns why no browser can be opened on this machine; undefined when one may be available. */
export function whyNoBrowser({ env, platform }: Pick<Deps, "env" | "platform">): string | undefined {
  if (env["SSH_CONNECTION"] || env["SSH_TTY"]) return "you came over SSH";
  if (env["CI"] && env["CI"] !== "false") return "CI is set";
  const hasDisplay = Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
  return platform === "linux" && !hasDisplay ? "no display" : undefined;
}

/** Opens a page in this machine's browser and reports that. If there is no browser, prints the address to open. */
export async function showPage(deps: Deps, address: string, talk: (text: string) => void): Promise<void> {
  const isOpened = whyNoBrowser(deps) === undefined && (await deps.openUrl(address));
  talk(`${isOpened ? "Your browser opens this page" : "Open this page in a browser"}:\n\n  ${address}\n`);
}

/** Signs in through the browser; undefined when none could be opened. Source: RFC 8252, RFC 7636. */
async function throughBrowser(
  { deps, endpoints, server, talk }: SignIn,
  scopes: readonly string[],
  resources: readonly string[],
): Promise<TokenAnswer | undefined> {
  const state = randomText(deps);
  const verifier = randomText(deps);
  const loopback = await listenForCode({ state, issuer: endpoints.issuer }, deps.signal);
  try {
    const address = new URL(endpoints.authorizationEndpoint);
    const query = {
      response_type: "code",
      client_id: CLIENT_ID,
      redirect_uri: loopback.redirectUri,
      scope: scopes.join(" "),
      state,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    for (const resource of resources) address.searchParams.append("resource", resource);
    if (!(await deps.openUrl(address.href))) return undefined;
    talk(`Your browser opens ${server.baseUrl}: sign in there and allow kb.`);
    talk(`If it doesn't open, visit this address:\n\n  ${address.href}\n`);
    talk(`Waiting for the browser for up to ${LOOPBACK_TIMEOUT_MS / 60_000} minutes. Press Ctrl-C to stop.`);
    return await requestTokens(deps, endpoints.tokenEndpoint, {
      grant_type: "authorization_code",
      code: await loopback.code,
      redirect_uri: loopback.redirectUri,
      code_verifier: verifier,
      resource: resourceOf(server, "api"),
    });
  } finally {
    loopback.close();
  }
}

async function throughDevice(
  { deps, endpoints, server, talk }: SignIn,
  resources: readonly string[],
): Promise<TokenAnswer> {
  const device = await startDevice(deps, server, endpoints, { scope: LOGIN_SCOPES.join(" "), resources });
  const minutes = Math.max(1, Math.round((device.expiresAt - deps.clock.now()) / 60_000));
  talk(`\n  1. Open this address in any browser:  ${device.verificationUri}`);
  talk(`  2. Type this code there:              ${device.userCode}\n`);
  talk("Enter it only if you started this command yourself. No one from kb ever asks you for a code.");
  talk(`Waiting for up to ${minutes} minutes. Press Ctrl-C to stop.`);
  return await waitForDevice(deps, endpoints, device, resourceOf(server, "api"));
}

/** Returns 256 random bits as text. */
function randomText(deps: Deps): string {
  return Buffer.from(deps.randomBytes(32)).toString("base64url");
}
