import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, onTestFinished, test, type TestContext } from "vitest";
import { cleanEnv, CLI } from "../bridge/built.ts";
import { tempDir } from "../temp-dir.ts";
import { startStandIn, type StandIn } from "./stand-in.ts";

/** Says that a test was not run when a program of the machine is missing. */
function need(context: TestContext, ...programs: string[]): void {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const missing = programs.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));
  if (missing.length > 0) context.skip(`not run: ${missing.join(", ")} is not on this machine`);
}

interface Ended {
  code: number | null;
  text: string;
}

/** Runs the built command under a pseudo-terminal; `onText` sees what is on the screen so far. */
async function onTerminal(
  args: readonly string[],
  env: Record<string, string>,
  onText: (text: string) => void = () => undefined,
): Promise<Ended> {
  const line = [process.execPath, CLI, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", line, "/dev/null"], { env: { TERM: "xterm", ...env }, cwd: env["HOME"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (part: Buffer) => {
    text += part.toString("utf8").replaceAll("\r", "");
    onText(text);
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, text };
}

/** A folder whose `xdg-open` writes the address down, as a browser that a person looks at. */
function fakeBrowser(dir: string): string {
  const bin = join(dir, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\nprintf %s "$1" > "${dir}/opened"\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  return `${bin}${delimiter}${process.env["PATH"] ?? ""}`;
}

const credentials = (dir: string): string => readFileSync(join(dir, "config", "credentials.json"), "utf8");

describe("kb login under a pseudo-terminal, without a keychain", () => {
  test("by browser: what is shown, in order, and no token in it", async (context) => {
    need(context, "script");
    const { expect } = context;
    const server = await startStandIn();
    const dir = tempDir();
    let visited: Promise<unknown> | undefined;
    const env = { ...cleanEnv(dir), PATH: fakeBrowser(dir), DISPLAY: ":0" };
    const run = await onTerminal(["login", server.url], env, (text) => {
      const address = /\n {2}(http\S+)\n/.exec(text)?.[1];
      if (address !== undefined) visited ??= server.visit(address);
    });
    expect(run.code).toBe(0);
    expect(readFileSync(join(dir, "opened"), "utf8")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?/);
    expect(screen(run.text, server, dir)).toBe(
      [
        "Your browser opens SERVER: sign in there and allow kb.",
        "If it doesn't open, visit this address:",
        "",
        "  ADDRESS",
        "",
        "Waiting for the browser for up to 5 minutes. Press Ctrl-C to stop.",
        'Signed in to SERVER as ana@one.test (admin of "One").',
        "Notice: the system's keychain can't be used (there is no desktop session), so the login is stored in DIR/config/credentials.json, which only you can read. To accept this, pass --insecure-storage.",
        'Profile "local". Next: kb search WORDS; for an agent: kb mcp',
        "",
      ].join("\n"),
    );
  });

  test("by code, over SSH", async (context) => {
    need(context, "script");
    const { expect } = context;
    const server = await startStandIn();
    server.intervalSeconds = 1;
    const dir = tempDir();
    const run = await onTerminal(["login", server.url, "--insecure-storage"], {
      ...cleanEnv(dir),
      SSH_CONNECTION: "1",
    });
    expect(run.code).toBe(0);
    expect(screen(run.text, server, dir)).toBe(
      [
        "No browser can be opened here (you came over SSH): sign in with one elsewhere.",
        "",
        "  1. Open this address in any browser:  SERVER/oauth/device",
        "  2. Type this code there:              BCDF-GHJK",
        "",
        "Enter it only if you started this command yourself. No one from kb ever asks you",
        "for a code.",
        "Waiting for up to 5 minutes. Press Ctrl-C to stop.",
        'Signed in to SERVER as ana@one.test (admin of "One").',
        "The login is in DIR/config/credentials.json.",
        'Profile "local". Next: kb search WORDS; for an agent: kb mcp',
        "",
      ].join("\n"),
    );
  });

  test("Ctrl-C while it waits is exit code 130 and leaves nothing", async (context) => {
    need(context, "script");
    const { expect } = context;
    const server = await startStandIn();
    const dir = tempDir();
    const args = [CLI, "login", server.url];
    const env = { ...cleanEnv(dir), PATH: fakeBrowser(dir), DISPLAY: ":0" };
    const child = spawn(process.execPath, args, { env, cwd: dir });
    onTestFinished(() => void child.kill("SIGKILL"));
    child.stderr.on("data", (part: Buffer) => {
      if (part.toString("utf8").includes("Waiting")) child.kill("SIGINT");
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect([code, existsSync(join(dir, "config", "credentials.json"))]).toEqual([130, false]);
  });
});

/** The screen with what differs from run to run replaced. */
function screen(text: string, server: StandIn, dir: string): string {
  return (
    text
      .replace(/^ {2}http\S+\?\S+$/m, "  ADDRESS")
      .replaceAll(server.url, "SERVER")
      .replaceAll(dir, "DIR")
      // Where its lines break depends on the length of the folder's name.
      .replace(/^Notice: [^]*?insecure-storage\.$/m, (notice) => notice.replaceAll("\n", " "))
  );
}

/** Runs shell lines in a session of its own with an unlocked secret service, whose process is $KEYRING. */
async function inSession(dir: string, lines: readonly string[]): Promise<string> {
  mkdirSync(join(dir, "run"), { mode: 0o700 });
  const env = {
    ...cleanEnv(dir),
    XDG_DATA_HOME: join(dir, "data"),
    XDG_RUNTIME_DIR: join(dir, "run"),
    KB: `${process.execPath} ${CLI}`,
  };
  const script = [
    'eval "$(printf pw | gnome-keyring-daemon --unlock --components=secrets 2>/dev/null)"',
    // The daemon is back before it answers to its name.
    'until [ -n "$KEYRING" ]; do n=$((n + 1)); [ $n -le 400 ] || exit 1; sleep 0.05',
    `KEYRING=$(dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetConnectionUnixProcessID string:org.freedesktop.secrets 2>/dev/null | sed "s/.*uint32 //"); done`,
    ...lines,
    "kill -CONT $KEYRING; kill $KEYRING",
  ].join("\n");
  const child = spawn("dbus-run-session", ["--", "sh", "-c", script], { env, cwd: dir });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (part: Buffer) => (text += part.toString("utf8")));
  await new Promise((resolve) => child.once("close", resolve));
  return text;
}

describe("kb login with the system's keychain", () => {
  test("test 59: keeps the login there, survives a keychain that hangs, and loses no token", async (context) => {
    need(context, "dbus-run-session", "gnome-keyring-daemon", "dbus-send");
    // It is started with a capability that some containers do not give: then it is there and can't run.
    if (spawnSync("gnome-keyring-daemon", ["--version"]).status !== 0) context.skip("not run: no keyring runs here");
    const { expect } = context;
    const server = await startStandIn();
    server.intervalSeconds = 1;
    const dir = tempDir();
    const noted = (name: string, command: string): string => `${command} >${name}.out 2>&1; echo "${name} $?"`;
    const text = await inSession(dir, [
      noted("login", `$KB login ${server.url} --device`),
      "cp config/credentials.json kept.json",
      noted("whoami", "$KB whoami"),
      "kill -STOP $KEYRING",
      noted("hanging", "$KB whoami"),
      noted("again", `$KB login ${server.url} --device`),
      noted("after", "$KB whoami"),
    ]);
    const ended: Record<string, number> = Object.fromEntries(
      text
        .trim()
        .split("\n")
        .map((line) => line.split(" "))
        .map(([name, code]) => [name, Number(code)]),
    );
    const said = (name: string): string => readFileSync(join(dir, `${name}.out`), "utf8");
    expect(said("login")).toContain("The login is in the system's keychain.");
    expect(JSON.parse(readFileSync(join(dir, "kept.json"), "utf8"))).toEqual({
      version: 1,
      origins: { [server.url]: { store: "keychain", email: "ana@one.test" } },
    });
    expect(said("whoami")).toContain("ana@one.test");
    expect(said("hanging")).toMatch(/which can't be used now: it (does not answer|did not answer)/);
    expect(said("again")).toMatch(/Notice: the system's keychain can't be used/);
    expect(credentials(dir)).toContain(server.live().refresh.at(-1));
    expect(said("again")).toContain("Revoke it: kb grants list");
    expect(Object.values(ended)).toEqual([0, 0, 4, 0, 0]);
  });
});
