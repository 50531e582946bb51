import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { kb, makeWorld, type FakeWorld } from "./fakes.ts";

const WIKI = {
  providerId: "wiki",
  name: "Wiki",
  kinds: ["page"],
  auth: "credentials",
  authTypes: ["credentials"],
  available: true,
  acl: "container",
  capabilities: ["sync"],
  configSchema: {
    required: ["url", "edition"],
    properties: {
      url: { type: "string", title: "Address", description: "Of the wiki." },
      edition: { type: "string", title: "Edition", enum: ["cloud", "own"] },
      depth: { type: "integer", default: 3 },
    },
  },
  credentialsSchema: {
    required: ["token"],
    properties: { token: { type: "string", title: "Token", format: "password" } },
  },
};

function world(source: object = WIKI, more: Partial<FakeWorld> = {}): FakeWorld {
  const connector = { id: "con_aaaa2222aaaa2222", name: "Wiki" };
  return makeWorld({
    routes: {
      "GET /api/connectors/sources": { body: { sources: [source] } },
      "GET /api/connectors": { body: { connectors: [{ name: "Team" }], nextCursor: null } },
      "POST /api/connectors": { status: 201, body: { connector, sync: null } },
    },
    ...more,
  });
}

const sentBy = async (here: FakeWorld, ...argv: string[]) => {
  const { sent, code, stderr } = await kb(here, "connectors", "add", "wiki", ...argv);
  return { code, stderr, body: sent.findLast(({ method }) => method === "POST")?.body };
};

describe("connectors add", () => {
  test("asks on a terminal for the settings and secrets that are missing, by the source's own words", async ({
    expect,
  }) => {
    const asked: string[] = [];
    const prompts: FakeWorld["prompts"] = {
      text: async (message) => (asked.push(message), "https://wiki.test/team"),
      select: async (message, choices) => (asked.push(message), choices[1]?.value ?? ""),
      password: async (message) => (asked.push(message), "secret"),
    };
    const { body, stderr } = await sentBy(world(WIKI, { isTty: true, prompts }));
    expect(asked).toEqual(["Address: Of the wiki.", "Edition", "Token"]);
    expect(body).toEqual({
      providerId: "wiki",
      // Another connector is called Team.
      name: "team 2",
      config: { url: "https://wiki.test/team", edition: "own" },
      access: { visibility: "private" },
      credentials: { token: "secret" },
    });
    expect(stderr).not.toContain("secret");
  });

  test("asks for no secret that was given, and for none of a source that is read without", async ({ expect }) => {
    const settings = ["--set", "url=https://wiki.test", "--set", "edition=own"];
    const here = { isTty: true, env: { ...makeWorld().env, WIKI_TOKEN: "from outside" } };
    const referred = await sentBy(world(WIKI, here), ...settings, "--credential", "token=env:WIKI_TOKEN");
    expect(referred.body).toMatchObject({ credentials: { token: "from outside" } });

    const open = { ...WIKI, authTypes: ["credentials", "none"] };
    const declined = await sentBy(world(open, { isTty: true, prompts: { confirm: async () => false } }), ...settings);
    expect(declined.body).not.toHaveProperty("credentials");
  });

  test("asks for no sign-in to a path of the server, and for no address that an account knows", async ({ expect }) => {
    const git = { ...WIKI, authTypes: ["credentials", "none"] };
    const url = { ...WIKI.configSchema.properties.url, localPath: "dotted" };
    const properties = { ...WIKI.configSchema.properties, url };
    const local = { ...git, configSchema: { ...WIKI.configSchema, properties } };
    const settings = ["--set", "url=./repository", "--set", "edition=own"];
    // A question would fail: no prompt is there.
    const { body } = await sentBy(world(local, { isTty: true, prompts: {} }), ...settings);
    expect(body).not.toHaveProperty("credentials");

    const known = {
      ...WIKI.configSchema.properties,
      url: { type: "string", title: "Address", fromAccount: "baseUrl" },
    };
    const service = { ...WIKI, configSchema: { ...WIKI.configSchema, properties: known } };
    const account = ["--account", "acc_aaaa2222aaaa2222", "--set", "edition=own"];
    const sent = await sentBy(world(service, { isTty: true, prompts: {} }), ...account);
    expect(sent.body).toMatchObject({ accountId: "acc_aaaa2222aaaa2222", config: { edition: "own" } });
  });

  test("asks for what goes with a secret, too, and shows a name that is none", async ({ expect }) => {
    const properties = {
      email: { type: "string", title: "Email", description: "Cloud only." },
      token: { type: "string", title: "Token", format: "password" },
    };
    const cloud = { ...WIKI, credentialsSchema: { required: ["token"], properties } };
    for (const [email, sent] of [
      ["ann@acme.test", { email: "ann@acme.test", token: "secret" }],
      ["", { token: "secret" }],
    ] as const) {
      const asked: string[] = [];
      const prompts: FakeWorld["prompts"] = {
        text: async (message) => (asked.push(message), email),
        password: async (message) => (asked.push(message), "secret"),
      };
      const settings = ["--set", "url=https://wiki.test", "--set", "edition=own"];
      const { body } = await sentBy(world(cloud, { isTty: true, prompts }), ...settings);
      expect((body as { credentials?: unknown }).credentials).toEqual(sent);
      expect(asked).toEqual(["Email: Cloud only. Leave it empty if it isn't needed.", "Token"]);
    }
  });

  test("asks for the first secret of a source that takes one or others, and sends none that is left empty", async ({
    expect,
  }) => {
    const settings = ["--set", "url=https://wiki.test", "--set", "edition=own"];
    const properties = { token: { type: "string", title: "Token" }, key: { type: "string", title: "Key" } };
    const several = { ...WIKI, credentialsSchema: { properties } };
    for (const [answer, sent] of [
      ["secret", { token: "secret" }],
      ["", undefined],
    ] as const) {
      const asked: string[] = [];
      const prompts: FakeWorld["prompts"] = { password: async (message) => (asked.push(message), answer) };
      const { body } = await sentBy(world(several, { isTty: true, prompts }), ...settings);
      expect([asked, (body as { credentials?: unknown }).credentials]).toEqual([["Token"], sent]);
    }
  });

  test("asks nothing without a terminal, and says what is missing", async ({ expect }) => {
    const { code, stderr } = await sentBy(world());
    expect([code, stderr]).toEqual([2, expect.stringContaining("wiki needs url, edition.")]);
    expect(stderr).toContain("Add --set url=… --set edition=….");
  });

  test("--from-json gives the whole connector, and options win over it", async ({ expect }) => {
    const here = world();
    const file = {
      providerId: "wiki",
      name: "From the file",
      config: { url: "https://wiki.test", edition: "own", depth: 2 },
      scope: { include: ["a"], exclude: [] },
      access: { visibility: "workspace" },
      schedule: null,
      credentials: { token: "in the file" },
    };
    writeFileSync(join(here.dir, "wiki.json"), JSON.stringify(file));
    const path = join(here.dir, "wiki.json");
    expect((await sentBy(here, "--from-json", path)).body).toEqual(file);
    const changed = await sentBy(here, "--from-json", path, "--name", "Mine", "--set", "depth=5", "--every", "1h");
    expect(changed.body).toEqual({
      ...file,
      name: "Mine",
      config: { ...file.config, depth: 5 },
      schedule: { everyMinutes: 60 },
    });
    const piped = await sentBy(world(WIKI, { stdin: JSON.stringify(file) }), "--from-json", "-");
    expect(piped.body).toEqual(file);

    writeFileSync(path, JSON.stringify({ ...file, providerId: "git" }));
    const wrong = await sentBy(here, "--from-json", path);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("a connector of git, not of wiki")]);
    writeFileSync(path, "[]");
    expect((await sentBy(here, "--from-json", path)).code).toBe(2);
  });
});
