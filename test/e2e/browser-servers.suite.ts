/** Adding an MCP server of others and connecting it, in a real browser, against the built program. */
import { mkdirSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { test } from "vitest";
import { INITIALIZED, send, startRaw } from "../mcp-client/servers.ts";
import { startAuthServer } from "../server/provider-servers/auth-server.ts";
import { tempDir } from "../temp-dir.ts";
import { axeViolations, type OpenProfile, overflow, settle, signInQuietly } from "./browser.ts";
import { ADMIN, freePort, signInAdmin, startServerProcess } from "./server-process.ts";

/** An MCP server that takes tokens which begin with `good`, until it is told to fail. */
async function startNotes(): Promise<{ url: string; state: { isBroken: boolean } }> {
  const state = { isBroken: false };
  const guarded = (result: () => unknown) => (ask: { request: IncomingMessage; response: ServerResponse }) => {
    if (!state.isBroken && ask.request.headers.authorization?.startsWith("Bearer good") === true) return result();
    ask.response.writeHead(state.isBroken ? 500 : 401).end();
    return undefined;
  };
  const url = await startRaw({
    initialize: guarded(() => INITIALIZED()),
    "tools/list": guarded(() => ({ tools: TOOLS })),
    "tools/call": guarded(() => ({
      content: [{ type: "text", text: JSON.stringify([{ id: "n1", title: "The plan", text: "Ship on Friday." }]) }],
    })),
    "resources/list": guarded(() => ({ resources: [] })),
    "resources/templates/list": guarded(() => ({ resourceTemplates: [] })),
  });
  return { url, state };
}

const text = { type: "string" };
const TOOLS = [
  {
    name: "find_notes",
    description: "Finds notes by their words.",
    inputSchema: {
      type: "object",
      properties: { words: text, limit: { type: "integer", description: "At most so many" } },
      required: ["words"],
    },
    annotations: { readOnlyHint: true },
  },
  { name: "drop_note", inputSchema: { type: "object", properties: { id: text }, required: ["id"] } },
];

/** Whether all of it is on the screen, without scrolling. */
async function isOnScreen(what: Locator): Promise<boolean> {
  const box = await what.boundingBox();
  const height = what.page().viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}

export function peopleConnectServers(openBrowser: OpenProfile): void {
  test("an admin tests and adds a server, connects it, shares it, and takes it all away", async ({ expect }) => {
    const notes = await startNotes();
    const server = await startServerProcess(join(tempDir(), "data"), {
      KB_RATE_LIMITS: "off",
      KB_ALLOW_PRIVATE_HOSTS: new URL(notes.url).host,
    });
    const visitor = await openBrowser(server.url);
    const { page, open, complaints, context } = visitor;
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
    const found: string[] = [];
    const look = async (what: string) => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const violations = await axeViolations(page, colorScheme === "light" ? "all" : "colours");
        found.push(...violations.map((violation) => `${what}, ${colorScheme}: ${violation}`));
      }
      await page.emulateMedia({ colorScheme: "light" });
    };
    await signInQuietly(visitor, ADMIN);
    await open("/workspace/servers");
    await page.getByText("No provider servers yet").waitFor();
    await page.getByRole("link", { name: "Add server" }).click();

    // What fails says at which step and what to do, and changed settings are tested again.
    await page.getByLabel("URL").fill("https://10.1.2.3/mcp");
    await press("Test");
    await page.getByRole("heading", { name: "The test failed" }).waitFor();
    await page.getByText("KB_ALLOW_PRIVATE_HOSTS").waitFor();
    await look("a failed test");
    // What comes next is on the screen.
    await page.setViewportSize({ width: 1280, height: 500 });
    await press("Test again");
    await page.getByRole("button", { name: "Add it anyway" }).and(page.locator(":enabled")).waitFor();
    await expect.poll(() => isOnScreen(page.getByRole("button", { name: "Add it anyway" }))).toBe(true);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByLabel("URL").fill(notes.url);
    await page.getByRole("heading", { name: "The test failed" }).waitFor({ state: "detached" });
    await page.getByLabel("Sign-in").selectOption("bearer");
    await page.getByLabel(/^Token/).fill("bad");
    await press("Test");
    await page.getByText("The server asks you to sign in.").waitFor();
    await page.getByLabel(/^Token/).fill("good-of-the-server");
    await press("Test");
    await page.getByRole("heading", { name: "The test passed" }).waitFor();
    await page.getByText("Found fake 1", { exact: false }).waitFor();
    await look("a test that passed");
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByLabel(/^Name/).fill("Notes");
    await press("Add server");
    await page.getByRole("heading", { level: 1, name: "Notes" }).waitFor();
    await page.getByText("Healthy").waitFor();
    expect(await page.content()).not.toContain("good-of-the-server");

    // A connection is its owner's alone until they share it.
    await press("Connect: Notes");
    await page
      .getByLabel(/^Token/)
      .last()
      .waitFor();
    await look("connecting");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/^Token/).fill("bad");
    await dialog.getByRole("button", { name: "Connect", exact: true }).click();
    await dialog.getByText("The server asks you to sign in.").waitFor();
    await dialog.getByLabel(/^Token/).fill("good-of-mine");
    await dialog.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("Only you see what it reads.").waitFor();
    await press("Test Notes");
    await page.getByRole("list", { name: "Steps of the test" }).waitFor();
    await press("Who can see it: Notes");
    await dialog.getByLabel("Who can see it").selectOption("workspace");
    await look("sharing");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Everyone in the workspace sees what it reads.").waitFor();

    // An admin looks at what a tool gives before kb uses it.
    await page.getByLabel("Ask with").selectOption({ label: "Your connection Notes" });
    await press("Show tools");
    await press("Choose a tool: Search live");
    await dialog.getByLabel("Query to try").fill("plan");
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText("The plan").waitFor();
    await look("a preview");
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 860 });
    await dialog.getByRole("button", { name: "Use this tool" }).click();
    await page.getByRole("button", { name: "Stop: Search live" }).waitFor();
    await look("mapped tools");
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 860 });

    // A connector is built on a connection of one's own.
    const here = page.url();
    await page.getByRole("link", { name: "Add connector: Notes" }).click();
    await page.getByLabel("Connection").waitFor();
    // Whom its owner shows the connection sees the connector too, unless its owner says otherwise.
    await expect.poll(() => page.getByLabel("Who can see it").inputValue()).toBe("workspace");
    await look("a connector on a connection");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Notes" }).waitFor();
    await page.goto(here);
    await page.getByText("Everyone in the workspace sees what it reads.").waitFor();

    // What changes elsewhere shows by itself.
    const { servers } = await (await context.request.get("/api/mcp-servers")).json();
    const at = `/api/mcp-servers/${servers[0].id}`;
    const { connections } = await (await context.request.get(`${at}/connections`)).json();
    await context.request.patch(`${at}/connections/${connections[0].id}/access`, { data: { visibility: "private" } });
    await page.getByText("Only you see what it reads.").waitFor();
    notes.state.isBroken = true;
    await press("Test now");
    await page.getByRole("heading", { name: "The test failed" }).waitFor();
    await page.getByText("Down", { exact: true }).waitFor();
    await press("Close");
    await page.getByText("kb checks again", { exact: false }).waitFor();
    await settle(page);
    await look("a server that is down");
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 860 });

    await press("Disconnect Notes");
    await dialog.getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("No connections yet").waitFor();
    await press("Delete server");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No provider servers yet").waitFor();
    expect([...found, ...complaints]).toEqual([]);
  });

  test("a member signs in to an app with OAuth: our page, the provider's, who was found, and again", async ({
    expect,
  }) => {
    const there = await startAuthServer();
    const server = await startServerProcess(join(tempDir(), "data"), {
      KB_RATE_LIMITS: "off",
      KB_ALLOW_PRIVATE_HOSTS: new URL(there.url).host,
    });
    const visitor = await openBrowser(server.url);
    const { page, open, complaints, context } = visitor;
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
    const found: string[] = [];
    const look = async (what: string) => {
      await page.setViewportSize({ width: 320, height: 640 });
      expect(await overflow(page)).toBe(0);
      await page.setViewportSize({ width: 1280, height: 860 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const violations = await axeViolations(page, colorScheme === "light" ? "all" : "colours");
        found.push(...violations.map((violation) => `${what}, ${colorScheme}: ${violation}`));
      }
      await page.emulateMedia({ colorScheme: "light" });
    };
    await signInQuietly(visitor, ADMIN);
    // The test of a server says how its people sign in, and where.
    const host = new URL(there.url).host;
    await open("/workspace/servers/new");
    await page.getByLabel("URL").fill(`${there.url}/mcp`);
    await press("Test");
    await page.getByText(`People sign in at ${host}. Choose “OAuth” as the sign-in.`).waitFor();
    await page.getByLabel("Sign-in").selectOption("oauth");
    await press("Test");
    await page.getByText(`asks each person to sign in at ${host}.`, { exact: false }).waitFor();
    // A client is registered with the redirect URL, which the server has from the start.
    await page.getByText("If it can't, save first", { exact: false }).waitFor();
    expect(await page.getByLabel("Client ID").count()).toBe(0);
    there.metadata = { registration_endpoint: undefined };
    await press("Test again");
    await page.getByText("Clients can't register themselves there.", { exact: false }).waitFor();
    await look("a server where an admin registers kb");
    await press("Add server");
    await page.getByRole("heading", { level: 1, name: host }).waitFor();
    const redirectUrl = await page.getByLabel("Redirect URL", { exact: true }).inputValue();
    expect(redirectUrl).toMatch(new RegExp(`^${server.url}/api/mcp-servers/callback/[\\w-]{16}$`));
    await page.getByLabel(/^Client ID/).fill("kb-there");
    await press("Save");
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(await page.getByLabel("Redirect URL", { exact: true }).inputValue()).toBe(redirectUrl);
    await look("a server with a client of an admin's");
    await press("Delete server");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No provider servers yet").waitFor();
    there.metadata = {};

    const body = { name: "Notes", url: `${there.url}/mcp`, auth: { kind: "oauth" } };
    const added = await context.request.post("/api/mcp-servers", { data: body });
    const { id } = (await added.json()).server;
    await open(`/workspace/servers/${id}`);
    await page.getByText("Connect it first: the server lists its tools only for people who signed in.").waitFor();
    await press("Connect: Notes");
    await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
    await page.getByRole("heading", { name: "Connect Notes?" }).waitFor();
    expect(page.url()).toBe(`${server.url}/connect`);
    await look("what would be connected");
    await press(`Continue to ${new URL(there.url).host}`);
    await page.getByRole("heading", { name: "Is this you?" }).waitFor();
    expect(page.url()).toBe(`${server.url}/connect/found`);
    await look("who was found");
    await press("Connect anna@notes.test");
    await page.getByText("You are connected.").waitFor();
    await page.getByText("as anna@notes.test", { exact: false }).waitFor();
    await look("a connection");
    await press("Show tools");
    await page.getByText("0 tools").waitFor();

    // The same account again, in one click there and none here.
    await press("Sign in again: Notes");
    await page.getByRole("heading", { name: "Sign in to Notes again?" }).waitFor();
    await press(`Continue to ${new URL(there.url).host}`);
    await page.getByText("You are connected.").waitFor();
    await open("/connect");
    await page.getByRole("heading", { name: "Nothing to connect" }).waitFor();
    await look("a link without anything");
    expect([...found, ...complaints]).toEqual([]);
  });

  test("a server that wants a page opened first: its host on a button, our page in between, and then on", async ({
    expect,
  }) => {
    const state = { isAgreed: false };
    const url = await startRaw({
      initialize: ({ response, id }) => {
        if (state.isAgreed) return INITIALIZED();
        const elicitations = [
          { mode: "url", elicitationId: "1", url: "https://agree.notes.test/terms?planted=1", message: "" },
        ];
        send(response, { jsonrpc: "2.0", id, error: { code: -32_042, message: "PLANTED", data: { elicitations } } });
        return undefined;
      },
      "tools/list": () => ({ tools: TOOLS }),
      "resources/list": () => ({ resources: [] }),
      "resources/templates/list": () => ({ resourceTemplates: [] }),
    });
    const server = await startServerProcess(join(tempDir(), "data"), {
      KB_RATE_LIMITS: "off",
      KB_ALLOW_PRIVATE_HOSTS: new URL(url).host,
    });
    const visitor = await openBrowser(server.url);
    const { page, open, complaints, context } = visitor;
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
    const opened: string[] = [];
    await context.route("https://agree.notes.test/**", (route) => {
      opened.push(route.request().url());
      return route.fulfill({ contentType: "text/html", body: "<title>Terms</title><h1>Terms</h1>" });
    });
    await signInQuietly(visitor, ADMIN);
    const body = { name: "Notes", url, auth: { kind: "none" }, force: true };
    const added = await context.request.post("/api/mcp-servers", { data: body });
    const { id } = (await added.json()).server;
    await open(`/workspace/servers/${id}`);
    await press("Connect: Notes");
    await page.getByRole("dialog").getByRole("button", { name: "Connect", exact: true }).click();
    await page
      .getByText("The server wants you to open a page first. When you have finished there", { exact: false })
      .waitFor();
    // Its address can be a secret: the page has only the host.
    expect(await page.content()).not.toContain("planted");
    expect(await axeViolations(page)).toEqual([]);
    await press("Open agree.notes.test");
    await page.getByRole("heading", { name: "Open a page for Notes?" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/connect");
    expect(opened).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    await press("Continue to agree.notes.test");
    await page.getByRole("heading", { name: "Terms" }).waitFor();
    expect(opened).toEqual(["https://agree.notes.test/terms?planted=1"]);

    state.isAgreed = true;
    await open(`/workspace/servers/${id}`);
    await press("Test Notes");
    await page.getByText("Connected", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Open agree.notes.test" }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("a member connects another kb, shares what it reads, takes it back and disconnects", async ({ expect }) => {
    const dir = tempDir();
    const root = join(dir, "notes");
    mkdirSync(root, { recursive: true });
    writeFileSync(join(root, "lantern.md"), "# Lantern\n\nThe harbour lantern is lit at dusk.\n");
    // Of another name, so that the cookies of the two don't mix.
    const port = String(await freePort());
    const at = `localhost:${port}`;
    const env = { KB_LOCAL_ROOTS: root, KB_RATE_LIMITS: "off", KB_PUBLIC_URL: `http://${at}` };
    const [there, server] = await Promise.all([
      startServerProcess(join(dir, "there"), env, undefined, { port }),
      startServerProcess(join(dir, "here"), {
        KB_RATE_LIMITS: "off",
        KB_ALLOW_PRIVATE_HOSTS: `${at},127.0.0.1:${port}`,
      }),
    ]);
    const callThere = await signInAdmin(there.url);
    const folder = { providerId: "filesystem", name: "Notes", config: { root }, access: { visibility: "workspace" } };
    await callThere("POST", "/api/connectors", folder);
    const call = await signInAdmin(server.url);
    const add = (url: string) => call("POST", "/api/mcp-servers", { name: "Other", url, auth: { kind: "oauth" } });
    const search = async (more = "") => (await call("GET", `/api/connectors/search?query=lantern${more}`)).json;

    // Two members, each in a browser of their own; the admin looks on over HTTP.
    const { json } = await call("POST", "/api/workspace/invitations", { email: "anna@acme.test", role: "member" });
    const visitor = await openBrowser(server.url);
    const { page, open, complaints, context } = visitor;
    const token = json.url.split("#token=")[1];
    const anna = { token, name: "Anna", email: "anna@acme.test", password: ADMIN.password };
    expect((await context.request.post("/api/invitations/accept", { data: anna })).status()).toBe(201);
    const press = (name: string | RegExp) => page.getByRole("button", { name, exact: true }).click();
    const dialog = page.getByRole("dialog");

    // Each name of this machine is a name of the server there, and its metadata names the one that was asked.
    const twin = await call("POST", "/api/mcp-servers/connection-tests", {
      url: `http://127.0.0.1:${port}/mcp`,
      auth: { kind: "oauth" },
    });
    expect(twin.json.authRequired).toBeDefined();
    expect(twin.json.authRequired.problem).toBeUndefined();
    const { id } = (await add(`http://${at}/mcp`)).json.server;
    await open(`/workspace/servers/${id}`);
    await press("Connect: Other");
    await dialog.getByLabel("Who can see it").selectOption("workspace");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await press(`Continue to ${at}`);
    // There: sign in, and say yes.
    await page.getByLabel("Email").fill(ADMIN.email);
    await page.getByLabel("Password", { exact: true }).fill(ADMIN.password);
    await press(/^Sign in/);
    expect(new URL(page.url()).host).toBe(at);
    await press("Allow");
    // Here again.
    await press("Connect");
    await page.getByText("You are connected.").waitFor();
    const here = page.url();

    // A connector without anything to read says so where it can be seen, though the field is folded away.
    await page.getByRole("link", { name: "Add connector: Other" }).click();
    await page.getByLabel("Connection").waitFor();
    await press("Connect");
    await page.getByText("There is nothing to read", { exact: false }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const mapping = {
      list: { tool: "kb_search", args: { query: "" }, argument: "cursor" },
      search: { tool: "kb_search", argument: "query" },
      fetch: { tool: "kb_get_file_content", argument: "kbId" },
    };
    const { connections } = await (await context.request.get(`/api/mcp-servers/${id}/connections`)).json();
    expect(connections).toMatchObject([{ status: "active", isMine: true }]);
    // The connection is Anna's alone to use, so the admin maps with one of their own, made in her browser as theirs.
    await signInQuietly(visitor, ADMIN);
    await open(`/workspace/servers/${id}`);
    await press("Connect: Other");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await press(`Continue to ${at}`);
    await press("Allow");
    await press("Connect");
    await page.getByText("You are connected.").waitFor();
    await press("Show tools");
    await press("Choose a tool: List everything");
    expect(await dialog.getByLabel("Tool", { exact: true }).inputValue()).toBe("kb_search");
    expect(await dialog.getByLabel("Argument for the cursor").inputValue()).toBe("cursor");
    // An empty text is one, too: a search for everything.
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText("Lantern", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Use this tool" }).click();
    await page.getByRole("button", { name: "Stop: List everything" }).waitFor();
    const own = (await call("GET", `/api/mcp-servers/${id}/connections`)).json.connections;
    const mine = own.find((one: { isMine: boolean }) => one.isMine).id;
    const mapped = await call("PUT", `/api/mcp-servers/${id}/mapping`, { mapping, connectionId: mine });
    expect(mapped.status, JSON.stringify(mapped.json)).toBe(200);

    // Anna shares what it reads, so she agrees to the admin's mapping first. Then she indexes it; the admin, who isn't her, finds it from then on, and live only through the connection of their own.
    const again = { email: "anna@acme.test", password: ADMIN.password };
    await signInQuietly(visitor, again);
    await open(new URL(here).pathname);
    await page.getByText("With your sign-in, kb would call:").waitFor();
    expect(await page.getByRole("link", { name: "Add connector: Other" }).count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
    await press("Agree: Other");
    await page.getByRole("link", { name: "Add connector: Other" }).click();
    await page.getByLabel("Connection").waitFor();
    await press("Connect");
    await page.getByRole("heading", { level: 1, name: "Other" }).waitFor();
    await expect.poll(async () => (await search()).total, { timeout: 30_000 }).toBe(1);
    const { live } = await search("&live=true");
    expect(live.connections.map(({ connectionId }: { connectionId: string }) => connectionId)).toEqual([mine]);
    expect(live.hits).toMatchObject([{ title: "Lantern" }]);

    // Private: gone with the next request of somebody else. Disconnected: gone, and ended there.
    await open(new URL(here).pathname);
    await press("Who can see it: Other");
    await dialog.getByLabel("Who can see it").selectOption("private");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Only you see what it reads.").waitFor();
    expect((await search()).total).toBe(0);
    const grants = async () => (await callThere("GET", "/api/grants")).json.grants.length;
    expect(await grants()).toBe(2);
    await press("Disconnect Other");
    await dialog.getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("Other is disconnected").waitFor();
    await expect.poll(grants).toBe(1);
    expect(complaints).toEqual([]);
    expect(server.output()).not.toMatch(/(?:access|refresh)_token/);
  });
}
