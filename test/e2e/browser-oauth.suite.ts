/** Connecting accounts at GitHub, Google and Slack in a real browser, against the built program: `emulate` plays the three. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import {
  EMULATED_CLIENT,
  type EmulatedProvider,
  type EmulatedService,
  startEmulated,
} from "../server/accounts/emulated.ts";
import { axeViolations, type OpenProfile, settle, signInQuietly, type Visitor } from "./browser.ts";
import { ADMIN, freePort, type ServerProcess, startServerProcess } from "./server-process.ts";

/** What each is called, and two people by their names there. */
const SERVICES: readonly { service: EmulatedService; name: string; ann: string; other: string }[] = [
  { service: "github", name: "GitHub", ann: "ann", other: "other" },
  { service: "google", name: "Google", ann: "ann@acme.test", other: "other@acme.test" },
  { service: "slack", name: "Slack", ann: "ann", other: "other" },
];

export function peopleSignInElsewhere(openBrowser: OpenProfile): void {
  const providers = new Map<EmulatedService, EmulatedProvider>();
  let server: ServerProcess;
  let database: string;

  beforeAll(async () => {
    const port = await freePort();
    const env: Record<string, string> = { KB_RATE_LIMITS: "off" };
    for (const { service, ann, other } of SERVICES) {
      const redirectUrl = `http://127.0.0.1:${port}/api/oauth/${service}/callback`;
      const provider = await startEmulated(service, { people: [ann, other], redirectUrl });
      provider.rotates = true;
      providers.set(service, provider);
      const prefix = `KB_${service.toUpperCase()}`;
      Object.assign(env, {
        [`${prefix}_BASE_URL`]: provider.url,
        ...(service !== "slack" && { [`${prefix}_API_URL`]: provider.url }),
        [`${prefix}_CLIENT_ID`]: EMULATED_CLIENT.clientId,
        [`${prefix}_CLIENT_SECRET`]: EMULATED_CLIENT.clientSecret,
      });
    }
    const folder = mkdtempSync(join(tmpdir(), "kb-test-"));
    database = join(folder, "data", "kb.db");
    const stops: (() => void)[] = [];
    server = await startServerProcess(join(folder, "data"), env, (stop) => stops.push(stop), { port: String(port) });
    return async () => {
      for (const stop of stops) stop();
      for (const provider of providers.values()) await provider.stop();
      if (server.child.exitCode === null && server.child.signalCode === null) await once(server.child, "exit");
      rmSync(folder, { recursive: true, force: true });
    };
  }, 120_000);

  /** Time that nobody waits for passes in the server's own database. */
  function pass(sql: string): void {
    const handle = new DatabaseSync(database, { timeout: 10_000 });
    handle.exec(sql);
    handle.close();
  }

  async function begin(): Promise<Visitor> {
    const visitor = await openBrowser(server.url);
    await signInQuietly(visitor, ADMIN);
    return visitor;
  }

  /** From our page to the service's. */
  async function depart({ page, open }: Visitor, service: EmulatedService, name: string): Promise<void> {
    await open(`/settings/accounts?connect=${service}`);
    await page.getByRole("button", { name: `Continue to ${name}` }).click();
  }

  test.for(SERVICES)("$name: no, yes, refused later, another account, and the same again", async (each) => {
    const { service, name, ann, other } = each;
    const provider = providers.get(service);
    if (!provider) throw new Error(`${name} was not started.`);
    const visitor = await begin();
    const { page, open } = visitor;

    // The person says no there: our words, and none of the service's.
    provider.isDenying = true;
    await depart(visitor, service, name);
    await page.getByRole("alert").filter({ hasText: "you or the service refused" }).waitFor();
    expect(await page.content()).not.toContain("alert(1)");
    provider.isDenying = false;

    await depart(visitor, service, name);
    await choose(page, ann);
    await page.getByRole("heading", { name: "Is this your account?" }).waitFor();
    await settle(page);
    expect(new URL(page.url()).search + new URL(page.url()).hash).toBe("");
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: new RegExp(`^Connect .*${ann}`) }).click();
    await page.getByText("Your account is connected.").waitFor();
    await page.getByText("Connected", { exact: true }).waitFor();

    // Half a day later it is asked who it is; by then the person has taken the grant back.
    provider.refusesRefresh = true;
    const refreshes = () => provider.grants.filter((grant) => grant === "refresh_token").length;
    const before = refreshes();
    pass(`UPDATE provider_accounts SET dueAt = 1, expiresAt = 1 WHERE providerId = '${service}'`);
    await expect
      .poll(async () => (await page.reload(), await settle(page), page.getByText("Connect again").count()), {
        timeout: 60_000,
        interval: 1_000,
      })
      .toBeGreaterThan(1);
    expect(refreshes()).toBe(before + 1);
    expect(await axeViolations(page)).toEqual([]);
    provider.refusesRefresh = false;

    // Only the same account takes its place.
    await page.getByRole("button", { name: /^Connect again: / }).click();
    await choose(page, other);
    await page.getByRole("alert").filter({ hasText: "different account" }).waitFor();
    await page.getByRole("button", { name: /^Connect again: / }).click();
    await choose(page, ann);
    await page.getByText("Your account is connected.").waitFor();
    await open("/settings/accounts");
    await page.getByText("Connected", { exact: true }).waitFor();

    await page.getByRole("button", { name: /^Disconnect / }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("No accounts yet").waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  test.for(SERVICES)("$name: an answer too late, or in another session, connects no one", async (each) => {
    const { service, name, ann } = each;
    const provider = providers.get(service);
    if (!provider) throw new Error(`${name} was not started.`);
    const before = provider.grants.length;
    const visitor = await begin();
    const { page } = visitor;
    await depart(visitor, service, name);
    await page.getByRole("button", { name: ann }).waitFor();
    pass(`UPDATE account_flows SET expiresAt = 1 WHERE providerId = '${service}'`);
    await choose(page, ann);
    await page.getByRole("alert").filter({ hasText: "took too long" }).waitFor();

    // Somebody is handed the way back of another session: of the same person, even.
    await depart(visitor, service, name);
    await page.getByRole("button", { name: ann }).waitFor();
    const callback = new Promise<string>((resolve) => (provider.onBack = resolve));
    await choose(page, ann);
    const back = await callback;
    provider.onBack = undefined;
    const victim = await begin();
    await victim.page.goto(back);
    await victim.page.getByRole("alert").filter({ hasText: "in another browser or session" }).waitFor();
    await victim.page.getByText("No accounts yet").waitFor();
    // The code went nowhere, and who began it goes on.
    expect(provider.grants.length).toBe(before);
    await page.goto(back);
    await page.getByRole("heading", { name: "Is this your account?" }).waitFor();
  });
}

/** Says who one is, on the service's page. */
async function choose(page: Page, person: string): Promise<void> {
  await page.getByRole("button", { name: person }).first().click();
}
