/** Connecting an account in a real browser: at a real Gitea, against the built program. */
import { join } from "node:path";
import { beforeAll, test } from "vitest";
import { type GiteaServer, startGitea } from "../sources/gitea/server.ts";
import { tempDir } from "../temp-dir.ts";
import { axeViolations, type OpenProfile, overflow, settle, signInQuietly } from "./browser.ts";
import { ADMIN, freePort, type ServerProcess, signInAdmin, startServerProcess } from "./server-process.ts";

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

  test("an employee proves by a token who she is, and finds what a mirrored connector showed to no one", async ({
    expect,
  }) => {
    const baseUrl = `http://127.0.0.1:${gitea.port}`;
    const server = await startServerProcess(join(tempDir(), "data"), {
      KB_RATE_LIMITS: "off",
      KB_ALLOW_PRIVATE_HOSTS: new URL(baseUrl).host,
    });
    const eva = await gitea.addPerson("eva");
    await gitea.api("POST", "/user/repos", { name: "handbook", private: true, auto_init: true }, eva.token);
    await gitea.api("POST", "/repos/eva/handbook/issues", { title: "Renew the certificate" }, eva.token);
    const admin = await signInAdmin(server.url);
    const instances = [{ providerId: "gitea", baseUrl }];
    expect((await admin("PATCH", "/api/workspace", { instances })).status).toBe(200);
    const made = await admin("POST", "/api/connectors", {
      providerId: "gitea",
      name: "Forge",
      config: { url: baseUrl },
      credentials: { token: eva.token },
      access: { visibility: "workspace" },
    });
    const path = `/workspace/connectors/${made.json.connector.id}`;
    const readByNobody = async () => (await admin("GET", `/api${path.slice(10)}`)).json.connector.readByNobody;
    await expect.poll(readByNobody, { timeout: 60_000 }).toMatchObject({ linked: 0 });

    const owner = await openBrowser(server.url);
    await signInQuietly(owner, ADMIN);
    const nobody = "No one in the workspace can read what is indexed";
    await owner.open("/workspace/connectors");
    await owner.page.getByText("No one can read").first().waitFor();
    await owner.open(path);
    await owner.page.getByText(nobody).waitFor();
    await owner.page.getByRole("link", { name: "Connect your own account" }).first().waitFor();
    expect(await axeViolations(owner.page)).toEqual([]);

    const person = { email: "eva@corp.test", password: "green lamp evening" };
    const invited = await admin("POST", "/api/workspace/invitations", { email: person.email, role: "member" });
    const employee = await openBrowser(server.url);
    const token = String(invited.json.url).split("#token=")[1];
    await employee.context.request.post("/api/invitations/accept", { data: { ...person, name: "Eva Lind", token } });
    await signInQuietly(employee, person);
    const { page, open } = employee;
    const hits = page.getByRole("main").getByRole("listitem").filter({ hasText: "Renew the certificate" });
    // What is hidden from her has no count and no notice.
    for (const at of ["/workspace/connectors", path]) {
      await open(at);
      const words = await page.locator("main").innerText();
      expect(words).not.toMatch(/no ?(?:one|body)/iu);
      expect(words).not.toMatch(/\d+ indexed/);
    }
    await open("/search?query=certificate");
    expect(await hits.count()).toBe(0);

    await open("/settings/accounts?connect=gitea&returnTo=/search%3Fquery%3Dcertificate");
    await page.getByLabel("Token from Gitea").fill(eva.token);
    await page.getByRole("button", { name: "Connect with this token" }).click();
    await hits.first().waitFor();
    await expect.poll(readByNobody, { timeout: 60_000 }).toBeUndefined();
    await owner.open(path);
    expect(await owner.page.getByText(nobody).count()).toBe(0);
    expect([...owner.complaints, ...employee.complaints]).toEqual([]);
  });
}
