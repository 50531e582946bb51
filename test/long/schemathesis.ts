/**
 * The built server against its own document, by schemathesis: `npx tsup --silent && npx tsx test/long/schemathesis.ts`.
 * Needs schemathesis 4.32.5, which this installs nowhere: `python3 -m venv VENV && VENV/bin/pip install schemathesis==4.32.5`,
 * then `SCHEMATHESIS=VENV/bin/schemathesis`. Starts a `kb serve` of its own, signs in, makes one thing of each kind so that
 * paths lead somewhere, and sends what the document allows and what it does not: as the owner, with the key of a
 * push connector, and to `/mcp` with a token. Exit code 1 at an answer that the document does not list, or a failure of the server.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = process.env["SCHEMATHESIS"] ?? "schemathesis";
const SECONDS = process.argv[2] ?? "300";
const CLI = new URL("../../dist/cli.js", import.meta.url).pathname;
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
/** What would end the credential in use, and what goes to sites that are not there. */
const ENDS_THE_SESSION = String.raw`^/mcp$|^/api/(session|sessions|sso|sign-up|onboarding|profile/(password|email)|workspaces)|^/oauth/|\.well-known|^/api/workspace/members/\{id\}`;

const dir = mkdtempSync(join(tmpdir(), "kb-schemathesis-"));
let server: ChildProcess | undefined;
try {
  const url = await startServer();
  const { cookie, key, token, ids } = await prepare(url);
  writeFileSync(join(dir, "schemathesis.toml"), configOf(ids));
  // First: the owner's requests change the key.
  const pushed = await run(url, `Authorization:Bearer ${key}`, ["--include-path-regex", PUSH], "key");
  const owner = await run(url, `Cookie:${cookie}`, ["--exclude-path-regex", `${PUSH}|${ENDS_THE_SESSION}`], "owner");
  const mcp = await run(url, `Authorization:Bearer ${token}`, ["--include-path", "/mcp"], "mcp");
  process.exitCode = owner === 0 && pushed === 0 && mcp === 0 ? 0 : 1;
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

/** Signs in and makes one thing of each kind to read and change, and another to remove. */
async function prepare(
  url: string,
): Promise<{ cookie: string; key: string; token: string; ids: [string, string, string][] }> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  const call = async (method: string, path: string, body: unknown): Promise<Response> => {
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const session = await call("POST", "/api/session", ADMIN);
  const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  headers["cookie"] = cookie;
  const make = async (path: string, body: unknown): Promise<[string, string]> => {
    const text = await (await call("POST", path, body)).text();
    // The thing's own id comes first.
    return [/"id":"(\w+)"/.exec(text)?.[1] ?? "", /"(?:key|plaintext)":"([^"]+)"/.exec(text)?.[1] ?? ""];
  };
  mkdirSync(join(dir, "documents"));
  const push = { providerId: "push", name: "Tracker", access: { visibility: "workspace" } };
  const [connector, key] = await make("/api/connectors", push);
  const [removed] = await make("/api/connectors", push);
  const [group] = await make("/api/groups", { name: "docs", memberIds: [], groupIds: [] });
  const [goneGroup] = await make("/api/groups", { name: "gone", memberIds: [], groupIds: [] });
  const pat = (name: string) => make("/api/api-tokens", { name, scopes: ["mcp:read"], expiresInDays: 90 });
  const [, token] = await pat("Cursor");
  const [goneToken] = await pat("gone");
  return {
    cookie,
    key,
    token,
    ids: [
      ["GET", "^/api/groups/", group],
      ["PATCH", "^/api/groups/", group],
      ["DELETE", "^/api/groups/", goneGroup],
      ["DELETE", "^/api/api-tokens/", goneToken],
      ["DELETE", String.raw`^/api/connectors/\{id\}$`, removed],
      ["PATCH", String.raw`^/api/connectors/\{id\}`, connector],
      ["GET", String.raw`^/api/connectors/\{id\}`, connector],
      ["POST", String.raw`^/api/connectors/\{id\}`, connector],
      ["DELETE", String.raw`^/api/connectors/\{id\}/items`, connector],
    ],
  };
}

function configOf(ids: readonly [string, string, string][]): string {
  // Credentials come from the run, never from the generator: a made-up one beside the real one is refused.
  const general = "[generation]\nwith-security-parameters = false\n\n";
  const operations = ids
    .map(
      ([method, path, id]) =>
        `[[operations]]\ninclude-name-regex = '^${method} ${path.replace("^", "")}'\nparameters = { "path.id" = "${id}" }\n`,
    )
    .join("\n");
  return general + operations;
}

/** One run with one credential; the exit code of schemathesis. */
async function run(url: string, header: string, paths: readonly string[], name: string): Promise<number> {
  const report = join(process.env["REPORTS"] ?? dir, `${name}.ndjson`);
  const child = spawn(
    PROGRAM,
    [
      "--config-file",
      join(dir, "schemathesis.toml"),
      "run",
      DOCUMENT,
      "--url",
      url,
      "--header",
      header,
      "--checks",
      CHECKS.join(","),
      "--max-examples",
      "40",
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
      report,
      ...paths,
    ],
    { cwd: dir, stdio: "inherit" },
  );
  const [code] = await once(child, "exit");
  return Number(code ?? 1);
}
