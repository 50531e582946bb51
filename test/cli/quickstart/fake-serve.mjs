// Stands in for `kb serve` in the tests of quickstart: the routes that it calls, state kept in the data folder.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const args = process.argv.slice(2);
const value = (name) => args[args.indexOf(name) + 1];
const file = join(value("--data-dir"), "kb.db");
const state = existsSync(file)
  ? JSON.parse(readFileSync(file, "utf8"))
  : {
      email: process.env.KB_BOOTSTRAP_EMAIL,
      password: process.env.KB_BOOTSTRAP_PASSWORD,
      connectors: [],
      tokens: [],
      syncs: 0,
    };
const save = () => writeFileSync(file, JSON.stringify(state));
save();
process.stdout.write(
  `${JSON.stringify({
    args,
    inherited: Object.keys(process.env)
      .filter((name) => name.startsWith("KB_"))
      .sort(),
  })}\n`,
);

const session = {
  user: { id: "usr_1", email: state.email, name: "Admin" },
  workspace: { name: "W" },
  role: "owner",
  scopes: [],
};
const counts = {
  seen: 2,
  upserted: 2,
  unchanged: 0,
  deleted: 0,
  skipped: 1,
  reasons: { unsupported_type: 1 },
  failed: 0,
  bytes: 10,
};
const sync = (connectorId, failed) => ({
  id: "syn_1",
  connectorId,
  mode: "full",
  trigger: "manual",
  state: failed ? "partial" : "succeeded",
  attempt: 1,
  counts: { ...counts, failed: failed ? 1 : 0 },
  progress: { done: 2, total: 2, note: null },
  resumeAt: null,
  startedAt: "2026-11-21T00:00:00.000Z",
  finishedAt: "2026-11-21T00:00:01.000Z",
  problem: null,
  skips: [{ externalId: "x.bin", reason: failed ? "failed" : "unsupported_type", message: "broken", retryable: false }],
});
const item = {
  kbId: "kbi_1",
  title: "Quarterly plan.md",
  kind: "file",
  source: "filesystem:notes",
  providerId: "filesystem",
  url: null,
  path: [],
  updatedAt: null,
  indexedAt: "2026-11-20T00:00:00.000Z",
  status: null,
  assignees: [],
  dueAt: null,
  snippet: "the plan",
  highlights: [],
  textState: { reason: null },
};

const routes = {
  "GET /readyz": () => [200, { status: "ok" }],
  "POST /api/session": (body) =>
    body.email === state.email && body.password === state.password
      ? [200, session, { "set-cookie": "kb_session=COOKIE; Path=/" }]
      : [401, { code: "sign_in_failed", detail: "wrong" }],
  "GET /api/session": () => [200, session],
  "GET /api/api-tokens": () => [200, { tokens: state.tokens, mcpUrl: "" }],
  "POST /api/api-tokens": (body) => {
    const token = { id: `tok_${state.tokens.length}`, name: body.name, expiresAt: null };
    state.tokens.push(token);
    return [201, { token, plaintext: "kb_pat_MADEBYSERVER", mcpUrl: "" }];
  },
  "POST /api/local-roots": (body) => [201, { root: { id: "rot_1", path: body.path } }],
  "GET /api/connectors": () => [200, { connectors: state.connectors, nextCursor: null }],
  "POST /api/connectors": (body) => {
    const connector = { id: `con_${state.connectors.length}`, state: "active", ...body };
    state.connectors.push(connector);
    return [201, { connector, sync: sync(connector.id, body.name === "broken") }];
  },
  "GET /api/connectors/search": () => [
    200,
    {
      results: [item],
      total: 1,
      totalIsExact: true,
      returned: 1,
      nextCursor: null,
      match: "all",
      notes: [],
      tookMs: 1,
    },
  ],
};

// 3,554 files without text, as no page of a list could hold them.
const totalOf = (query) => {
  if (query.get("indexState") === "indexed") return 1;
  if (query.get("indexState") !== "unsearchable") return 0;
  return { unsupported_type: 3_500, empty: 54 }[query.get("textReason")] ?? (query.has("textReason") ? 0 : 3_554);
};

createServer((request, response) => {
  let text = "";
  request.on("data", (part) => (text += part));
  request.on("end", () => {
    const path = request.url.split("?")[0];
    const isOpen = path === "/readyz" || (path === "/api/session" && request.method === "POST");
    let answer = routes[`${request.method} ${path}`]?.(text ? JSON.parse(text) : {});
    if (path.endsWith("/syncs")) answer = [202, { sync: sync(path.split("/")[3], false) }];
    if (path.endsWith("/files"))
      answer = [
        200,
        { files: [item], total: totalOf(new URL(request.url, "http://x").searchParams), nextCursor: null },
      ];
    if (!isOpen && request.headers.cookie !== "kb_session=COOKIE")
      answer = [401, { code: "unauthenticated", detail: "no" }];
    const [status, body, headers] = answer ?? [404, { code: "not_found", detail: request.url }];
    save();
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  });
}).listen(Number(value("--port")), "127.0.0.1", function () {
  process.send?.({ type: "ready", port: this.address().port });
});
process.on("SIGTERM", () => process.exit(0));
