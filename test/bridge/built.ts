import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { CLI } from "../program.ts";

export { CLI };

/** An environment with nothing of the developer's: a home and a settings folder of its own. */
export function cleanEnv(dir: string, more: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: dir, KB_CONFIG_DIR: join(dir, "config"), ...more };
}

/** Starts the built command; it is killed with the test. */
export function startCli(
  args: readonly string[],
  options: { cwd: string; env: Record<string, string>; uid?: number | undefined },
): ChildProcessWithoutNullStreams {
  if (!existsSync(CLI)) throw new Error(`${CLI} is missing. Run: npm run build`);
  const child = spawn(process.execPath, [CLI, ...args], options);
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built command to its end. */
export async function runBuilt(
  args: readonly string[],
  options: { cwd: string; env: Record<string, string>; input?: string },
): Promise<Finished> {
  const child = startCli(args, options);
  const finished = { code: null as number | null, stdout: "", stderr: "" };
  child.stdout.on("data", (part: Buffer) => (finished.stdout += part.toString("utf8")));
  child.stderr.on("data", (part: Buffer) => (finished.stderr += part.toString("utf8")));
  child.stdin.end(options.input ?? "");
  finished.code = await new Promise((resolve) => child.once("close", resolve));
  return finished;
}
