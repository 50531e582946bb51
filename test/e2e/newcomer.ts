import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempDir } from "../temp-dir.ts";
import { cleanEnv, CLI, runKb } from "./server-process.ts";

/** How a shell ended. */
export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * A person's machine with nothing on it but `kb` on the PATH and these settings; the server that the commands start is
 * stopped at the end.
 */
export function newcomer(settings: Record<string, string> = {}) {
  const home = tempDir();
  mkdirSync(join(home, "bin"));
  writeFileSync(join(home, "bin/kb"), `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`, { mode: 0o755 });
  const env = cleanEnv(home, { ...settings, PATH: `${join(home, "bin")}:${process.env["PATH"] ?? ""}` });
  onTestFinished(async () => {
    await runKb(["stop"], { env }, () => undefined);
  });
  return {
    home,
    env,
    /** Runs lines as one shell; a command that fails ends it. */
    run: (lines: string, cwd = home) =>
      new Promise<Ran>((resolve) => {
        const child = execFile("bash", ["-eo", "pipefail", "-c", lines], { cwd, env }, (_error, stdout, stderr) =>
          resolve({ code: child.exitCode, stdout, stderr }),
        );
        onTestFinished(() => void child.kill("SIGKILL"));
        child.stdin?.end();
      }),
  };
}

/** A port of this machine that nothing listens on. */
export async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (typeof address === "string" || address === null) throw new Error("A listening TCP server has a port.");
  return address.port;
}

/** What the shell blocks of a page hold, in order. */
export function shellBlocks(page: string): string[] {
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text ?? "");
}

/** Whether a program of the machine can be started. */
export function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    // Not on this machine.
    return false;
  }
}
