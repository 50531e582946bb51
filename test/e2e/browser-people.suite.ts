/** What people do in a browser, in a real one, against the built program on a data folder of its own. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import type { Page } from "playwright-core";
import { OWN_CLIENT_ID } from "#server/identity/oauth/policy.ts";
import { tempDir } from "../temp-dir.ts";
import { verifies } from "../requirements.ts";
import { type OpenProfile, settle, signInQuietly, untilFocused, type Visitor } from "./browser.ts";
import { startSmtp } from "../smtp.ts";
import { ADMIN, signInAdmin, startServerProcess, type ServerProcess } from "./server-process.ts";

const NO_ADMIN = { KB_BOOTSTRAP_EMAIL: "", KB_BOOTSTRAP_PASSWORD: "" };

/** `settled` is a server with an admin, which is shared with others. */
export function peopleDo(openBrowser: OpenProfile, settled: () => ServerProcess): void {
  const visit = (server: ServerProcess) => openBrowser(server.url);
  const startNew = (env: Record<string, string> = {}) =>
    startServerProcess(join(tempDir(), "data"), { KB_RATE_LIMITS: "off", ...NO_ADMIN, ...env });

  verifies(
    "auth:pat-settings-page",
    "a new installation gets its first admin, a token, and an answer to it",
    async ({ expect }) => {
      const server = await startNew();
      const { page, open, complaints } = await visit(server);
      await open("/");
      await page.getByRole("heading", { name: "Set up kb" }).waitFor();
      expect(await page.title()).toBe("Set up kb · kb");
      const fields = {
        "Setup code": "2222-2222-2222-2222-2222-2222-22",
        "Your name": "Anna Berger",
        "Email address": "anna@acme.test",
        Password: "blue kettle morning",
        "Workspace name": "Acme",
      };
      await fill(page, fields);
      await press(page, "Set up");
      // A wrong code is said, and nothing that was typed is lost.
      await page.getByRole("alert").waitFor();
      expect(await page.getByLabel("Your name").inputValue()).toBe("Anna Berger");
      await fill(page, { "Setup code": /Setup code: (\S+)/.exec(server.output())?.[1] ?? "" });
      await press(page, "Set up");
      await page.getByRole("heading", { name: "Search" }).waitFor();
      await page.getByRole("link", { name: "Get the address or a token" }).click();
      await page.getByRole("heading", { name: "MCP access" }).waitFor();
      const token = await makeToken(page, "Cursor");
      expect(await callTool(server, token)).toBe(200);

      // A reload shows the token's name, and nowhere its secret.
      await open("/settings/mcp-access");
      await page.getByRole("row", { name: /Cursor/ }).waitFor();
      expect(await page.content()).not.toContain(token);

      await press(page, "Revoke Cursor");
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await page.getByText("No tokens yet").waitFor();
      expect(await callTool(server, token)).toBe(401);
      expect(complaints).toEqual([]);
    },
  );

  test("a token is made with the keyboard alone, and the focus returns to where it was", async ({ expect }) => {
    const server = settled();
    const { page, open, complaints } = await visit(server);
    await open("/");
    // The first field has the focus.
    await untilFocused(page, "Email address");
    await page.keyboard.type(ADMIN.email);
    await page.keyboard.press("Tab");
    await page.keyboard.type(ADMIN.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Search" }).waitFor();
    await open("/settings/mcp-access");
    await settle(page);
    await tabTo(page, "Create token");
    await page.keyboard.press("Enter");
    await untilInside(page, "dialog");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await untilFocused(page, "Create token");

    await page.keyboard.press("Enter");
    await untilInside(page, "dialog");
    await tabTo(page, "Name");
    await page.keyboard.type("by hand");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Token created" }).waitFor();
    const token = await page.getByLabel("Token", { exact: true }).inputValue();
    expect(await callTool(server, token)).toBe(200);
    // Escape does not throw away what is shown this once.
    await page.keyboard.press("Escape");
    await page.getByText("Copy it before you close this dialog").waitFor();
    expect(await page.getByLabel("Token", { exact: true }).inputValue()).toBe(token);
    await tabTo(page, "Done");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await untilFocused(page, "Create token");

    // Theme by the menu: arrow keys, and Escape back to its button.
    await page.getByRole("button", { name: /Profile, theme/ }).focus();
    await page.keyboard.press("ArrowDown");
    await untilInside(page, "menu");
    await page.keyboard.type("d");
    await page.keyboard.press("Enter");
    await page.locator("html[data-theme=dark]").waitFor();
    await untilFocused(page, /Profile, theme/);
    expect(complaints).toEqual([]);
  });

  test("an invited person joins, and sees nothing of what is private to others", async ({ expect }) => {
    const server = settled();
    const anna = await visit(server);
    await signInQuietly(anna, ADMIN);
    const secret = await pushItem(anna, "private", "Salaries of next year");
    const shared = await pushItem(anna, "workspace", "Opening hours of next year");

    await anna.open("/workspace/invitations");
    await press(anna.page, "Invite someone");
    await fill(anna.page, { "Email address": "ben@acme.test" });
    await anna.page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
    const link = await anna.page.getByLabel("Link", { exact: true }).inputValue();
    expect(link).toMatch(/\/invite#token=\S{20,}$/);

    const ben = await visit(server);
    await ben.open(link.slice(server.url.length));
    // The secret is out of the address bar before anything is typed.
    expect(ben.page.url()).toBe(`${server.url}/invite`);
    // Who invites whom to what is said before anything is typed, and the address is not to be typed.
    await ben.page.getByText("admin invited ben@acme.test to Workspace.").waitFor();
    expect(await ben.page.getByLabel("Email address").inputValue()).toBe("ben@acme.test");
    expect(await ben.page.getByLabel("Email address").isEditable()).toBe(false);
    await fill(ben.page, { "Your name": "Ben Ito", Password: "green lamp evening" });
    await press(ben.page, "Join Workspace");
    await ben.page.getByRole("heading", { name: "Search" }).waitFor();

    for (const [visitor, kbId, heading] of [
      [anna, secret, "Salaries of next year"],
      [ben, secret, "Page not found"],
      [ben, "kbi_2222222222222222", "Page not found"],
      [ben, shared, "Opening hours of next year"],
    ] as const) {
      await visitor.open(`/i/${kbId}`);
      await visitor.page.getByRole("heading", { name: heading }).waitFor();
    }
    // What is hidden and what is not there read the same, letter by letter.
    const words = async (kbId: string) => {
      await ben.open(`/i/${kbId}`);
      await ben.page.getByRole("heading", { name: "Page not found" }).waitFor();
      return ben.page.locator("main").innerText();
    };
    expect(await words(secret)).toBe(await words("kbi_2222222222222222"));

    await ben.open("/settings/mcp-access");
    const found = await search(server, await makeToken(ben.page, "Ben's agent"), "next year");
    expect(found).toContain("Opening hours");
    expect(found).not.toContain("Salaries");
    await ben.open("/workspace/audit");
    await ben.page.getByText("Only admins can see this page").waitFor();

    // Opened again by somebody, the link says at once that it is over.
    await ben.context.clearCookies();
    await ben.open(link.slice(server.url.length));
    await ben.page.getByRole("heading", { name: "This invitation is no longer valid" }).waitFor();
    expect(await ben.page.getByRole("textbox").count()).toBe(0);
    expect([...anna.complaints, ...ben.complaints]).toEqual([]);
  });

  test("sign-up on a managed server gives a workspace of one's own", async ({ expect }) => {
    const smtp = await startSmtp({ disabledCommands: ["STARTTLS"] });
    const mail = { KB_SMTP_URL: smtp.at(), KB_MAIL_FROM: "kb@managed.test" };
    const server = await startNew({ ...mail, KB_MODE: "managed" });
    const { page, open, complaints } = await visit(server);
    await open("/sign-in");
    await page.getByRole("link", { name: "Create an account" }).click();
    await fill(page, {
      "Your name": "Carla Diaz",
      "Email address": "carla@solo.test",
      Password: "blue",
      "Workspace name": "Solo",
    });
    await press(page, "Create account");
    await page.getByLabel("Password", { exact: true }).and(page.locator("[aria-invalid=true]")).waitFor();
    await fill(page, { Password: "quiet river stone" });
    await press(page, "Create account");
    await page.getByText("We sent a link to").waitFor();
    await expect.poll(() => smtp.received.length).toBe(1);
    // Quoted-printable.
    const text = smtp.received[0]?.raw.replaceAll("=\r\n", "").replaceAll("=3D", "=") ?? "";
    await open(/\/confirm\S*#token=[\w-]{43}/.exec(text)?.[0] ?? "");
    await page.getByRole("heading", { name: "Confirmed" }).waitFor();
    await open("/settings/mcp-access");
    await page.getByRole("heading", { name: "MCP access" }).waitFor();
    await open("/workspace/members");
    await page.getByRole("row", { name: /Carla Diaz/ }).waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    expect(complaints).toEqual([]);
  });

  test("a new password is set by a link that an admin makes, and the former one is dead", async ({ expect }) => {
    const server = settled();
    const anna = await visit(server);
    await signInQuietly(anna, ADMIN);
    const ida = await addMember(server, { email: "ida@acme.test", password: "green lamp evening" }, "Ida Voss");

    await anna.open("/workspace/members");
    await press(anna.page, "Reset password of Ida Voss");
    const field = anna.page.getByLabel("Link", { exact: true });
    const link = await field.inputValue();
    await anna.page.keyboard.press("Escape");
    expect(await field.inputValue()).toBe(link);
    // Once it was copied, there is nothing to lose.
    await field.focus();
    await anna.page.keyboard.press("Control+c");
    await anna.page.keyboard.press("Escape");
    await anna.page.getByRole("dialog").waitFor({ state: "detached" });
    const visitor = await visit(server);
    await visitor.open(link.slice(server.url.length));
    expect(visitor.page.url()).toBe(`${server.url}/reset-password`);
    expect(await visitor.page.getByLabel("Email address").inputValue()).toBe(ida.email);
    await fill(visitor.page, { "New password": "another quiet river" });
    await press(visitor.page, "Set password and sign in");
    await visitor.page.getByRole("heading", { name: "Search" }).waitFor();
    const again = await post(`${server.url}/api/session`, ida, {});
    expect(again.status).toBe(401);
    // Used up: said before anybody chooses a password.
    await visitor.context.clearCookies();
    await visitor.open(link.slice(server.url.length));
    await visitor.page.getByRole("heading", { name: "This link is no longer valid" }).waitFor();
    expect(await visitor.page.getByLabel("New password").count()).toBe(0);
    expect([...anna.complaints, ...visitor.complaints]).toEqual([]);
  });

  test("who can read no connector is led to their accounts, and an admin to a connector", async ({ expect }) => {
    // Of its own: others connect things to the shared one.
    const server = await startServerProcess(join(tempDir(), "data"), { KB_RATE_LIMITS: "off" });
    const [anna, ida] = [await visit(server), await visit(server)];
    await signInQuietly(anna, ADMIN);
    await signInQuietly(
      ida,
      await addMember(server, { email: "nele@acme.test", password: "green lamp evening" }, "Nele Ott"),
    );
    await Promise.all([anna, ida].map(({ open }) => open("/workspace/connectors")));
    await anna.page.getByText("No connectors yet").waitFor();
    await ida.page.getByText("No connectors that you can read").waitFor();
    await ida.page.getByRole("link", { name: "Connect your accounts" }).click();
    await ida.page.getByRole("heading", { name: "Accounts", exact: true }).first().waitFor();
    expect([...anna.complaints, ...ida.complaints]).toEqual([]);
  });

  test("whose session ended signs in again and comes back to where they were", async ({ expect }) => {
    const server = settled();
    const visitor = await visit(server);
    const { context, page, open } = visitor;
    await signInQuietly(visitor, ADMIN);
    await context.clearCookies();
    await open("/workspace/groups?from=here");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await fill(page, { "Email address": ADMIN.email, Password: "not this one" });
    await press(page, "Sign in");
    await page.getByRole("alert").waitFor();
    await fill(page, { Password: ADMIN.password });
    await press(page, "Sign in");
    await page.getByRole("heading", { name: "Groups" }).waitFor();
    expect(page.url()).toBe(`${server.url}/workspace/groups?from=here`);
  });

  test("a client that asks is denied, then let in, and let in no longer", async ({ expect }) => {
    const server = settled();
    // Somebody of their own: no other test's client is connected to them.
    const who = await addMember(server, { email: "dora@acme.test", password: "quiet river stone" }, "Dora Lang");
    const { page, open, complaints } = await visit(server);
    const client = await makeClient(server.url, "Desk <b>agent</b>");

    await open(client.authorizeUrl);
    // Nobody is signed in: the way leads through the sign-in page and back.
    await fill(page, { "Email address": who.email, Password: who.password });
    await press(page, "Sign in");
    await page.getByRole("heading", { name: "Allow “Desk <b>agent</b>” to access Workspace?" }).waitFor();
    const words = await page.locator("main").innerText();
    expect(words).toContain("an app on this computer");
    expect(words).toContain("Search and read.");
    expect(words).toContain(who.email);
    await answer(page, "Deny");
    expect(await client.answer()).toMatchObject({ error: "access_denied" });

    await page.goto(client.authorizeUrl);
    await answer(page, "Allow");
    const { code } = await client.answer();
    const token = await client.redeem(code ?? "");
    expect(await callTool(server, token)).toBe(200);

    await open("/settings/mcp-access");
    await press(page, "Revoke Desk <b>agent</b>");
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No connected clients").waitFor();
    expect(await callTool(server, token)).toBe(401);

    // A token that the command line creates ends with its login, unless the person keeps it.
    const own = await makeClient(server.url, "kb", { isOwn: true });
    await page.goto(own.authorizeUrl);
    await answer(page, "Allow");
    const login = await own.redeem((await own.answer())["code"] ?? "");
    const created = await post(
      `${server.url}/api/api-tokens`,
      { name: "nightly" },
      { authorization: `Bearer ${login}` },
    );
    const { plaintext } = (await created.json()) as { plaintext: string };
    await open("/settings/mcp-access");
    await press(page, "Keep nightly");
    await page.getByRole("dialog").getByRole("button", { name: "Keep" }).click();
    await page.getByText("Token “nightly” kept").waitFor();
    await page.getByRole("button", { name: "Keep nightly" }).waitFor({ state: "detached" });
    await press(page, "Revoke kb command line");
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No connected clients").waitFor();
    expect([await callTool(server, login), await callTool(server, plaintext)]).toEqual([401, 200]);
    expect(complaints).toEqual([]);
  });

  test("a device is let in by the code that a person types", async ({ expect }) => {
    const server = settled();
    const visitor = await visit(server);
    const { page, open, complaints } = visitor;
    await signInQuietly(visitor, ADMIN);
    const device = await askAsDevice(server.url);
    // A code in the address is not taken: the person types what the device shows.
    await open(`/oauth/device?user_code=${device.user_code}`);
    expect(await page.getByLabel("Code").inputValue()).toBe("");
    await fill(page, { Code: "AAAA-BBBB" });
    await press(page, "Continue");
    await page.getByRole("alert").waitFor();
    await fill(page, { Code: device.user_code.toLowerCase() });
    await press(page, "Continue");
    await page.getByText("Only continue if you just started this yourself").waitFor();
    await press(page, "Allow");
    await page.getByRole("heading", { name: "Device connected" }).waitFor();
    expect(await device.poll()).toBe(200);
    expect(complaints).toEqual([]);
  });
}

async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
}

function press(page: Page, name: string): Promise<void> {
  return page.getByRole("button", { name, exact: true }).click();
}

/** Answers what a client asks, and waits until the browser is back at the client. */
async function answer(page: Page, name: "Allow" | "Deny"): Promise<void> {
  await press(page, name);
  await page.getByRole("heading", { name: "Back" }).waitFor();
}

/** A member who has accepted an invitation. */
async function addMember(
  server: ServerProcess,
  who: { email: string; password: string },
  name: string,
): Promise<typeof who> {
  const admin = await signInAdmin(server.url);
  const { json } = await admin("POST", "/api/workspace/invitations", { email: who.email, role: "member" });
  const token = String(json.url).split("#token=")[1];
  await post(`${server.url}/api/invitations/accept`, { ...who, token, name }, {});
  return who;
}

/** Makes a token on the page of MCP access, closes what shows it, and gives its secret. */
async function makeToken(page: Page, name: string): Promise<string> {
  await settle(page);
  await press(page, "Create token");
  await fill(page, { Name: name });
  await press(page, "Create token");
  const token = await page.getByLabel("Token", { exact: true }).inputValue();
  await press(page, "Done");
  return token;
}

/** The name of what has the focus, as it is read out. */
function focused(page: Page): Promise<string> {
  return page.evaluate(
    `((element) => element.ariaLabel ?? [...(element.labels?.length ? element.labels : [element])].map((one) => one.innerText).join(" "))(document.activeElement)`,
  );
}

/** Waits until what opened over the page has the focus: a key that is pressed before goes to what is below. */
async function untilInside(page: Page, role: "dialog" | "menu"): Promise<void> {
  const opened = page.getByRole(role);
  await opened.and(page.locator(":focus, :focus-within")).waitFor();
}

/** Presses Tab until this has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab");
    if ((await focused(page)) === name) return;
  }
  throw new Error(`"${name}" is not reached by keyboard.`);
}

async function post(url: string, body: unknown, headers: Record<string, string>): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

function mcp(server: ServerProcess, token: string, params: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, accept: "application/json, text/event-stream" };
  return post(`${server.url}/mcp`, { jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers);
}

/** The status of a search with this token; 200 only for an answer that is none of an error. */
async function callTool(server: ServerProcess, token: string): Promise<number> {
  const response = await mcp(server, token, { name: "kb_search", arguments: { query: "anything" } });
  const { error, result } = (await response.json()) as { error?: unknown; result?: { isError?: boolean } };
  if (response.status === 200 && (error !== undefined || result?.isError === true))
    throw new Error(JSON.stringify(error ?? result));
  return response.status;
}

async function search(server: ServerProcess, token: string, query: string): Promise<string> {
  return (await mcp(server, token, { name: "kb_search", arguments: { query } })).text();
}

/** Pushes one item through a connector of its own; gives its kbId. */
async function pushItem({ context }: Visitor, visibility: "private" | "workspace", title: string): Promise<string> {
  const { request } = context;
  const made = await request.post("/api/connectors", {
    data: { providerId: "push", name: title, config: {}, access: { visibility } },
  });
  const { connector, key } = await made.json();
  const item = {
    externalId: "1",
    kind: "page",
    title,
    text: `All about ${title}.`,
    access: { known: true, all: [["workspace"]] },
  };
  const url = new URL(made.url()).origin;
  await (
    await fetch(`${url}/api/connectors/${connector.id}/items`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" },
      body: `${JSON.stringify({ t: "upsert", item })}\n`,
    })
  ).text();
  const { files } = await (await request.get(`/api/connectors/all-files?connectorId=${connector.id}`)).json();
  return files[0].kbId;
}

const VERIFIER = "v".repeat(43);

/** A client on this computer that registers itself and waits for its answer. */
async function makeClient(url: string, name: string, { isOwn = false } = {}) {
  let resolve: (answer: Record<string, string>) => void = () => undefined;
  let answered: Promise<Record<string, string>>;
  const next = () => void (answered = new Promise((done) => (resolve = done)));
  next();
  const listener = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://127.0.0.1");
    response.setHeader("content-type", "text/html").end("<title>back</title><h1>Back</h1>");
    if (pathname === "/callback") resolve(Object.fromEntries(searchParams));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void listener.close());
  await new Promise((done) => listener.once("listening", done));
  // A listening TCP server has an address with a port.
  const redirectUri = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;
  const registered = await post(`${url}/oauth/register`, { client_name: name, redirect_uris: [redirectUri] }, {});
  const clientId = isOwn ? OWN_CLIENT_ID : ((await registered.json()) as { client_id: string }).client_id;
  const resource = isOwn ? `${url}/api` : `${url}/mcp`;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(VERIFIER));
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: isOwn ? "mcp:read kb:api" : "mcp:read",
    resource,
    state: "s",
    code_challenge: Buffer.from(digest).toString("base64url"),
    code_challenge_method: "S256",
  });
  return {
    authorizeUrl: `/oauth/authorize?${query}`,
    /** What came back to the client, once. */
    async answer() {
      const answer = await answered;
      next();
      return answer;
    },
    async redeem(code: string): Promise<string> {
      const body = new URLSearchParams({
        grant_type: "authorization_code",
        code,
        client_id: clientId,
        redirect_uri: redirectUri,
        code_verifier: VERIFIER,
        resource,
      });
      const { access_token: token } = (await (await fetch(`${url}/oauth/token`, { method: "POST", body })).json()) as {
        access_token: string;
      };
      return token;
    },
  };
}

/** The command line on a machine without a browser. */
async function askAsDevice(url: string) {
  const ask = (path: string, body: Record<string, string>) =>
    fetch(url + path, { method: "POST", body: new URLSearchParams(body) });
  const asked = await ask("/oauth/device_authorization", {
    client_id: "kb-cli",
    scope: "mcp:read kb:api",
    resource: `${url}/mcp`,
  });
  const { user_code, device_code } = (await asked.json()) as { user_code: string; device_code: string };
  return {
    user_code,
    async poll() {
      const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
      return (await ask("/oauth/token", { grant_type, device_code, client_id: "kb-cli" })).status;
    },
  };
}
