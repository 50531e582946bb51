/** Another kb as a provider server, with the sign-in of its own authorization server: two programs, and two people. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, test } from "vitest";
import { ADMIN, startServerProcess } from "../../e2e/server-process.ts";
import { tempDir } from "../../temp-dir.ts";

const SECRET = /(?:access|refresh)_token/;

/** A browser of one person at one server: cookies, and no redirect followed by itself. */
function makeBrowser(base: string) {
  const jar = new Map<string, string>();
  async function send(method: string, address: string, body?: unknown) {
    const answer = await fetch(new URL(address, base), {
      method,
      redirect: "manual",
      headers: {
        accept: "text/html, application/json",
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const text = await answer.text();
    // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every route
    const json: any = text.startsWith("{") ? JSON.parse(text) : undefined;
    return { status: answer.status, location: answer.headers.get("location") ?? "", json, text };
  }
  return {
    get: (path: string) => send("GET", path),
    post: (path: string, body: unknown) => send("POST", path, body),
    send,
  };
}

type Browser = ReturnType<typeof makeBrowser>;

/** Says yes at the other kb, as its page does; gives where the browser is sent back to. */
async function consent(there: Browser, address: string): Promise<string> {
  const asked = await there.get(address);
  const uid = /\/oauth\/consent\/([\w-]+)$/.exec(asked.location)?.[1] ?? "";
  const { json } = await there.get(`/oauth/consent/${uid}/request`);
  const decided = await there.post(`/oauth/consent/${uid}/decision`, { csrf: json.csrf, decision: "allow" });
  return (await there.get(decided.json.redirectTo)).location;
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe("another kb with OAuth", () => {
  test("is registered, connected, indexed, searched, shared, hidden, disconnected and purged", async ({ expect }) => {
    const dir = tempDir();
    const root = join(dir, "notes");
    mkdirSync(root, { recursive: true });
    writeFileSync(join(root, "lantern.md"), "# Lantern\n\nThe harbour lantern is lit at dusk.\n");
    const other = await startServerProcess(join(dir, "there"), { KB_LOCAL_ROOTS: root, KB_RATE_LIMITS: "off" });
    const dataDir = join(dir, "here");
    const kb = await startServerProcess(dataDir, {
      KB_RATE_LIMITS: "off",
      KB_ALLOW_PRIVATE_HOSTS: new URL(other.url).host,
    });

    const there = makeBrowser(other.url);
    await there.post("/api/session", ADMIN);
    const folder = { providerId: "filesystem", name: "Notes", config: { root }, access: { visibility: "workspace" } };
    await there.post("/api/connectors", folder);
    const search = (by: Browser) => by.get("/api/connectors/search?query=lantern").then(({ json }) => json.total);
    await until(async () => (await search(there)) === 1);

    const [admin, ben] = [makeBrowser(kb.url), makeBrowser(kb.url)];
    await admin.post("/api/session", ADMIN);
    const invited = await admin.post("/api/workspace/invitations", { email: "ben@acme.test", role: "member" });
    const token = invited.json.url.split("#token=")[1];
    const accepted = await ben.post("/api/invitations/accept", {
      token,
      name: "Ben",
      email: "ben@acme.test",
      password: ADMIN.password,
    });
    expect(accepted.status, accepted.text).toBe(201);

    // Registered: the test finds out that each person signs in.
    const added = await admin.post("/api/mcp-servers", {
      name: "Other",
      url: `${other.url}/mcp`,
      auth: { kind: "oauth" },
    });
    expect(added.json, added.text).toMatchObject({ test: { ok: true, authRequired: { scopes: ["mcp:read"] } } });
    const at = `/api/mcp-servers/${added.json.server.id}`;

    // Connected: our page, their page, ours again.
    const connect = async (reconnect?: string) => {
      const { json } = await admin.post(`${at}/connections/intents`, { app: "other", reconnect });
      const intent = json.intent.redirectUrl.split("#intent=")[1];
      const opened = await admin.post("/api/mcp-servers/intents/open", { intent });
      expect(opened.status, opened.text).toBe(200);
      const back = await consent(there, opened.json.url);
      expect(new URL(back).origin).toBe(kb.url);
      expect(new URL(back).searchParams.get("iss")).toBe(other.url);
      const { location } = await admin.get(back);
      expect(location).toMatch(/^\/connect\/found#found=/);
      const id = location.split("#found=")[1];
      return (await admin.post("/api/mcp-servers/intents/confirm", { id, isAccepted: true })).json.connection;
    };
    const connection = await connect();
    expect(connection).toMatchObject({ status: "active", account: null, scopes: ["mcp:read"] });

    // Indexed, by its tools as an admin maps them.
    const mapped = await admin.send("PUT", `${at}/mapping`, {
      mapping: {
        list: { tool: "kb_search", args: { query: "", limit: 50 }, argument: "cursor" },
        fetch: { tool: "kb_get_file_content", argument: "kbId" },
      },
      connectionId: connection.id,
    });
    expect(mapped.status, mapped.text).toBe(200);
    const made = await admin.post("/api/connectors", {
      providerId: "mcp",
      name: "Other",
      config: {},
      connectionId: connection.id,
      access: { visibility: "workspace" },
    });
    expect(made.status, made.text).toBe(201);
    await until(async () => (await search(admin)) === 1);

    // Shared and taken back: with the next request of the other person.
    expect(await search(ben)).toBe(0);
    const share = (visibility: string) =>
      admin.send("PATCH", `${at}/connections/${connection.id}/access`, { visibility });
    await share("workspace");
    expect(await search(ben)).toBe(1);
    await share("private");
    expect(await search(ben)).toBe(0);

    // Nobody can prove which account it is there: another sign-in is another connection.
    const again = await connect(connection.id);
    expect(again.id).not.toBe(connection.id);

    // Disconnected: gone at once, there too, and purged.
    const grants = () => there.get("/api/grants").then(({ json }) => json.grants.length);
    const before = await grants();
    expect(before).toBeGreaterThan(0);
    for (const { id } of [connection, again])
      expect((await admin.send("DELETE", `${at}/connections/${id}`)).status).toBe(202);
    expect(await search(admin)).toBe(0);
    await until(async () => (await grants()) === 0);
    const database = new DatabaseSync(join(dataDir, "kb.db"), { readOnly: true });
    const count = (table: string) => Number(database.prepare(`select count(*) as n from ${table}`).get()?.["n"]);
    await until(async () => count("items") === 0);
    expect([count("connection_secrets"), count("account_flows")]).toEqual([0, 0]);
    database.close();
    expect(kb.output()).not.toMatch(SECRET);
  }, 120_000);
});
