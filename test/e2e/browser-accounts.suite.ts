/** Connecting an account in a real browser: at a real Gitea, against the built program. */
import { join } from "node:path";
import { beforeAll, test } from "vitest";
import { type GiteaServer, startGitea } from "../sources/gitea/server.ts";
import { tempDir } from "../temp-dir.ts";
import { axeViolations, type OpenProfile, overflow, settle, signInQuietly } from "./browser.ts";
import { ADMIN, freePort, type ServerProcess, startServerProcess } from "./server-process.ts";

let gitea: GiteaServer;

/** Needs a real Gitea. */
export function peopleConnectAccounts(openBrowser: OpenProfile): void {
  beforeAll(async () => {
    gitea = await startGitea();
    return () => gitea.stop();
  }, 120_000);

  /** A server that is registered at Gitea. */
  async function start(): Promise<ServerProcess> {
    const port = await freePort();
    const app = await gitea.api<{ client_id: string; client_secret: string }>("POST", "/user/applications/oauth2", {
      name: "kb",
      redirect_uris: [`http://127.0.0.1:${port}/api/accounts/gitea/callback`],
      confidential_client: true,
    });
    return startServerProcess(
      join(tempDir(), "data"),
      {
        KB_RATE_LIMITS: "off",
        KB_GITEA_URL: `http://127.0.0.1:${gitea.port}`,
        KB_GITEA_CLIENT_ID: app.client_id,
        KB_GITEA_CLIENT_SECRET: app.client_secret,
      },
      undefined,
      { port: String(port) },
    );
  }

  test("a person connects Gitea: our page, theirs, and who was found", async ({ expect }) => {
    const server = await start();
    await gitea.addPerson("anna");
    const visitor = await openBrowser(server.url);
    const { page, open, complaints } = visitor;
    await signInQuietly(visitor, ADMIN);
    // A link from elsewhere shows what would be connected, and goes nowhere by itself.
    await open("/api/accounts/gitea/authorize?returnTo=/settings/profile");
    await page.getByRole("heading", { name: "Connect Gitea?" }).waitFor();
    await page.getByText(ADMIN.email).first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue to Gitea" }).click();
    await page.getByLabel("Username or Email Address").fill("anna");
    await page.locator('input[name="password"]').fill("throwaway-anna-1");
    await page.getByRole("button", { name: "Sign In" }).click();
    await page.getByRole("button", { name: "Authorize Application" }).click();
    await page.getByRole("heading", { name: "Is this your account?" }).waitFor();
    await settle(page);
    expect(new URL(page.url()).hash).toBe("");
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Connect anna" }).click();
    await page.waitForURL("**/settings/profile?account=connected");
    await open("/settings/accounts");
    await page.getByText("Connected", { exact: true }).waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page, colorScheme === "light" ? "all" : "colours"), colorScheme).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 860 });

    // Another account in the place of this one is refused.
    await gitea.addPerson("other");
    await page.goto(`http://127.0.0.1:${gitea.port}/user/logout`);
    await visitor.context.clearCookies({ domain: "127.0.0.1", name: "i_like_gitea" });
    await open("/settings/accounts");
    await page.getByRole("button", { name: "Connect again: anna" }).click();
    await page.getByLabel("Username or Email Address").fill("other");
    await page.locator('input[name="password"]').fill("throwaway-other-1");
    await page.getByRole("button", { name: "Sign In" }).click();
    await page.getByRole("button", { name: "Authorize Application" }).click();
    await page.getByRole("alert").filter({ hasText: "different account" }).waitFor();

    await page.getByRole("button", { name: "Disconnect anna" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("No accounts yet").waitFor();
    expect(complaints).toEqual([]);
  });
}
