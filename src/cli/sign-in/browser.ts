import { canParseUrl } from "#api/parse-url.ts";
import { spawn } from "node:child_process";

/** An opener that fails does so within this many milliseconds; a working opener may run as long as its browser. */
const FAILS_WITHIN_MS = 1_500;

/**
 * Opens an address in the person's browser, without a shell, so that nothing in it is executed as a command. Only http and https are allowed.
 *
 * @returns false when there is no program to open it with, or the opener failed
 *
 * Source: S49.
 */
export async function openInBrowser(address: string, platform: NodeJS.Platform): Promise<boolean> {
  if (!canParseUrl(address)) return false;
  const url = new URL(address);
  if (url.protocol !== "http:" && url.protocol !== "https:") return false;
  const [command, ...args] = openerOf(platform);
  const child = spawn(command, [...args, url.href], { stdio: "ignore", detached: true, windowsHide: true });
  child.unref();
  return await new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), FAILS_WITHIN_MS);
    const done = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once("error", () => done(false));
    child.once("exit", (code) => done(code === 0));
  });
}

function openerOf(platform: NodeJS.Platform): [string, ...string[]] {
  if (platform === "darwin") return ["open"];
  // `start` is a shell built-in; it calls this program.
  if (platform === "win32") return ["rundll32.exe", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}
