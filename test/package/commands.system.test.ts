/** Every command of the installed program: its help, a bad call, and a good one where nothing else is needed. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "#cli/generated/table.ts";
import { findFreePort, newcomer } from "../e2e/newcomer.ts";
import { runKb } from "../e2e/server-process.ts";
import { tempDir } from "../temp-dir.ts";

/** Good calls in their order, each of which ends with 0. `$ID` is a file's. */
const GOOD = [
  "whoami",
  "auth status",
  "context list",
  "profile show",
  "profile update --time-zone Europe/Vienna",
  "search tides",
  "files list",
  "files get $ID",
  "files counts",
  "entities search tides",
  "access explain $ID",
  "eval questions.yaml",
  "tokens list",
  "tokens create ci --scope kb:api",
  "grants list",
  "accounts list",
  "servers list",
  "connectors list",
  "connectors sources",
  "connectors show files",
  "connectors browse filesystem --set root=$FOLDER",
  "connectors update files --every 1h",
  "connectors files files",
  "connectors pause files",
  "connectors resume files",
  "connectors sync files --wait",
  "connectors progress files",
  "connectors removals files",
  "connectors scope files --exclude drafts/**",
  "connectors add push --name tickets",
  "connectors rotate-key tickets",
  "push tickets --key @tickets.key items.ndjson",
  "connectors remove tickets --yes",
  "roots list",
  "workspace show",
  "workspace update --name Harbour",
  "workspace list",
  "workspace create Lighthouse",
  "workspace use Harbour",
  "members list",
  "invitations list",
  "invitations add bo@example.com",
  "groups list",
  "groups create Design",
  "groups show Design",
  "groups update Design --name Looks",
  "groups remove Looks --yes",
  "events list",
  "events types",
  "audit list",
  "audit reads",
  "audit check",
  "audit export -o audit.ndjson",
  "check",
  "api GET /api/connectors",
  "completion bash",
  "version",
];

/** Commands that need what isn't here: another server, a browser, a terminal, a person, or a stopped server. */
const NEED_MORE = [
  "quickstart, serve, stop, mcp, open, login, logout, context use, context remove, profile password, files restore",
  "entities show, tokens revoke, grants revoke, reindex, accounts connect, accounts disconnect, invitations remove",
  "roots add, roots remove, connectors cancel, connectors people, connectors link-person, connectors webhook",
  "members role, members remove, members reset-password",
].flatMap((names) => names.split(", "));
const NEED_MORE_OF = ["servers", "events", "admin"];

const PUSHED = {
  t: "upsert",
  item: { externalId: "1", kind: "task", title: "Tides", access: { known: true, all: [["workspace"]] } },
};

const NAMES = COMMANDS.map(({ name }) => name);
const isOf = (call: string, name: string) => call === name || call.startsWith(`${name} `);

describe("every command of the installed program", { timeout: 300_000 }, () => {
  test("is called below, or listed as one that needs more", () => {
    const left = NAMES.filter((name) => !GOOD.some((call) => isOf(call, name)));
    const others = left.filter((name) => !NEED_MORE_OF.some((noun) => isOf(name, noun)));
    expect(others.toSorted()).toEqual(NEED_MORE.toSorted());
  });

  test("has help with an example, and says what is wrong with a bad call", async () => {
    const env = { HOME: tempDir(), PATH: process.env["PATH"] ?? "" };
    const missing: string[] = [];
    const look = async (name: string) => {
      const help = await runKb([...name.split(" "), "--help"], { env });
      if (help.code !== 0 || !help.stdout.includes(`kb ${name}`)) missing.push(`kb ${name} --help: ${help.stderr}`);
      const bad = await runKb([...name.split(" "), "--no-such-option"], { env });
      if (bad.code !== 2 || !bad.stderr.includes("--no-such-option")) missing.push(`kb ${name}: ${bad.stderr}`);
    };
    for (let at = 0; at < NAMES.length; at += 3) await Promise.all(NAMES.slice(at, at + 3).map(look));
    expect(missing).toEqual([]);
  });

  test("does what it is for", async () => {
    const { home, env } = newcomer({ KB_PORT: String(await findFreePort()) });
    const folder = join(home, "files");
    mkdirSync(folder);
    writeFileSync(join(folder, "a.md"), "# Tides\n\nWords of the harbour.\n");
    writeFileSync(join(home, "questions.yaml"), "tides: [a.md]\n");
    writeFileSync(join(home, "items.ndjson"), `${JSON.stringify(PUSHED)}\n`);
    const kb = (line: string) => runKb(line.split(" "), { env, cwd: home });
    expect(await kb("quickstart files")).toMatchObject({ code: 0 });
    const listed = JSON.parse((await kb("files list --json")).stdout) as { files: { kbId: string }[] };
    const failed: unknown[] = [];
    for (const call of GOOD) {
      const line = call.replace("$ID", listed.files[0]?.kbId ?? "").replace("$FOLDER", folder);
      const { code, stdout, stderr } = await kb(line);
      if (call.startsWith("connectors rotate-key")) writeFileSync(join(home, "tickets.key"), stdout, { mode: 0o600 });
      if (code !== 0) failed.push([line, code, stderr]);
    }
    expect(failed).toEqual([]);
  });
});
