/** The wire format of GitHub, Google and Slack, as `emulate` speaks it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createEmulator } from "emulate";
import { describe, onTestFinished, test } from "vitest";
import { makeAccountServer } from "./server.ts";

const CLIENT = { clientId: "kb-client", clientSecret: "kb-client-secret" };
const KB = "http://127.0.0.1:7700";

/** One emulated service that knows kb, and people. */
async function emulate(service: "github" | "google" | "slack", seed: Record<string, unknown>): Promise<string> {
  const emulator = await createEmulator({ service, port: 0, seed: { [service]: seed } });
  onTestFinished(() => emulator.close());
  // It names itself by a name; kb is to go to its address.
  return emulator.url.replace("localhost", "127.0.0.1");
}

const app = (provider: string) => ({
  client_id: CLIENT.clientId,
  client_secret: CLIENT.clientSecret,
  name: "kb",
  redirect_uris: [`${KB}/api/oauth/${provider}/callback`],
});

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
    const baseUrl = await emulate("github", {
      users: [{ login: "octocat", name: "Octo Cat" }],
      oauth_apps: [app("github")],
    });
    const kb = await makeAccountServer({ github: { baseUrl, apiUrl: baseUrl, ...CLIENT } });
    const octocat = { path: "/login/oauth/callback", who: { login: "octocat" } };
    const back = await pick(await kb.begin(kb.anna, "github"), octocat);
    const { json } = await kb.accept(kb.anna, (await kb.go(kb.anna, back)).location);
    expect(json.account).toMatchObject({
      label: "Octo Cat (octocat)",
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
    const emulated = await emulate("google", {
      users: [{ email: "anna@acme.test", name: "Anna" }],
      oauth_clients: [app("google")],
    });
    // Google's own paths; the emulator has others of them.
    const baseUrl = await standBefore(emulated, {
      "/token": "/oauth2/token",
      "/revoke": "/oauth2/revoke",
      "/oauth2/v3/userinfo": "/oauth2/v2/userinfo",
    });
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

  test("Slack: the person's token, not the app's, and the team in who they are", async ({ expect }) => {
    const baseUrl = await emulate("slack", {
      users: [{ name: "anna", real_name: "Anna" }],
      oauth_apps: [app("slack")],
    });
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

/** A server that gives requests on under other paths. */
async function standBefore(url: string, paths: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const asked = new URL(request.url ?? "/", url);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
      const headers = Object.fromEntries(
        ["authorization", "content-type"].flatMap((name) => {
          const value = request.headers[name];
          return typeof value === "string" ? [[name, value]] : [];
        }),
      );
      const answer = await fetch(new URL((paths[asked.pathname] ?? asked.pathname) + asked.search, url), {
        method: request.method ?? "GET",
        headers,
        redirect: "manual",
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      const location = answer.headers.get("location");
      response.writeHead(answer.status, {
        "content-type": answer.headers.get("content-type") ?? "",
        ...(location !== null && { location }),
      });
      response.end(Buffer.from(await answer.arrayBuffer()));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  // A listening TCP server has an address with a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
