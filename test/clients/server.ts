import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ADMIN, freePort, type ServerProcess, signInAdmin, startServerProcess } from "../e2e/server-process.ts";
import { makeBrowser } from "../server/identity/oauth/harness.ts";
import { tempDir } from "../temp-dir.ts";

/** Longer than an access token lives (an hour), shorter than a sign-in. */
const AHEAD_MS = 2 * 3_600_000;
export const AHEAD_SECONDS = AHEAD_MS / 1000;

/** The title of the one document that it has. */
export const TITLE = "Ledger plan";

export type Kb = Awaited<ReturnType<typeof startKb>>;

/** The installed program with one document that everybody may read, at an address that stays its own. */
export async function startKb() {
  const dir = tempDir();
  const port = String(await freePort());
  const root = join(dir, "files");
  mkdirSync(root);
  writeFileSync(join(root, "plan.md"), `# ${TITLE}\n\nThe ledger closes on Friday.\n`);
  const start = (env: Record<string, string> = {}) =>
    startServerProcess(join(dir, "data"), { KB_LOCAL_ROOTS: root, KB_RATE_LIMITS: "off", ...env }, onTestFinished, {
      port,
    });
  let server = await start();
  const admin = await signInAdmin(server.url);
  await admin("POST", "/api/connectors", {
    providerId: "filesystem",
    name: "Files",
    config: { root },
    access: { visibility: "workspace" },
  });
  await untilFound(admin);

  async function restart(env: Record<string, string> = {}): Promise<ServerProcess> {
    await server.stop();
    return (server = await start(env));
  }

  return {
    base: server.url,
    url: `${server.url}/mcp`,
    home: dir,
    token: async () => String((await admin("POST", "/api/api-tokens", { name: "client" })).json.plaintext),
    restart: () => restart(),
    /** Starts it again two hours later by its clock. */
    restartLater: () =>
      restart({
        NODE_OPTIONS: `--import=${join(import.meta.dirname, "clock.mjs")}`,
        KB_TEST_CLOCK_AHEAD_MS: String(AHEAD_MS),
      }),
    sayYes: (authorizationUrl: string) => sayYes(server.url, authorizationUrl),
    output: () => server.output(),
  };
}

async function untilFound(admin: Awaited<ReturnType<typeof signInAdmin>>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if ((await admin("GET", "/api/connectors/search?query=ledger")).json.total === 1) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The folder's document was not indexed.");
}

/** What a person does in a browser: follows the address, allows access, and is sent back to the client. */
async function sayYes(base: string, authorizationUrl: string): Promise<URL> {
  const signedIn = await fetch(`${base}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ADMIN),
  });
  const [name = "", sessionSecret = ""] = (signedIn.headers.get("set-cookie") ?? "").split(/[=;]/u);
  const browser = makeBrowser(base, name, { sessionSecret });
  const asked = await browser.get(authorizationUrl);
  const uid = (asked.headers.get("location") ?? "").split("/").at(-1) ?? "";
  const shown = await browser.get(`/oauth/consent/${uid}/request`);
  if (shown.status !== 200) throw new Error(`The sign-in was refused: ${(await asked.text()).slice(0, 300)}`);
  // The answers of the consent page's own routes.
  const { csrf } = (await shown.json()) as { csrf: string };
  const decided = await browser.post(`/oauth/consent/${uid}/decision`, { csrf, decision: "allow" });
  const { redirectTo } = (await decided.json()) as { redirectTo: string };
  return new URL((await browser.get(redirectTo)).headers.get("location") ?? "");
}
