/** The wire format of GitHub, Google and Slack, as `emulate` speaks it. */
import { describe, onTestFinished, test } from "vitest";
import { EMULATED_CLIENT, type EmulatedService, startEmulated } from "./emulated.ts";
import { makeAccountServer } from "./server.ts";

const CLIENT = EMULATED_CLIENT;

/** One that ends with the test. */
async function start(service: EmulatedService, ...people: string[]) {
  const redirectUrl = `http://127.0.0.1:7700/api/oauth/${service}/callback`;
  const emulated = await startEmulated(service, { people, redirectUrl });
  onTestFinished(() => emulated.stop());
  return emulated;
}

const emulate = async (...args: Parameters<typeof start>): Promise<string> => (await start(...args)).url;

/** What a person does at the picker of people: the path at kb to which it leads back. */
async function pick(address: string, form: { path: string; who: Record<string, string> }): Promise<string> {
  const url = new URL(address);
  const page = await fetch(url);
  if (!page.ok) throw new Error(await page.text());
  const answer = await fetch(new URL(form.path, url), {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ ...Object.fromEntries(url.searchParams), ...form.who }),
  });
  const back = new URL(answer.headers.get("location") ?? "");
  return back.pathname + back.search;
}

describe("accounts at emulated services", { timeout: 60_000 }, () => {
  test("GitHub: no refresh token, an error that comes with 200", async ({ expect }) => {
    const baseUrl = await emulate("github", "octocat");
    const kb = await makeAccountServer({ github: { baseUrl, apiUrl: baseUrl, ...CLIENT } });
    const octocat = { path: "/login/oauth/callback", who: { login: "octocat" } };
    const back = await pick(await kb.begin(kb.anna, "github"), octocat);
    const { json } = await kb.accept(kb.anna, (await kb.go(kb.anna, back)).location);
    expect(json.account).toMatchObject({
      label: expect.stringContaining("octocat"),
      login: "octocat",
      state: "active",
      isLinked: true,
    });
    expect(json.account.principal).toMatch(/^user:github:http%3A%2F%2F(?:localhost|127\.0\.0\.1)%3A\d+:\d+$/);
    expect(json.account.expiresAt).toBeNull();
    // The same code again, in a trip of its own: GitHub says no with 200.
    const other = await kb.begin(kb.anna, "github");
    const state = new URL(other).searchParams.get("state") ?? "";
    const again = back.replace(/state=[^&]+/, `state=${state}`);
    expect((await kb.go(kb.anna, again)).location).toBe("/settings/accounts?account=failed&reason=failed");
  });

  test("Google: renewed with the refresh token that it gives once", async ({ expect }) => {
    const baseUrl = await emulate("google", "anna@acme.test");
    const kb = await makeAccountServer({ google: { baseUrl, apiUrl: baseUrl, ...CLIENT } });
    const address = await kb.begin(kb.anna, "google");
    expect(Object.fromEntries(new URL(address).searchParams)).toMatchObject({ access_type: "offline" });
    const back = await pick(address, { path: "/o/oauth2/v2/auth/callback", who: { email: "anna@acme.test" } });
    const { json } = await kb.accept(kb.anna, (await kb.go(kb.anna, back)).location);
    expect(json.account).toMatchObject({ label: "anna@acme.test", state: "active" });
    expect(json.account.principal).toMatch(/^user:google-drive:/);
    const before = Date.parse(json.account.expiresAt);
    // A day later its token has ended: it is asked who it is with a new one.
    kb.clock.advance(13 * 3_600_000);
    await kb.worker.runUntilIdle();
    const [account] = await kb.accountsOf(kb.anna);
    expect(Date.parse(account.expiresAt)).toBeGreaterThan(before);
    expect(Date.parse(account.confirmedAt)).toBe(kb.clock.now());
    // Ended here, it is ended there.
    expect((await kb.as(kb.anna).delete(`/api/accounts/${account.id}`)).status).toBe(204);
    await kb.worker.runUntilIdle();
    expect(await kb.store.in(kb.anna.workspaceId).accounts.find(account.id)).toBeUndefined();
  });

  test("Google: tokens that no one confirms are ended there", async ({ expect }) => {
    const google = await start("google", "anna@acme.test");
    const kb = await makeAccountServer({ google: { baseUrl: google.url, apiUrl: google.url, ...CLIENT } });
    const come = async () => {
      const form = { path: "/o/oauth2/v2/auth/callback", who: { email: "anna@acme.test" } };
      return (await kb.go(kb.anna, await pick(await kb.begin(kb.anna, "google"), form))).location;
    };
    const flows = () => kb.database.read.selectFrom("account_flows").select("stage").execute();
    const location = await come();
    // Another session of the same person takes nothing from this one.
    const again = await kb.signIn(kb.anna);
    expect((await kb.accept(again, location)).status).toBe(410);
    expect(await flows()).toEqual([{ stage: "found" }]);
    kb.clock.advance(10 * 60_000);
    expect((await kb.accept(kb.anna, location)).status).toBe(410);
    await kb.worker.runUntilIdle();
    expect(google.revoked).toHaveLength(1);
    expect(await flows()).toEqual([]);

    // Somebody who leaves before they have said yes.
    await come();
    await kb.as(kb.owner).delete(`/api/workspace/members/${kb.anna.userId}`);
    await kb.worker.runUntilIdle();
    expect(google.revoked).toHaveLength(2);
    expect(await flows()).toEqual([]);
  });

  test("Slack: the person's token, not the app's, and the team in who they are", async ({ expect }) => {
    const baseUrl = await emulate("slack", "anna");
    const kb = await makeAccountServer({ slack: { baseUrl, ...CLIENT } });
    const address = await kb.begin(kb.anna, "slack");
    expect(new URL(address).searchParams.get("user_scope")).toContain("channels:history");
    expect(new URL(address).searchParams.get("code_challenge")).toBeNull();
    const userId = /name="user_id" value="(U[A-Z0-9]+)"/.exec(await (await fetch(address)).text())?.[1] ?? "";
    const back = await pick(address, { path: "/oauth/v2/authorize/callback", who: { user_id: userId } });
    const { json } = await kb.accept(kb.anna, (await kb.go(kb.anna, back)).location);
    expect(json.account.principal).toMatch(new RegExp(`%23T[A-Z0-9]+:${userId}$`));
    expect(json.account).toMatchObject({ state: "active", isLinked: true });
  });
});
