import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { kb, type FakeWorld } from "../cli/fakes.ts";
import { startStandIn, type StandIn } from "../cli/stand-in.ts";
import { makeBrowserWorld } from "./browser-world.ts";
import { cleanEnv, startCli } from "./built.ts";

const REQUEST = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "kb_search", arguments: {} } };

/** A person who has just signed in with a browser; the bridges below use the same folder. */
async function signedIn(): Promise<{ server: StandIn; world: FakeWorld; path: string }> {
  const server = await startStandIn();
  const world = makeBrowserWorld(server);
  await kb(world, "login", server.url);
  return { server, world, path: join(world.dir, "config", "credentials.json") };
}

interface Bridge {
  /** Sends the request and gives the answer to it. */
  ask(): Promise<{ result?: { isError?: boolean; content?: { text: string }[] }; error?: { message: string } }>;
}

function startBridge(world: FakeWorld): Bridge {
  const child = startCli(["mcp"], { cwd: world.dir, env: cleanEnv(world.dir) });
  const waiting: ((line: string) => void)[] = [];
  let text = "";
  child.stdout.on("data", (part: Buffer) => {
    text += part.toString("utf8");
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n")) {
      waiting.shift()?.(text.slice(0, at));
      text = text.slice(at + 1);
    }
  });
  return {
    async ask() {
      const line = new Promise<string>((resolve) => waiting.push(resolve));
      child.stdin.write(`${JSON.stringify(REQUEST)}\n`);
      // The bridge's answers are JSON-RPC messages.
      return JSON.parse(await line) as Awaited<ReturnType<Bridge["ask"]>>;
    },
  };
}

describe("the bridge with a login by browser", () => {
  test("uses the token for the tools, and no other", async ({ expect }) => {
    const { server, world } = await signedIn();
    expect((await startBridge(world).ask()).result).toEqual({ tools: [] });
    expect(server.refreshes).toBe(1);
  });

  test("five at once whose token was refused fetch one new token between them", async ({ expect }) => {
    const { server, world, path } = await signedIn();
    const bridges = Array.from({ length: 5 }, () => startBridge(world));
    for (const bridge of bridges) expect((await bridge.ask()).result).toEqual({ tools: [] });
    const before = server.refreshes;
    server.expireAccess();
    const answers = await Promise.all(bridges.map((bridge) => bridge.ask()));
    expect(answers.map(({ result }) => result)).toEqual(Array.from({ length: 5 }, () => ({ tools: [] })));
    expect(server.refreshes - before).toBe(1);
    expect(server.live().refresh).toHaveLength(1);
    expect(readFileSync(path, "utf8")).toContain(server.live().refresh[0]);
  });

  test("five that start with a token that is over fetch one, and it is not asked of the server first", async ({
    expect,
  }) => {
    const { server, world, path } = await signedIn();
    const before = server.refreshes;
    writeFileSync(path, readFileSync(path, "utf8").replace(/"expiresAt": \d+/g, '"expiresAt": 1000'), { mode: 0o600 });
    const seen = server.seen.length;
    const answers = await Promise.all(Array.from({ length: 5 }, () => startBridge(world).ask()));
    expect(answers.map(({ result }) => result)).toEqual(Array.from({ length: 5 }, () => ({ tools: [] })));
    expect(server.refreshes - before).toBe(1);
    expect(server.seen.slice(seen).filter(({ path }) => path === "/mcp")).toHaveLength(5);
  });

  test("a login that was revoked tells the model what the person does, and a new one needs no restart", async ({
    expect,
  }) => {
    const { server, world } = await signedIn();
    const bridge = startBridge(world);
    await bridge.ask();
    server.revokeAll();
    const { result } = await bridge.ask();
    expect(result).toMatchObject({ isError: true });
    expect(result?.content?.[0]?.text).toMatch(/^not_signed_in: .*kb login http:\/\/127\.0\.0\.1:\d+$/);
    await kb(world, "login", server.url);
    expect((await bridge.ask()).result).toEqual({ tools: [] });
  });

  test("a credentials file that others can read is refused, and the model reads why", async ({ expect }) => {
    const { world, path } = await signedIn();
    chmodSync(path, 0o644);
    const { result } = await startBridge(world).ask();
    expect(result?.content?.[0]?.text).toContain(`chmod 600 ${path}`);
  });
});
