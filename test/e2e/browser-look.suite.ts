/** How every page looks to a checker, in both themes and on the narrowest screen, in a real browser. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import type { Request } from "playwright-core";
import { axeViolations, type OpenProfile, overflow, signInQuietly, untilFocused, type Visitor } from "./browser.ts";
import { tempDir } from "../temp-dir.ts";
import { ADMIN, cleanEnv, CLI, runKb, type ServerProcess, startServerProcess } from "./server-process.ts";

// No two in a row differ by the fragment alone: the second would not be loaded.
const ENTRY_PAGES = [
  "/welcome",
  "/invite",
  "/sign-in?returnTo=%2Fsettings%2Fprofile",
  "/sign-up",
  "/forgot-password",
  "/reset-password#token=abc",
  "/invite#token=abc",
  "/confirm#token=abc",
  "/no/such/page",
];

const INNER_PAGES = [
  "/search",
  "/settings/mcp-access",
  "/settings/reads",
  "/settings/accounts",
  "/settings/profile",
  "/settings/sessions",
  "/workspace/connectors",
  "/workspace/connectors/new",
  "/workspace/connectors/new/webdav",
  "/workspace/connectors/new/github",
  "/workspace/connectors/new/nonsense",
  "/workspace/servers",
  "/workspace/servers/new",
  "/workspace/servers/srv_2222222222222222",
  "/workspace/members",
  "/workspace/groups",
  "/workspace/invitations",
  "/workspace/events",
  "/workspace/general",
  "/workspace/audit",
  "/workspaces",
  "/oauth/device",
  "/oauth/consent/unknown",
  "/i/kbi_2222222222222222",
];

/** Kilobytes (1000 bytes, gzip) of scripts and styles that a first visit may load. */
const BUDGET_KB = 170;

/** `server` is shared with others, who leave it what they made. */
export function looks(visit: OpenProfile, server: () => ServerProcess): void {
  test("is clean in both themes and fits 320 pixels, before signing in", async ({ expect }) => {
    const visitor = await visit(server().url);
    expect(await lookAt(visitor, ENTRY_PAGES)).toEqual([]);
  });

  test("is clean in both themes and fits 320 pixels, signed in, with things in it", async ({ expect }) => {
    const visitor = await visit(server().url);
    await signInQuietly(visitor, ADMIN);
    const kbId = await fillWorkspace(visitor);
    expect(await lookAt(visitor, [...INNER_PAGES, `/i/${kbId}`, "/search?query=line&kind=task"])).toEqual([]);
  });

  test("search answers while someone types, by keys alone, and its address is the question", async ({ expect }) => {
    const visitor = await visit(server().url);
    const { page, open, complaints } = visitor;
    await signInQuietly(visitor, ADMIN);
    await pushNotes(visitor, [
      { externalId: "k1", kind: "task", title: "Descale the kettle", text: "The kettle drips.", status: "open" },
      { externalId: "k2", kind: "page", title: "Kettles we own", text: "One kettle, <b>two</b> spouts." },
      { externalId: "k3", kind: "file", title: "123 true", text: "A number and a word." },
    ]);
    await open("/");
    await untilFocused(page, "Search");
    await page.getByText("Get started").waitFor();
    await page.keyboard.type("kettle");
    await page.getByText("2 results, best match first").waitFor();
    expect(new URL(page.url()).search).toBe("?query=kettle");
    // What a text says is text.
    await page.getByText("<b>two</b> spouts").waitFor();
    expect(await page.locator("mark").first().textContent()).toMatch(/kettle/i);

    await page.getByLabel("Kind").selectOption({ label: "Task (1)" });
    await page.getByText("1 result, best match first").waitFor();
    expect(new URL(page.url()).search).toBe("?query=kettle&kind=task");
    await page.reload();
    await page.getByText("1 result, best match first").waitFor();
    expect(await page.getByLabel("Kind").inputValue()).toBe("task");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByText("2 results, best match first").waitFor();

    await page.getByLabel("Search").press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await page.evaluate("document.activeElement.closest('li').previousElementSibling !== null")).toBe(true);
    await page.keyboard.press("Escape");
    await untilFocused(page, "Search");

    await page.getByRole("button", { name: "Preview Descale the kettle" }).click();
    await page.getByRole("region", { name: "Text of Descale the kettle" }).getByText("The kettle drips.").waitFor();
    await page.getByRole("link", { name: "Descale the kettle" }).click();
    await page.getByRole("heading", { level: 1, name: "Descale the kettle" }).waitFor();
    await page.goBack();
    await page.getByText("2 results, best match first").waitFor();

    // A number is a word like any other, in the address too.
    await page.getByLabel("Search").fill("123");
    await page.getByRole("link", { name: "123 true" }).waitFor();
    expect(new URL(page.url()).search).toBe("?query=123");
    await open("/search?query=123");
    await page.getByRole("link", { name: "123 true" }).waitFor();
    await open("/search?query=kettle&kind=nonsense");
    await page.getByRole("alert").waitFor();
    expect(complaints).toEqual([]);
  });

  test("a folder is connected by its form: a wrong one is said beside it, a part is chosen, items appear by themselves", async ({
    expect,
  }) => {
    const visitor = await visit(server().url);
    const { page, open, complaints } = visitor;
    await signInQuietly(visitor, ADMIN);
    const notes = tempDir();
    await visitor.context.request.post("/api/local-roots", { data: { path: notes }, headers: server().operator() });
    for (const name of ["wanted", "other"]) mkdirSync(join(notes, name));
    writeFileSync(join(notes, "wanted/lamp.md"), "The lamp flickers.");
    writeFileSync(join(notes, "wanted/lamp.bin"), Buffer.from([0, 1, 2, 3]));
    writeFileSync(join(notes, "other/fan.md"), "The fan hums.");
    await open("/workspace/connectors");
    await page.getByRole("link", { name: "Add connector" }).click();
    await page.getByRole("link", { name: "Folder", exact: true }).click();
    const folder = page.getByLabel("Folder", { exact: true });
    await page.getByRole("button", { name: "Browse" }).click();
    await untilFocused(page, "Folder");
    await folder.fill("/etc");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("/etc is not inside an allowed folder.").waitFor();
    expect(await folder.getAttribute("aria-invalid")).toBe("true");
    await folder.fill(notes);
    await page.getByRole("button", { name: "Browse" }).click();
    await page.getByRole("button", { name: "Open wanted" }).click();
    await page.getByLabel("lamp.md").waitFor();
    await page.getByLabel("Find by name").fill("oth");
    await page.getByLabel("other", { exact: true }).waitFor();
    await page.getByLabel("wanted", { exact: true }).waitFor({ state: "detached" });
    await page.getByLabel("Find by name").fill("");
    await page.getByLabel("wanted", { exact: true }).check();
    await page.getByText("1 chosen.").waitFor();
    expect(await axeViolations(page, "all")).toEqual([]);
    await page.getByRole("button", { name: "Connect" }).click();

    // Nothing is reloaded: the page looks again while the first sync runs.
    await page.getByText("1 indexed, 1 without searchable text").first().waitFor();
    await page.getByRole("row", { name: /lamp\.bin kb can't read text/ }).waitFor();
    await page.getByRole("row", { name: /Succeeded/ }).waitFor();
    // The plan says what comes and what goes before anything is stored.
    const scope = page.locator("section").filter({ has: page.getByRole("heading", { name: "What it indexes" }) });
    await scope.getByRole("list", { name: "Included" }).getByText("wanted", { exact: true }).waitFor();
    await scope.getByRole("button", { name: "Change" }).click();
    const review = scope.getByRole("button", { name: "Review the change" });
    expect(await review.isDisabled()).toBe(true);
    await scope.getByRole("button", { name: "Browse" }).click();
    await scope.getByLabel("other", { exact: true }).check();
    await scope.getByRole("button", { name: "Open wanted" }).click();
    // What holds it is chosen, so it is too.
    expect(await scope.getByLabel("lamp.md").isDisabled()).toBe(true);
    await scope.getByRole("list", { name: "Chosen" }).getByRole("button", { name: "Remove wanted" }).click();
    await review.click();
    await scope.getByText("Adds at least 1 item").waitFor();
    await scope.getByText("Removes 2 of 2 items from search at once.").waitFor();
    expect(await axeViolations(page, "all")).toEqual([]);
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 860 });
    // Another choice takes another plan.
    await scope.getByLabel("wanted", { exact: true }).check();
    await scope.getByText("If you save this").waitFor({ state: "detached" });
    await scope.getByLabel("wanted", { exact: true }).uncheck();
    await review.click();
    await scope.getByRole("button", { name: "Save and sync" }).click();
    // What was removed is there to restore, and the new run is listed, without a reload.
    await page.getByText("Show them").click();
    await page
      .getByRole("row", { name: /^kbi_\w+ .*Restore/ })
      .first()
      .waitFor();
    await page.getByText("1 indexed", { exact: true }).first().waitFor();
    expect(await axeViolations(page, "all")).toEqual([]);
    await page.getByLabel("Name").fill("Lamps");
    await page.getByLabel("Who can see it").selectOption("members");
    await page.getByRole("checkbox", { name: "admin", exact: true }).check();
    expect(await axeViolations(page, "all")).toEqual([]);
    await page.getByLabel("Schedule").selectOption("60");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Lamps" }).waitFor();
    await page.getByText("Chosen members and groups").first().waitFor();
    expect(await page.getByRole("checkbox", { name: "admin", exact: true }).isChecked()).toBe(true);
    await page.getByText("Every 60 minutes").waitFor();
    expect(await axeViolations(page, "all")).toEqual([]);
    await page.getByRole("button", { name: "Delete connector" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Connectors" }).waitFor();
    await page.getByRole("row", { name: /Lamps/ }).waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  test("the first call of an agent completes the list of what is left to do, by the agent's name", async ({
    expect,
  }) => {
    const home = tempDir();
    const { url } = await startServerProcess(join(home, "data"), { KB_RATE_LIMITS: "off" });
    const visitor = await visit(url);
    const { page, open, complaints, context } = visitor;
    await signInQuietly(visitor, ADMIN);
    await pushNotes(visitor, [{ externalId: "k1", kind: "task", title: "Descale the kettle", text: "It drips." }]);
    const made = await context.request.post("/api/api-tokens", { data: { name: "Laptop", scopes: ["mcp:read"] } });
    const { plaintext } = await made.json();
    await open("/search");
    await page.getByRole("heading", { name: "Get started" }).waitFor();
    await page.getByRole("link", { name: "MCP access" }).click();
    const clientInfo = { name: "claude-code", title: "Claude Code", version: "2.0.14" };
    const messages = [
      { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
      { id: 2, method: "tools/call", params: { name: "kb_search", arguments: { query: "kettle" } } },
    ];
    const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
    const env = cleanEnv(home, { KB_TOKEN: plaintext });
    expect((await runKb(["mcp", "--url", url], { env, input })).stdout).toContain("Descale the kettle");

    // Nothing is reloaded, and the list is as it was left.
    await page.getByText(/Claude Code called kb_search/).waitFor();
    await page.getByRole("link", { name: "Search", exact: true }).click();
    const list = page.locator("section").filter({ has: page.getByRole("heading", { name: "You are set up" }) });
    await list.getByText(/Claude Code called kb_search/).waitFor();
    expect(await axeViolations(page, "all")).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await overflow(page)).toBe(0);
    await list.getByRole("button", { name: "Close" }).click();
    await list.waitFor({ state: "detached" });
    await open("/search");
    await page.getByRole("link", { name: "Descale the kettle" }).waitFor();
    expect(await list.count()).toBe(0);
    await open("/settings/reads");
    await page.getByText("“Claude Code 2.0.14”").waitFor();
    expect(complaints).toEqual([]);
  });

  test("a key of several lines is taken from its file", async ({ expect }) => {
    const visitor = await visit(server().url);
    const { page, open, complaints } = visitor;
    await signInQuietly(visitor, ADMIN);
    await open("/workspace/connectors/new/github");
    const file = (text: string) => ({ name: "app.pem", mimeType: "text/plain", buffer: Buffer.from(text) });
    const key = "-----BEGIN KEY-----\nabc\n-----END KEY-----\n";
    await page.getByLabel("File for private key").setInputFiles(file(key));
    await expect.poll(() => page.getByLabel(/^Private key/).inputValue()).toBe(key);
    await page.getByLabel("File for private key").setInputFiles(file("x".repeat(100_000)));
    await page.getByText("app.pem is too large to be a key.").waitFor();
    expect(await page.getByLabel(/^Private key/).inputValue()).toBe(key);
    expect(complaints).toEqual([]);
  });

  test("is clean where something is open over it", async ({ expect }) => {
    const visitor = await visit(server().url);
    const { page, open, complaints } = visitor;
    await signInQuietly(visitor, ADMIN);
    const found: string[] = [];
    const look = async (what: string) => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const violations = await axeViolations(page, colorScheme === "light" ? "all" : "colours");
        found.push(...violations.map((violation) => `${what}, ${colorScheme}: ${violation}`));
      }
    };
    await open("/settings/mcp-access");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByRole("dialog").waitFor();
    await look("making a token");
    await page.getByLabel("Name", { exact: true }).fill("x");
    await page.getByRole("button", { name: "Create token", exact: true }).click();
    await page.getByLabel("Token", { exact: true }).waitFor();
    await look("a token's secret");
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Revoke x" }).click();
    await page.getByRole("dialog", { name: /Revoke/ }).waitFor();
    await look("revoking");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: /Profile, theme/ }).click();
    await page.getByRole("menu").waitFor();
    await look("the menu");
    await page.setViewportSize({ width: 320, height: 640 });
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Navigation" }).click();
    await page.getByRole("dialog").waitFor();
    await look("the navigation of a narrow screen");
    expect(await overflow(page)).toBe(0);
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByRole("heading", { name: "Members" }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect([...found, ...complaints]).toEqual([]);
  });

  test(`loads at most ${BUDGET_KB} kB on a first visit, signed in or not`, async ({ expect }) => {
    const visitor = await visit(server().url);
    const front = await weigh(visitor, "/");
    await signInQuietly(visitor, ADMIN);
    const inside = await weigh(visitor, "/");
    process.stdout.write(
      `web page: ${front.toFixed(1)} kB to the sign-in, ${inside.toFixed(1)} kB to the first page inside (gzip)\n`,
    );
    expect(Math.max(front, inside)).toBeLessThanOrEqual(BUDGET_KB);
  });
}

/** Opens each page and gives all that is wrong with it: by axe in both themes, by its width, by its own complaints. */
async function lookAt({ page, open, complaints }: Visitor, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    await page.emulateMedia({ colorScheme: "light" });
    await open(path);
    const title = await page.title();
    if (!/^\S.* · kb$/.test(title)) found.push(`${path}: its title is "${title}"`);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = await axeViolations(page, colorScheme === "light" ? "all" : "colours");
      found.push(...violations.map((violation) => `${path}, ${colorScheme}: ${violation}`));
    }
    await page.setViewportSize({ width: 320, height: 640 });
    const tooWide = await overflow(page);
    if (tooWide > 0) found.push(`${path}: ${tooWide} pixels too wide`);
    await page.setViewportSize({ width: 1280, height: 860 });
    found.push(...complaints.splice(0).map((complaint) => `${path}: ${complaint}`));
  }
  return found;
}

/** Long names, every kind of row: what makes pages too wide. Gives the kbId of an item. */
async function fillWorkspace(visitor: Visitor): Promise<string> {
  const { request } = visitor.context;
  const post = async (path: string, data: unknown) => (await request.post(path, { data })).json();
  const long = "a-name-without-any-blank-that-is-as-long-as-names-get-in-practice-and-then-some-more";
  await post("/api/api-tokens", { name: long, scopes: ["mcp:read", "kb:api", "kb:admin"], expiresInDays: 90 });
  await post("/api/workspace/invitations", { email: `${long}@subsidiary.acme.test`, role: "admin" });
  const { group } = await post("/api/groups", { name: "Research" });
  await post("/api/groups", { name: long, groupIds: [group.id] });
  await pushNotes(visitor, [
    {
      externalId: "1",
      kind: "task",
      title: `${long} ${long}`,
      url: `https://notes.acme.test/${long}`,
      path: ["Handbook", long],
      text: `${long}${long}\n\nA line.`,
      status: "open",
    },
  ]);
  const { files } = await (await request.get("/api/connectors/all-files")).json();
  return files[0].kbId;
}

/** Pushes items that the whole workspace can read, through a connector of their own. */
async function pushNotes({ context: { request } }: Visitor, items: readonly object[]): Promise<void> {
  const made = await request.post("/api/connectors", {
    data: { providerId: "push", name: "Notes", config: {}, access: { visibility: "workspace" } },
  });
  const { connector, key } = await made.json();
  const access = { known: true, all: [["workspace"]] };
  const answer = await fetch(`${new URL(made.url()).origin}/api/connectors/${connector.id}/items`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" },
    body: items.map((item) => `${JSON.stringify({ t: "upsert", item: { ...item, access } })}\n`).join(""),
  });
  await answer.text();
}

/** Kilobytes of the scripts and styles that were asked for, as gzip makes them. */
async function weigh({ page, open }: Visitor, path: string): Promise<number> {
  const asked = new Set<string>();
  const note = (request: Request) => {
    const { pathname } = new URL(request.url());
    if (/\.(?:js|css)$/.test(pathname)) asked.add(pathname);
  };
  page.on("request", note);
  await open(path);
  page.off("request", note);
  const sizes = [...asked].map((name) => {
    const file = join(CLI, "..", "web", `${name}.gz`);
    return existsSync(file) ? readFileSync(file).length : 0;
  });
  return sizes.reduce((sum, size) => sum + size, 0) / 1000;
}
