import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { kb, makeWorld, type FakeWorld } from "./fakes.ts";

const KEY = "kb_con_AbCdEfGh0123456789";
const ID = "con_2345abcd2345abcd";
const EVENT = `${JSON.stringify({ t: "delete", externalId: "T-1" })}\n`;
const CONNECTOR = { id: ID, name: "tickets", providerId: "push", state: "active", keyPrefix: KEY.slice(0, 13) };

/** A world with one event on stdin; signed in to https://work.test, which has the push connector "tickets". */
function signedIn(more: { env?: Record<string, string>; connector?: Record<string, unknown> } = {}): FakeWorld {
  const world = makeWorld({ env: { KEY, ...more.env }, stdin: EVENT });
  const config = join(world.dir, "config");
  mkdirSync(config);
  const profiles = { work: { url: "https://work.test" } };
  writeFileSync(join(config, "config.json"), JSON.stringify({ currentProfile: "work", profiles }));
  const origins = { "https://work.test": { session: "kb_session=s" } };
  writeFileSync(join(config, "credentials.json"), JSON.stringify({ origins }), { mode: 0o600 });
  const connector = { ...CONNECTOR, ...more.connector };
  world.routes["GET /api/connectors"] = { body: { connectors: [connector], nextCursor: null } };
  world.routes[`GET /api/connectors/${ID}`] = { body: { connector } };
  world.routes[`POST /api/connectors/${ID}/items`] = { body: '{"line":1,"externalId":"T-1","result":"removed"}\n' };
  return world;
}

const push = (world: FakeWorld, word: string, ...more: string[]) =>
  kb(world, "push", word, "--key", "env:KEY", ...more);

describe("where a push goes", () => {
  test.for(["tickets", ID])("%s on the server of the stored login, which knows the key", async (word, { expect }) => {
    const run = await push(signedIn(), word);
    expect([run.code, run.stdout]).toEqual([0, '{"line":1,"externalId":"T-1","result":"removed"}\n']);
    const [lookUp, items] = run.sent;
    // The login looks up, the key pushes; neither does the other's work.
    expect([lookUp?.headers["cookie"], lookUp?.headers["authorization"]]).toEqual(["kb_session=s", undefined]);
    expect([items?.url, items?.headers["authorization"], items?.headers["cookie"]]).toEqual([
      `https://work.test/api/connectors/${ID}/items`,
      `Bearer ${KEY}`,
      undefined,
    ]);
  });

  test("an id beside KB_URL needs no login and no look-up", async ({ expect }) => {
    const world = makeWorld({ env: { KEY, KB_URL: "https://kb.test" }, stdin: EVENT });
    world.routes = signedIn().routes;
    const run = await push(world, ID);
    expect(run.code).toBe(0);
    expect(run.sent.map((sent) => sent.url)).toEqual([`https://kb.test/api/connectors/${ID}/items`]);
  });

  test.for([
    ["another key's start", "kb_con_ZzZzZz"],
    ["a start that says nothing", "kb_con_"],
    ["none", null],
  ] as const)("a server that lists %s never gets the key", async ([, keyPrefix], { expect }) => {
    const run = await push(signedIn({ connector: { keyPrefix } }), "tickets");
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("not sent there")]);
    expect(JSON.stringify(run.sent)).not.toContain(KEY);
  });

  test.for([
    ["a name beside KB_URL without a login", "tickets", { KB_URL: "https://kb.test" }, 4, "kb login https://kb.test"],
    ["no login at all", ID, { KB_CONFIG_DIR: "/nowhere" }, 2, "Set KB_URL"],
    ["a key that is no word", ID, { KEY: "kb con" }, 2, "does not hold a connector key"],
  ] as const)("%s is refused without a request", async ([, word, env, code, text], { expect }) => {
    const run = await push(signedIn({ env }), word);
    expect([run.code, run.sent]).toEqual([code, []]);
    expect(run.stderr).toContain(text);
  });

  test("a connector of another kind takes no push", async ({ expect }) => {
    const run = await push(signedIn({ connector: { providerId: "filesystem" } }), "tickets");
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("Only push connectors")]);
    expect(JSON.stringify(run.sent)).not.toContain(KEY);
  });
});
