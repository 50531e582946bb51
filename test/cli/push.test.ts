import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { kb, makeWorld, problem, type FakeWorld, type Reply } from "./fakes.ts";

const KEY = "kb_con_AbCdEfGh0123456789";
const ID = "con_2345abcd2345abcd";
const EVENT = `${JSON.stringify({ t: "delete", externalId: "T-1" })}\n`;
const CONNECTOR = {
  id: ID,
  name: "tickets",
  providerId: "push",
  isPushed: true,
  state: "active",
  keyPrefix: KEY.slice(0, 13),
};

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
    ["a key that is no word", ID, { KEY: "kb con" }, 2, "does not contain a connector key"],
  ] as const)("%s is refused without a request", async ([, word, env, code, text], { expect }) => {
    const run = await push(signedIn({ env }), word);
    expect([run.code, run.sent]).toEqual([code, []]);
    expect(run.stderr).toContain(text);
  });

  test("a connector of another kind takes no push", async ({ expect }) => {
    const run = await push(signedIn({ connector: { providerId: "filesystem", isPushed: false } }), "tickets");
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("Only push connectors")]);
    expect(JSON.stringify(run.sent)).not.toContain(KEY);
  });
});

describe("what a push sends", () => {
  const ITEMS = `/api/connectors/${ID}/items`;
  const UPLOADS = `/api/connectors/${ID}/uploads`;
  const UPLOAD = {
    id: "upl_2345abcd2345abcd",
    name: "kb push x",
    lines: 0,
    mode: "add",
    swept: null,
    sweepRefused: null,
  };
  const results = (...all: [number, string, string?][]): Reply => ({
    body: all
      .map(
        ([line, result, code]) =>
          `${JSON.stringify({ line, externalId: `T-${line}`, result, ...(code && { error: { code, message: code } }) })}\n`,
      )
      .join(""),
  });
  const lines = (count: number) => Array.from({ length: count }, () => EVENT).join("");

  function world(stdin = "", upload: Record<string, unknown> = {}): FakeWorld {
    const made = makeWorld({ env: { KEY, KB_URL: "https://kb.test" }, stdin });
    made.routes[`POST ${UPLOADS}`] = { status: 201, body: { upload: { ...UPLOAD, ...upload } } };
    made.routes[`POST ${UPLOADS}/${UPLOAD.id}/end`] = { body: { upload: { ...UPLOAD, ...upload, state: "done" } } };
    return made;
  }
  const paths = (sent: { method: string; url: string }[]) =>
    sent.map((each) => `${each.method} ${each.url.replace(/^.*\/con_[^/]+/, "")}`);

  test("files are an upload, which goes on after the lines that the server has", async ({ expect }) => {
    const made = world("", { lines: 2 });
    writeFileSync(join(made.dir, "items.ndjson"), lines(4));
    made.routes[`POST ${ITEMS}`] = results([3, "removed"], [4, "absent"]);
    const run = await push(made, ID, "items.ndjson");
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("Continuing after line 2")]);
    expect(paths(run.sent)).toEqual([
      "POST /uploads",
      `POST /items?upload=${UPLOAD.id}&firstLine=3`,
      `POST /uploads/${UPLOAD.id}/end`,
    ]);
    expect(run.sent[0]?.body).toMatchObject({ mode: "add", resume: true, name: expect.stringMatching(/^kb push /) });
    expect([run.sent[1]?.body, run.sent[2]?.body]).toEqual([lines(2), { lines: 4 }]);
  });

  test("a temporary failure is retried, from the first line without a result", async ({ expect }) => {
    const made = world(lines(3));
    made.routes[`POST ${ITEMS}`] = [
      problem(503, "unavailable", "Busy."),
      problem(507, "storage_full", "The server's disk is full."),
      results([1, "removed"], [2, "error", "push_cut"]),
      new TypeError("fetch failed"),
      results([1, "removed"], [2, "removed"]),
    ];
    const run = await push(made, ID);
    expect(run.code).toBe(0);
    expect(run.sent.map((each) => String(each.body).split("\n").length - 1)).toEqual([3, 3, 3, 2, 2]);
    expect(
      run.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { line: number }).line),
    ).toEqual([1, 2, 3]);
    expect(run.stderr).toContain("Retrying in");
  });

  test("an address that never answered is not tried twice, and a refusal never", async ({ expect }) => {
    for (const reply of [new TypeError("fetch failed"), problem(409, "connector_state_conflict", "Paused.")]) {
      const made = world(EVENT);
      made.routes[`POST ${ITEMS}`] = reply;
      const run = await push(made, ID);
      expect([run.code, run.sent.length]).toEqual([reply instanceof Error ? 7 : 5, 1]);
    }
  });

  test("a key that was rotated in its file is read again; an old one is not tried twice", async ({ expect }) => {
    for (const isRotated of [true, false]) {
      const made = world(EVENT);
      const file = join(made.dir, "key");
      writeFileSync(file, KEY);
      made.real.fetch = async (_url, init) => {
        const sent = new Headers(init?.headers).get("authorization");
        if (isRotated) writeFileSync(file, `${KEY}new`);
        const body = { code: "unauthenticated", detail: "Ended.", status: 401 };
        return sent === `Bearer ${KEY}new`
          ? new Response('{"line":1,"externalId":"T-1","result":"removed"}\n')
          : new Response(JSON.stringify(body), { status: 401 });
      };
      const run = await kb(made, "push", ID, "--key", `@${file}`);
      expect([isRotated, run.code]).toEqual([isRotated, isRotated ? 0 : 4]);
    }
  });

  test("lines that went wrong end with 8", async ({ expect }) => {
    for (const result of ["error", "failed", "acl_unknown"]) {
      const made = world(EVENT);
      made.routes[`POST ${ITEMS}`] = results([1, result, "principal_not_allowed"]);
      expect((await push(made, ID)).code).toBe(8);
    }
  });

  test("a folder is its documents: only those go that the server has not", async ({ expect }) => {
    const made = world("", { mode: "set", swept: { removed: 2, held: 0 } });
    mkdirSync(join(made.dir, "docs/deep"), { recursive: true });
    writeFileSync(join(made.dir, "docs/a.md"), "alpha");
    writeFileSync(join(made.dir, "docs/deep/b.md"), "beta");
    writeFileSync(join(made.dir, "docs/.hidden"), "no");
    made.routes[`POST ${ITEMS}`] = results([1, "unchanged"], [2, "absent"]);
    made.routes[`POST /api/connectors/${ID}/documents`] = {
      body: { line: 1, externalId: "docs/deep/b.md", result: "upserted" },
    };
    const run = await push(made, ID, "--whole-set", "docs");
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("2 items not in the set removed")]);
    const [begin, seen, document, end] = run.sent;
    expect([begin?.body, end?.body]).toMatchObject([{ mode: "set" }, { lines: 2 }]);
    const asked = String(seen?.body)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>);
    expect(asked.map(({ t, externalId }) => [t, externalId])).toEqual([
      ["seen", "docs/a.md"],
      ["seen", "docs/deep/b.md"],
    ]);
    const body = Buffer.from(document?.body as Uint8Array).toString();
    expect(body).toContain(`"version":"${asked[1]?.["version"]}"`);
    expect(body).toContain("\r\n\r\nbeta\r\n--kb-");
    expect(document?.url).toContain(`/documents?upload=${UPLOAD.id}`);
  });

  test("a pattern gives what it matches, and a word that names nothing is refused", async ({ expect }) => {
    const made = world();
    mkdirSync(join(made.dir, "docs/deep"), { recursive: true });
    for (const file of ["docs/a.md", "docs/deep/b.md", "docs/c.txt"]) writeFileSync(join(made.dir, file), "x");
    made.routes[`POST ${ITEMS}`] = results([1, "unchanged"], [2, "unchanged"]);
    const run = await push(made, ID, "docs/**/*.md");
    expect(String(run.sent[1]?.body).match(/docs\/[^"]+/g)).toEqual(["docs/a.md", "docs/deep/b.md"]);
    for (const word of ["nothing.md", "docs/*.pdf"]) expect((await push(world(), ID, word)).code).toBe(2);
  });

  test("what is no NDJSON is told before anything is sent", async ({ expect }) => {
    const run = await push(world('[{"t":"delete"}]'), ID);
    expect([run.code, run.sent, run.stderr]).toEqual([2, [], expect.stringContaining("not a JSON object")]);
  });
});
