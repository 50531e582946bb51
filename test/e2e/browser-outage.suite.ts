/** What the page shows while the server, or the way to it, is down. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDir } from "../temp-dir.ts";
import { type OpenProfile, settle, signInQuietly } from "./browser.ts";
import { ADMIN, cleanEnv, runKb, signInAdmin, startServerProcess } from "./server-process.ts";

export function outagesPass(openBrowser: OpenProfile): void {
  test("other questions' hits are dim, an outage keeps what is shown, and the answer comes by itself", async ({
    expect,
  }) => {
    const dir = tempDir();
    const folder = join(dir, "files");
    mkdirSync(folder);
    for (const name of ["Harbour", "Lighthouse"])
      writeFileSync(join(folder, `${name}.md`), `# ${name}\n\nThe ${name}.\n`);
    const server = await startServerProcess(join(dir, "data"), { KB_LOCAL_ROOTS: folder, KB_RATE_LIMITS: "off" });
    const admin = await signInAdmin(server.url);
    const body = {
      providerId: "filesystem",
      name: "Docs",
      config: { root: folder },
      access: { visibility: "workspace" },
    };
    const { connector } = (await admin("POST", "/api/connectors", body)).json;
    const indexed = async () =>
      (await admin("GET", `/api/connectors/${connector.id}`)).json.connector.counts.indexed as number;
    await expect.poll(indexed).toBe(2);

    const visitor = await openBrowser(server.url);
    const { page, open } = visitor;
    await signInQuietly(visitor, ADMIN);
    await open("/search?query=harbour");
    await settle(page);
    const hits = page.getByRole("main").getByRole("listitem");
    await hits.filter({ hasText: "Harbour" }).first().waitFor();

    // A proxy says that nobody is behind it.
    await page.route("**/api/connectors/search*", (route) => route.fulfill({ status: 502, body: "Bad gateway" }));
    await page.getByRole("searchbox").fill("lighthouse");
    await page.getByText("The server isn’t answering.").waitFor();
    expect(await hits.filter({ hasText: "Harbour" }).count()).toBeGreaterThan(0);
    await page.locator("main .opacity-50").first().waitFor();

    await page.unroute("**/api/connectors/search*");
    await hits.filter({ hasText: "Lighthouse" }).first().waitFor();
    expect(await hits.filter({ hasText: "Harbour" }).count()).toBe(0);
    expect(await page.locator("main .opacity-50").count()).toBe(0);
    expect(await page.getByText("The server isn’t answering.").count()).toBe(0);
  });

  test("a notice that is closed stays closed until the next sign-in", async ({ expect }) => {
    const dir = join(tempDir(), "data");
    const server = await startServerProcess(dir, { KB_RATE_LIMITS: "off" });
    await server.stop();
    const password = "yellow kettle evening";
    const set = await runKb(["admin", "set-password", ADMIN.email, "--password-stdin", "--data-dir", dir], {
      env: cleanEnv(join(dir, "..")),
      input: password,
    });
    expect(set).toMatchObject({ code: 0 });

    const again = await startServerProcess(dir, { KB_RATE_LIMITS: "off" });
    const visitor = await openBrowser(again.url);
    const { page, open } = visitor;
    const notice = page.getByText("set a new password for your account");
    await signInQuietly(visitor, { ...ADMIN, password });
    await open("/settings/profile");
    await notice.waitFor();
    await page.getByRole("button", { name: "Close this notice" }).click();
    await notice.waitFor({ state: "detached" });
    await open("/settings/sessions");
    expect(await notice.count()).toBe(0);

    // An address asked for without a session leads to the sign-in page.
    await visitor.context.clearCookies();
    await page.goto("/settings/profile");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await signInQuietly(visitor, { ...ADMIN, password });
    await open("/settings/profile");
    await notice.waitFor();
  });
}
