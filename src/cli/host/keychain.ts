/**
 * The system's keychain: Keychain on macOS, Credential Manager on Windows, the Secret Service on Linux.
 *
 * Each operation runs in a child process that is killed after three seconds. In this process, an operation couldn't be abandoned: the library's
 * constructor waits for the keychain on the main thread (2 s with a stopped gnome-keyring), and a call that waits for an unlock dialogue holds a
 * thread that Node joins before it exits, whatever the exit code.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { checkBuild } from "#core/build.ts";
import type { Clock } from "#core/clock.ts";
import { parseObject, textOf } from "./state-file.ts";

/** Secrets by account. Each call throws `KeychainUnavailable` when there is no keychain, or the keychain is locked or doesn't answer. */
export type Keychain = ReturnType<typeof makeKeychain>;

/** Why the keychain couldn't be used, as reported by the system. */
export class KeychainUnavailable extends Error {
  override readonly name = "KeychainUnavailable";
}

/** Milliseconds for one operation. Source: docs/decisions/0016. */
export const KEYCHAIN_TIMEOUT_MS = 3_000;

/** Starts a program that reads a request from stdin and answers on stdout. */
export type StartChild = () => ChildProcessWithoutNullStreams;

/** A command waits for a hanging keychain only once. The bridge tries again after this time. */
const ASKED_AGAIN_AFTER_MS = 20_000;

/** Makes the keychain of this system; nothing is loaded or started before its first operation. */
export function makeKeychain(clock: Clock, start: StartChild = startKeychainChild, timeoutMs = KEYCHAIN_TIMEOUT_MS) {
  let failed: { error: KeychainUnavailable; at: number } | undefined;

  async function act(request: Record<string, string>): Promise<Record<string, unknown>> {
    if (failed !== undefined && clock.now() - failed.at < ASKED_AGAIN_AFTER_MS) throw failed.error;
    try {
      return await ask(start, request, timeoutMs);
    } catch (error) {
      if (error instanceof KeychainUnavailable) failed = { error, at: clock.now() };
      throw error;
    }
  }

  return {
    find: async (account: string): Promise<string | undefined> =>
      textOf((await act({ op: "find", account }))["secret"]),
    save: async (account: string, secret: string): Promise<void> => void (await act({ op: "save", account, secret })),
    /** An absent entry isn't an error. */
    remove: async (account: string): Promise<void> => void (await act({ op: "remove", account })),
  };
}

async function ask(
  start: StartChild,
  request: Record<string, string>,
  timeoutMs: number,
): Promise<Record<string, unknown>> {
  const child = start();
  const parts: Buffer[] = [];
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  try {
    await new Promise<void>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", () => resolve());
      child.stdout.on("data", (part: Buffer) => void parts.push(part));
      // The child ended early, which its exit event reports.
      child.stdin.on("error", () => undefined);
      child.stdin.end(JSON.stringify(request));
    });
  } catch (cause) {
    throw new KeychainUnavailable("it could not be started", { cause });
  } finally {
    clearTimeout(timer);
  }
  if (isLate) throw new KeychainUnavailable(`it did not answer within ${timeoutMs / 1000} s`);
  const answer = parseObject(Buffer.concat(parts).toString("utf8"));
  if (answer?.["ok"] === true) return answer;
  throw new KeychainUnavailable(reasonOf(textOf(answer?.["why"]) ?? "it ended without an answer"));
}

/** Returns the part of the library's message that helps a person. */
function reasonOf(why: string): string {
  if (/Cannot find (module|package|native binding)/i.test(why)) return "its library is not installed";
  if (/D-?Bus/i.test(why) && /autolaunch|DBUS_SESSION_BUS_ADDRESS|No such file/i.test(why))
    return "there is no desktop session";
  if (/ServiceUnknown|not provided by any|was not provided/i.test(why)) return "no keychain service runs here";
  if (/prompt was dismissed|\blocked\b/i.test(why)) return "it is locked";
  if (/Did not receive a reply/i.test(why)) return "it does not answer";
  return why.split("\n")[0]?.slice(0, 120) ?? "";
}

function startKeychainChild(): ChildProcessWithoutNullStreams {
  checkBuild();
  // When run from source, the child uses the file extension and the loader of the sources.
  const isSource = import.meta.url.endsWith(".ts");
  // Not imported statically, because the bridge starts without these modules.
  const { fileURLToPath } = process.getBuiltinModule("node:url");
  const file = fileURLToPath(new URL(isSource ? "keychain-child.ts" : "keychain-child.js", import.meta.url));
  const { spawn } = process.getBuiltinModule("node:child_process");
  return spawn(process.execPath, [...(isSource ? process.execArgv : []), file], {
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
}
