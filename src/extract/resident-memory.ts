import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/**
 * Resident bytes of a process: from /proc where there is one, else from `ps`; 0 when the process is gone or neither
 * can tell.
 */
export async function readRssBytes(pid: number): Promise<number> {
  try {
    const [, pages] = (await readFile(`/proc/${pid}/statm`, "utf8")).split(" ");
    return Number(pages) * PAGE_BYTES;
  } catch {
    // No /proc (macOS, BSD), or the process ended: ps answers or fails as well.
    return readRssFromPs(pid);
  }
}

// Linux on x86-64 and most arm64 systems; larger pages make the reading too low, never a false kill.
const PAGE_BYTES = 4_096;

async function readRssFromPs(pid: number): Promise<number> {
  if (process.platform === "linux" || process.platform === "win32") return 0;
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]);
    return Number(stdout.trim()) * 1_024 || 0;
  } catch {
    // The process ended in between.
    return 0;
  }
}
