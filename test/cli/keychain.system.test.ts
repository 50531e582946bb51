import { spawn } from "node:child_process";
import { test } from "vitest";
import { KeychainUnavailable, makeKeychain } from "#cli/host/keychain.ts";

const CLOCK = { now: () => 0 };

/** A child that runs this program in place of the real one. */
const playing = (program: string) => () => spawn(process.execPath, ["-e", program], { stdio: "pipe" });

const ECHO = `process.stdin.on("data", (d) => process.stdout.write(JSON.stringify({ ok: true, secret: String(d) })));`;

test("the secret goes over stdin and comes back over stdout, never in an argument", async ({ expect }) => {
  const keychain = makeKeychain(CLOCK, playing(ECHO));
  expect(JSON.parse((await keychain.find("https://kb.test")) ?? "")).toEqual({
    op: "find",
    account: "https://kb.test",
  });
  const args = `process.stdin.on("data", () => process.stdout.write(JSON.stringify({ ok: !process.argv.join().includes("SECRET") })));`;
  await makeKeychain(CLOCK, playing(args)).save("https://kb.test", "SECRET");
});

test("one that failed is not waited for again by the same command, and asked again later", async ({ expect }) => {
  let started = 0;
  let at = 0;
  const hanging = playing("setInterval(() => {}, 1000)");
  const start = () => {
    started += 1;
    return hanging();
  };
  const keychain = makeKeychain({ now: () => at }, start, 30);
  await expect(keychain.find("a")).rejects.toThrow("did not answer");
  await expect(keychain.save("a", "b")).rejects.toThrow("did not answer");
  expect(started).toBe(1);
  at = 20_000;
  await expect(keychain.find("a")).rejects.toThrow("did not answer");
  expect(started).toBe(2);
});

test("an absent secret is undefined", async ({ expect }) => {
  const keychain = makeKeychain(CLOCK, playing(`process.stdout.write('{"ok":true,"secret":null}')`));
  expect(await keychain.find("https://kb.test")).toBeUndefined();
});

test("test 59: a keychain that hangs is given up in time, and its process is gone", async ({ expect }) => {
  let child: ReturnType<ReturnType<typeof playing>> | undefined;
  const keychain = makeKeychain(CLOCK, () => (child = playing("setInterval(() => {}, 1000)")()), 60);
  await expect(keychain.find("https://kb.test")).rejects.toThrow("it did not answer within 0.06 s");
  expect(child?.signalCode).toBe("SIGKILL");
});

test.for([
  [
    "Platform failure: DBus error: Using X11 for dbus-daemon autolaunch was disabled at compile time",
    "there is no desktop session",
  ],
  ["The name org.freedesktop.secrets was not provided by any .service files", "no keychain service runs here"],
  ["Couldn't access platform secure storage: prompt was dismissed", "it is locked"],
  [
    "DBus error: Did not receive a reply. Possible causes include: the message bus security policy blocked the reply",
    "it does not answer",
  ],
  ["Cannot find module '@napi-rs/keyring'", "its library is not installed"],
  ["something else", "something else"],
] as const)("%s is said as: %s", async ([why, said], { expect }) => {
  const answer = JSON.stringify(JSON.stringify({ ok: false, why }));
  const failing = makeKeychain(CLOCK, playing(`process.stdout.write(${answer})`)).save("a", "b");
  await expect(failing).rejects.toThrow(KeychainUnavailable);
  await expect(failing).rejects.toThrow(said);
});

test("a child that dies without an answer is no keychain", async ({ expect }) => {
  await expect(makeKeychain(CLOCK, playing("process.exit(3)")).find("a")).rejects.toThrow(KeychainUnavailable);
});
