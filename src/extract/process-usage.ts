import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Memory and CPU time of a process. */
export interface ProcessUsage {
  /** 0 if unknown. */
  rssBytes: number;
  /** Milliseconds of CPU time since its start; undefined if unknown. */
  cpuMs: number | undefined;
}

const UNKNOWN: ProcessUsage = { rssBytes: 0, cpuMs: undefined };

/** Memory and CPU time of a process: from /proc if there is one, else from `ps`; unknown when it is gone. */
export async function readUsage(pid: number): Promise<ProcessUsage> {
  try {
    const [memory, times] = await Promise.all([
      readFile(`/proc/${pid}/statm`, "utf8"),
      readFile(`/proc/${pid}/stat`, "utf8"),
    ]);
    return { rssBytes: Number(memory.split(" ")[1]) * PAGE_BYTES, cpuMs: cpuMsOf(times) };
  } catch {
    // No /proc (macOS, BSD), or the process ended: ps answers or fails as well.
    return readUsageFromPs(pid);
  }
}

// Linux on x86-64 and most arm64 systems; larger pages make the reading too low, never a false kill.
const PAGE_BYTES = 4_096;
/** The unit of times in /proc: 100 a second on every Linux (`USER_HZ`). */
const TICK_MS = 10;

/** The name, in brackets, may contain anything; fields 14 and 15 of `proc_pid_stat(5)` are the times. */
function cpuMsOf(stat: string): number | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
}

async function readUsageFromPs(pid: number): Promise<ProcessUsage> {
  if (process.platform === "linux" || process.platform === "win32") return UNKNOWN;
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "rss=,time=", "-p", String(pid)]);
    const [rss, time = ""] = stdout.trim().split(/\s+/u);
    return { rssBytes: Number(rss) * 1_024 || 0, cpuMs: parseCpuTime(time) };
  } catch {
    // The process ended in between.
    return UNKNOWN;
  }
}

/**
 * Milliseconds of a time as `ps` writes it: `1:02.34`, `01:02:03`, `2-01:02:03`.
 *
 * @returns undefined for other words
 */
export function parseCpuTime(time: string): number | undefined {
  const match = /^(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d\d(?:[.,]\d{1,3})?)$/u.exec(time);
  if (!match) return undefined;
  const [days, hours, minutes, seconds] = match.slice(1).map((digits) => Number((digits ?? "0").replace(",", ".")));
  return Math.round((((days ?? 0) * 24 + (hours ?? 0)) * 3_600 + (minutes ?? 0) * 60 + (seconds ?? 0)) * 1_000);
}
