/**
 * The built server against its own document, by schemathesis: `npx tsup --silent && npx tsx test/long/schemathesis.ts`.
 * Needs schemathesis 4.32.5, which this installs nowhere: `python3 -m venv VENV && VENV/bin/pip install schemathesis==4.32.5`,
 * then `SCHEMATHESIS=VENV/bin/schemathesis`. Starts a `kb serve` of its own, makes things of each kind, and sends what the
 * document allows and what it does not, with their ids (`schemathesis-hooks.py`): as the owner, as a member, with a token,
 * with the key of a push connector, to `/mcp`, and with a new session where a request may end it. Prints how many requests
 * got past the credentials, by who sent them. Exit code 1 at an answer that the document does not list, or a failure of the
 * server.
 *
 * The first argument: the most seconds of each of the six runs. `REPORTS`: a folder for all requests and answers.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { operatorOf } from "../e2e/operator.ts";
import { CLI } from "../program.ts";

const PROGRAM = process.env["SCHEMATHESIS"] ?? "schemathesis";
const SECONDS = process.argv[2] ?? "300";
const DOCUMENT = new URL("../../docs/openapi.json", import.meta.url).pathname;
const ADMIN = { email: "admin@acme.test", password: "blue kettle morning" };
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
  "response_headers_conformance",
];
const PUSH = String.raw`^/api/connectors/\{id\}/(items|documents|uploads)`;
/** What ends the session in use, or makes another one. */
const SESSIONS = String.raw`^/api/(session|sessions|profile/(password|email)|workspaces)(/|$)|^/oauth/(device|consent)/`;
/** What nobody signs in for, and what goes to sites that are not there. */
const OPEN = String.raw`^/mcp$|^/api/(sso|sign-up|onboarding|password-reset|invitations|email-verification)(/|$)|^/oauth/|\.well-known|^/(healthz|readyz)$`;
const HOOKS = new URL("schemathesis-hooks.py", import.meta.url).pathname;

interface Seed {
  url: string;
  userId: string;
  groupId: string;
  key: string;
  sessionOf: typeof ADMIN;
  /** Things that are there; those under `gone-…` are for being removed. */
  ids: Record<string, string[]>;
  /** What stands at a place of a path. */
  kinds: Record<string, string>;
}

const KINDS = {
  "id /api/connectors": "connector",
  "id /api/groups": "group",
  "id /api/api-tokens": "token",
  "id /api/entities": "entity",
  "id /api/grants": "grant",
  "id /api/local-roots": "root",
  "id /api/sessions": "session",
  "id /api/workspace/members/{id}": "member",
  "id /api/workspace/members/{id}/password-reset": "member",
  "id /api/workspace/invitations/{id}": "invitation",
  fileId: "file",
  syncId: "sync",
  uploadId: "upload",
  externalId: "item",
};

const dir = mkdtempSync(join(tmpdir(), "kb-schemathesis-"));
const reports = process.env["REPORTS"] ?? dir;
let server: ChildProcess | undefined;
try {
  const url = await startServer();
  const { credentials, seed } = await prepare(url);
  writeFileSync(join(dir, "seed.json"), JSON.stringify(seed));
  // A made-up credential beside the real one would be refused.
  writeFileSync(join(dir, "schemathesis.toml"), "[generation]\nwith-security-parameters = false\n");
  const { key, token, member, owner } = credentials;
  const signedIn = ["--exclude-path-regex", `${PUSH}|${SESSIONS}|${OPEN}`];
  // The owner comes late: they end keys, remove people and narrow connectors.
  const codes = [
    await run(url, "key", ["--header", `Authorization:Bearer ${key}`, "--include-path-regex", PUSH]),
    await run(url, "mcp", ["--header", `Authorization:Bearer ${token}`, "--include-path", "/mcp"]),
    await run(url, "member", ["--header", `Cookie:${member}`, ...signedIn]),
    await run(url, "token", ["--header", `Authorization:Bearer ${token}`, ...signedIn]),
    await run(url, "owner", ["--header", `Cookie:${owner}`, ...signedIn]),
    await run(url, "sessions", ["--include-path-regex", SESSIONS]),
  ];
  const counts = ["key", "mcp", "member", "token", "owner", "sessions"].map((name) => ({ name, ...count(name) }));
  // oxlint-disable-next-line no-console -- what this program is for
  console.table(counts);
  process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
} finally {
  server?.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
}

async function startServer(): Promise<string> {
  const child = spawn(process.execPath, [CLI, "serve", "--port", "0", "--data-dir", join(dir, "data")], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: dir,
      KB_BOOTSTRAP_EMAIL: ADMIN.email,
      KB_BOOTSTRAP_PASSWORD: ADMIN.password,
      KB_RATE_LIMITS: "off",
      KB_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "inherit", "pipe"],
  });
  server = child;
  let output = "";
  return new Promise((resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      output += String(chunk);
      const url = /kb is listening on (http:\S+)/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", () => reject(new Error(`The server did not start:\n${output}`)));
  });
}

/** Signs in and makes things of each kind to read and change, and others to remove. */
async function prepare(url: string) {
  const as = (headers: Record<string, string>) => ({
    async send(method: string, path: string, body?: unknown) {
      const answer = await fetch(url + path, {
        method,
        headers: { "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      return { text, cookie, id: /"id":"(\w+)"/.exec(text)?.[1] ?? "" };
    },
  });
  const many = async (n: number, make: (n: number) => Promise<{ id: string }>): Promise<string[]> => {
    const ids: string[] = [];
    for (let at = 0; at < n; at++) ids.push((await make(at)).id);
    return ids;
  };
  const nobody = as({});
  const owner = (await nobody.send("POST", "/api/session", ADMIN)).cookie;
  const { send } = as({ cookie: owner });
  const userId = (await send("GET", "/api/session")).id;

  const push = { providerId: "push", name: "Tracker", access: { visibility: "workspace" } };
  const tracker = await send("POST", "/api/connectors", push);
  const key = /"key":"([^"]+)"/.exec(tracker.text)?.[1] ?? "";
  await as({ authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" }).send(
    "POST",
    `/api/connectors/${tracker.id}/items`,
    Array.from({ length: 60 }, (_, n) => JSON.stringify(itemLine(n, userId))).join("\n"),
  );
  const path = join(dir, "documents");
  mkdirSync(join(path, "plans"), { recursive: true });
  for (const name of ["budget.md", "plans/2026.txt", "plans/table.csv"])
    writeFileSync(join(path, name), "# Budget\na,b\n");
  const operator = as({ cookie: owner, ...operatorOf(join(dir, "data")) });
  const root = await operator.send("POST", "/api/local-roots", { path });
  const folder = await send("POST", "/api/connectors", {
    providerId: "filesystem",
    name: "Documents",
    config: { root: path },
    access: { visibility: "workspace" },
  });
  const pushAgain = (n: number) => send("POST", "/api/connectors", { ...push, name: `Gone ${n}` });

  const group = (name: string) => send("POST", "/api/groups", { name, memberIds: [userId], groupIds: [] });
  const invite = (n: number) =>
    send("POST", "/api/workspace/invitations", { email: `m${n}@acme.test`, role: n % 5 === 0 ? "admin" : "member" });
  const accept = async (n: number) => {
    const token = /#[a-z]*=?([^"]+)/.exec((await invite(n)).text)?.[1] ?? "";
    return nobody.send("POST", "/api/invitations/accept", {
      token,
      email: `m${n}@acme.test`,
      name: `M ${n}`,
      password: ADMIN.password,
    });
  };
  const { cookie: member } = await accept(1);
  const members = await many(10, (n) => accept(n + 2));
  const pat = (name: string) =>
    send("POST", "/api/api-tokens", { name, scopes: ["mcp:read", "kb:api"], expiresInDays: 90 });
  const token = /"plaintext":"([^"]+)"/.exec((await pat("Cursor")).text)?.[1] ?? "";
  const sync = () => send("GET", `/api/connectors/${folder.id}/syncs`);
  while (!/"state":"succeeded"/.test((await sync()).text)) await new Promise((resolve) => setTimeout(resolve, 200));
  const idsIn = async (path: string) =>
    [...(await send("GET", path)).text.matchAll(/"(?:kbId|id)":"(\w+)"/g)].map(([, id = ""]) => id);

  const ids = {
    connector: [tracker.id, folder.id],
    "gone-connector": await many(8, pushAgain),
    group: await many(3, (n) => group(`docs ${n}`)),
    "gone-group": await many(20, (n) => group(`gone ${n}`)),
    token: await many(3, (n) => pat(`t ${n}`)),
    "gone-token": await many(20, (n) => pat(`gone ${n}`)),
    member: members.slice(0, 3),
    "gone-member": members.slice(3),
    invitation: [],
    "gone-invitation": await many(20, (n) => invite(100 + n)),
    grant: [],
    "gone-grant": await many(5, () => grantByDevice(send, url)),
    root: [root.id],
    "gone-session": await many(5, () => nobody.send("POST", "/api/session", ADMIN)),
    entity: await idsIn("/api/entities?limit=50"),
    file: await idsIn("/api/connectors/all-files?limit=50"),
    sync: [(await sync()).id],
    item: Array.from({ length: 60 }, (_, n) => `T-${n}`),
  };
  const seed: Seed = { url, userId, groupId: ids.group[0] ?? "", key, sessionOf: ADMIN, ids, kinds: KINDS };
  return { credentials: { owner, member, key, token }, seed };
}

function itemLine(n: number, userId: string): unknown {
  const person = { name: "Ana Diaz", principal: `user:${userId}` };
  const access = { known: true, all: [["workspace"]] };
  const text = `The budget plan ${n}. `.repeat(30);
  return {
    t: "upsert",
    item: {
      externalId: `T-${n}`,
      kind: "task",
      title: `Task ${n}`,
      status: "open",
      assignees: [person],
      labels: ["infra"],
      text,
      access,
    },
  };
}

type Send = (method: string, path: string, body?: unknown) => Promise<{ text: string; id: string }>;

/** What a person let in by the code of a device. */
async function grantByDevice(send: Send, url: string): Promise<{ id: string }> {
  // oxlint-disable-next-line typescript/no-explicit-any -- the answers of a server that is being tested
  const form = async (path: string, fields: Record<string, string>): Promise<any> =>
    (await fetch(url + path, { method: "POST", body: new URLSearchParams(fields) })).json();
  const device = await form("/oauth/device_authorization", { client_id: "kb-cli", scope: "mcp:read kb:api" });
  const userCode = device.user_code;
  const { csrf } = JSON.parse((await send("POST", "/oauth/device/request", { userCode })).text);
  await send("POST", "/oauth/device/decision", { userCode, csrf, decision: "allow" });
  await form("/oauth/token", {
    client_id: "kb-cli",
    device_code: device.device_code,
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
  });
  return send("GET", "/api/grants");
}

/** One run with one credential; the exit code of schemathesis. */
async function run(url: string, name: string, options: readonly string[]): Promise<number> {
  const child = spawn(
    PROGRAM,
    [
      "--config-file",
      join(dir, "schemathesis.toml"),
      "run",
      DOCUMENT,
      "--url",
      url,
      "--checks",
      CHECKS.join(","),
      "--max-examples",
      "60",
      "--max-time",
      SECONDS,
      "--phases",
      "examples,coverage,fuzzing",
      "--suppress-health-check",
      "all",
      "--continue-on-failure",
      "--seed",
      "7",
      "--no-shrink",
      "--report",
      "ndjson",
      "--report-ndjson-path",
      join(reports, `${name}.ndjson`),
      ...options,
    ],
    {
      cwd: dir,
      stdio: "inherit",
      env: {
        ...process.env,
        SCHEMATHESIS_HOOKS: HOOKS,
        KB_SEED: join(dir, "seed.json"),
        KB_ROLE: name,
        PYTHONDONTWRITEBYTECODE: "1",
      },
    },
  );
  const [code] = await once(child, "exit");
  return Number(code ?? 1);
}

/** Requests of a run, and those that were not stopped for their credentials. */
function count(name: string): { requests: number; signedIn: number; succeeded: number } {
  const total = { requests: 0, signedIn: 0, succeeded: 0 };
  for (const line of readFileSync(join(reports, `${name}.ndjson`), "utf8").split("\n")) {
    if (!line.startsWith('{"ScenarioFinished"')) continue;
    const { recorder } = JSON.parse(line).ScenarioFinished;
    for (const each of Object.values<{ response?: { status_code: number } }>(recorder?.interactions ?? {})) {
      const status = each.response?.status_code ?? 0;
      total.requests++;
      if (status !== 401) total.signedIn++;
      if (status >= 200 && status < 300) total.succeeded++;
    }
  }
  return total;
}
