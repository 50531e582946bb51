import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { TOOL_NAMES } from "#api/tools.ts";
import { kb } from "../cli/fakes.ts";
import { startStandIn, type StandIn } from "../cli/stand-in.ts";
import { makeBrowserWorld } from "./browser-world.ts";
import { tempDir } from "../temp-dir.ts";
import { cleanEnv, startCli } from "./built.ts";
import { result, startUpstream } from "./upstream.ts";

interface Answer {
  id?: unknown;
  result?: { isError?: boolean; tools?: { name: string }[]; content?: { text: string }[] };
}

interface Bridge {
  ask(method: string, params?: unknown): Promise<Answer>;
  /** What a call of a tool says when it failed; undefined when it didn't. */
  call(): Promise<string | undefined>;
  stderr(): string;
  end(): Promise<number | null>;
}

function startBridge(
  args: readonly string[],
  options: { cwd: string; env: Record<string, string>; uid?: number | undefined },
): Bridge {
  const child = startCli(["mcp", ...args], options);
  const waiting: ((line: string) => void)[] = [];
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  let [text, errors, id] = ["", "", 0];
  child.stderr.on("data", (part: Buffer) => (errors += part.toString("utf8")));
  child.stdout.on("data", (part: Buffer) => {
    text += part.toString("utf8");
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n")) {
      waiting.shift()?.(text.slice(0, at));
      text = text.slice(at + 1);
    }
  });
  const ask = async (method: string, params: unknown = {}): Promise<Answer> => {
    const line = new Promise<string>((resolve, reject) => {
      waiting.push(resolve);
      void ended.then((code) => reject(new Error(`the bridge ended with ${code}: ${errors}`)));
    });
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: (id += 1), method, params })}\n`);
    // The bridge's answers are JSON-RPC messages.
    return JSON.parse(await line) as Answer;
  };
  return {
    ask,
    async call() {
      const { result: failed } = await ask("tools/call", { name: "kb_search", arguments: { query: "x" } });
      return failed?.isError === true ? failed.content?.[0]?.text : undefined;
    },
    stderr: () => errors,
    end: () => {
      child.stdin.end();
      return ended;
    },
  };
}

describe("a log file that can't be written is told once, and every call is answered", () => {
  test.for([
    ["in a folder that is missing", "missing/bridge.log", "ENOENT"],
    ["that is a folder", ".", "EISDIR"],
    ["on a disk that is full", "/dev/full", "ENOSPC"],
    ["that is a pipe without a reader", "pipe", "ENXIO"],
  ] as const)("%s", async ([, file, code], { expect }) => {
    const upstream = await startUpstream(result({ content: [] }));
    const dir = tempDir();
    execFileSync("/usr/bin/env", ["mkfifo", join(dir, "pipe")]);
    const env = cleanEnv(dir, { KB_URL: upstream.url, KB_TOKEN: "kb_pat_testing" });
    const bridge = startBridge(["--verbose", "--log-file", file], { cwd: dir, env });
    for (let turn = 0; turn < 3; turn += 1) expect(await bridge.call()).toBeUndefined();
    expect(await bridge.end()).toBe(0);
    const told = bridge
      .stderr()
      .split("\n")
      .filter((line) => line.includes(code));
    expect(told).toEqual([expect.stringContaining(`the log file ${file} can't be written (${code})`)]);
    expect(bridge.stderr()).toContain("tools/call id=3");
  });
});

describe("wrong settings", () => {
  test.for([
    ["a token in quotation marks", { KB_TOKEN: '"kb_pat_testing"' }, "KB_TOKEN", "Leave them out"],
    ["a token with its scheme", { KB_TOKEN: "Bearer kb_pat_testing" }, "KB_TOKEN", "Leave that word out"],
    ["a token that was not filled in", { KB_TOKEN: "${KB_TOKEN}" }, "KB_TOKEN", "didn't fill it in"],
    ["a token of two words", { KB_TOKEN: "kb_pat testing" }, "KB_TOKEN", "does not contain a token"],
    ["a server that was not filled in", { KB_URL: "${env:KB_URL}" }, "KB_URL", "didn't fill it in"],
    ["a server that is none", { KB_URL: "ftp://kb.test" }, "KB_URL", "http:// or https://"],
    ["a token file that is missing", { KB_TOKEN_FILE: "/nonexistent/token" }, "KB_TOKEN_FILE", "there is no such file"],
    ["a server without TLS", { KB_URL: "http://kb.test" }, "http://kb.test", "not encrypted"],
  ] as const)("%s is told at the start, by name, and no call has wrong arguments", async (row, { expect }) => {
    const [, settings, name, why] = row;
    const dir = tempDir();
    const env = cleanEnv(dir, { KB_URL: "http://127.0.0.1:9", KB_TOKEN: "kb_pat_testing", ...settings });
    if ("KB_TOKEN_FILE" in settings) delete env["KB_TOKEN"];
    const bridge = startBridge([], { cwd: dir, env });
    await bridge.ask("initialize", { protocolVersion: "2025-11-25" });
    const { result: listed } = await bridge.ask("tools/list");
    expect(listed?.tools?.map((tool) => tool.name)).toEqual(TOOL_NAMES);
    for (let turn = 0; turn < 2; turn += 1) {
      const text = await bridge.call();
      expect(text).toMatch(/^settings_invalid: /);
      expect(text).toContain(name);
      expect(text).toContain(why);
    }
    expect(await bridge.ask("resources/read")).toMatchObject({ error: { code: -32050 } });
    expect(await bridge.end()).toBe(0);
    expect(bridge.stderr().trimEnd().split("\n")).toEqual([expect.stringContaining(name)]);
    expect(bridge.stderr()).not.toContain("kb_pat");
  });

  test("a token that can be read once, from a pipe, is left to the first call", async ({ expect }) => {
    const upstream = await startUpstream(result({ content: [] }));
    const dir = tempDir();
    const pipe = join(dir, "token");
    execFileSync("/usr/bin/env", ["mkfifo", pipe]);
    const env = cleanEnv(dir, { KB_URL: upstream.url, KB_TOKEN_FILE: pipe });
    const unused = startBridge([], { cwd: dir, env });
    expect(await unused.ask("initialize", { protocolVersion: "2025-11-25" })).toMatchObject({ id: 1, result: {} });
    // A reader of the pipe would wait for its writer.
    expect(await unused.end()).toBe(0);
    const bridge = startBridge([], { cwd: dir, env });
    await bridge.ask("initialize", { protocolVersion: "2025-11-25" });
    const [said] = await Promise.all([bridge.call(), writeFile(pipe, "kb_pat_once")]);
    expect(said).toBeUndefined();
    expect(upstream.seen[0]?.headers.authorization).toBe("Bearer kb_pat_once");
  });

  test("a folder that is gone and a settings folder that is a file are nothing to end for", async ({ expect }) => {
    const upstream = await startUpstream(result({ content: [] }));
    const dir = tempDir();
    writeFileSync(join(dir, "file"), "");
    const env = {
      ...cleanEnv(dir),
      KB_CONFIG_DIR: join(dir, "file"),
      KB_URL: upstream.url,
      KB_TOKEN: "kb_pat_testing",
    };
    expect(await startBridge([], { cwd: dir, env }).call()).toBeUndefined();
    const gone = join(dir, "gone");
    mkdirSync(gone);
    const bridge = startBridge([], { cwd: gone, env });
    rmSync(gone, { recursive: true });
    expect(await bridge.call()).toBeUndefined();
  });
});

const IS_ROOT = process.getuid?.() === 0;
/** A user of this machine who is not the owner of what the tests make; the present one where that can't be chosen. */
const OTHER = IS_ROOT ? 65_534 : undefined;

/** A way in which a folder takes no files, and takes them again. */
interface Refusal {
  /** Prepares the folder, which is empty; false where that can't be done here. */
  prepare(folder: string): boolean;
  refuse(folder: string): void;
  allow(folder: string): void;
}

const byPermissions: Refusal = {
  prepare: () => true,
  refuse: (folder) => chmodSync(folder, OTHER === undefined ? 0o500 : 0o755),
  allow: (folder) => chmodSync(folder, OTHER === undefined ? 0o700 : 0o777),
};

/** A disk of its own, which only root can make. */
function mountSmallDisk(folder: string): boolean {
  if (!IS_ROOT || spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k,mode=777", "tmpfs", folder]).status !== 0)
    return false;
  onTestFinished(() => void spawnSync("umount", ["-l", folder]));
  return true;
}

const byFullDisk: Refusal = {
  prepare: mountSmallDisk,
  refuse(folder) {
    try {
      for (;;) writeFileSync(join(folder, "filler"), Buffer.alloc(4096), { flag: "a" });
    } catch {
      // Full.
    }
  },
  allow: (folder) => rmSync(join(folder, "filler"), { force: true }),
};

const byReadOnlyDisk: Refusal = {
  prepare: mountSmallDisk,
  refuse: (folder) => void spawnSync("mount", ["-o", "remount,ro", folder]),
  allow: (folder) => void spawnSync("mount", ["-o", "remount,rw", folder]),
};

interface Shared {
  server: StandIn;
  start(): Bridge;
  /** Moves the end of the kept token: milliseconds from now. */
  endsIn(ms: number): void;
  allow(): void;
  stored(): string;
}

/** A person's login in a settings folder that takes no files from the bridges that share it; undefined where that can't be. */
async function shareLogin(way: Refusal): Promise<Shared | undefined> {
  const server = await startStandIn();
  const world = makeBrowserWorld(server);
  const config = join(world.dir, "config");
  mkdirSync(config, { mode: 0o700 });
  if (!way.prepare(config)) return undefined;
  await kb(world, "login", server.url);
  // A token for the tools: the login itself has one for the API only.
  const first = startBridge([], { cwd: world.dir, env: cleanEnv(world.dir) });
  await first.call();
  await first.end();
  const path = join(config, "credentials.json");
  chmodSync(world.dir, 0o755);
  for (const file of ["config.json", "credentials.json"])
    if (OTHER !== undefined) chownSync(join(config, file), OTHER, OTHER);
  way.refuse(config);
  return {
    server,
    start: () => startBridge([], { cwd: world.dir, env: cleanEnv(world.dir), uid: OTHER }),
    endsIn(ms) {
      way.allow(config);
      const text = readFileSync(path, "utf8").replaceAll(/"expiresAt": \d+/g, `"expiresAt": ${Date.now() + ms}`);
      writeFileSync(path, text);
      way.refuse(config);
    },
    allow: () => way.allow(config),
    stored: () => readFileSync(path, "utf8"),
  };
}

describe("two bridges that share a settings folder which takes no files", () => {
  test.for([
    ["that is another user's", byPermissions, "EACCES"],
    ["on a full disk", byFullDisk, "ENOSPC"],
    ["on a disk that is read-only", byReadOnlyDisk, "EROFS"],
  ] as const)(
    "%s send no refresh and lose no login, and go on once files can be written",
    async (row, { expect, skip }) => {
      const [, way, code] = row;
      const shared = await shareLogin(way);
      if (shared === undefined) return skip("no disk can be mounted here");
      const { server, start, endsIn, allow, stored } = shared;
      const before = server.refreshes;
      // An hour has nearly passed: the token is to be renewed, and still opens.
      endsIn(20_000);
      const bridges = [start(), start()];
      for (let turn = 0; turn < 3; turn += 1) {
        expect(await Promise.all(bridges.map((bridge) => bridge.call()))).toEqual([undefined, undefined]);
      }
      for (const bridge of bridges) {
        expect(bridge.stderr()).toMatch(
          /^\S+ warn kb can't renew your login to http:\/\/127\S+, which lasts until .*\n$/,
        );
        expect(bridge.stderr()).toContain(`can't be written (${code}).`);
      }
      // The second hour: the server takes the token no longer, and each call says what to do.
      server.expireAccess();
      endsIn(-3_600_000);
      for (let turn = 0; turn < 2; turn += 1) {
        for (const text of await Promise.all(bridges.map((bridge) => bridge.call()))) {
          expect(text).toMatch(/^login_not_kept: kb can't renew your login to http:\/\/127.*Make room, or give/);
          expect(text).toContain(code);
        }
      }
      const refused = server.seen.filter(({ form }) => form.get("grant_type") === "refresh_token").length;
      expect([server.refreshes, refused]).toEqual([before, before]);
      allow();
      expect(await Promise.all(bridges.map((bridge) => bridge.call()))).toEqual([undefined, undefined]);
      expect(server.refreshes).toBe(before + 1);
      expect(server.live().refresh).toHaveLength(1);
      expect(stored()).toContain(server.live().refresh[0]);
      for (const bridge of bridges) expect(await bridge.end()).toBe(0);
    },
  );
});
