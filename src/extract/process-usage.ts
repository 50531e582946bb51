import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Memory and CPU time of a process. */
export interface ProcessUsage {
  /** Resident memory in bytes; 0 if unknown. */
  rssBytes: number;
  /** CPU time since the start in milliseconds; undefined if unknown. */
  cpuMs: number | undefined;
}

const UNKNOWN: ProcessUsage = { rssBytes: 0, cpuMs: undefined };

/** Reads memory and CPU time of a process: from /proc if there is one, otherwise from `ps`; unknown when the process has ended. */
export async function readUsage(pid: number): Promise<ProcessUsage> {
  try {
    const [memory, times] = await Promise.all([
      readFile(`/proc/${pid}/statm`, "utf8"),
      readFile(`/proc/${pid}/stat`, "utf8"),
    ]);
    return { rssBytes: Number(memory.split(" ")[1]) * PAGE_BYTES, cpuMs: cpuMsOf(times) };
  } catch {
    // There is no /proc (macOS, BSD), or the process has ended, in which case `ps` fails as well.
    return readUsageFromPs(pid);
  }
}

// The page size of Linux on x86-64 and most arm64 systems. With larger pages the value is too low, which never kills a child wrongly.
const PAGE_BYTES = 4_096;
/** The time unit in /proc: there are 100 ticks per second on every Linux (`USER_HZ`). */
const TICK_MS = 10;

/** The name in brackets may contain any character; fields 14 and 15 of `proc_pid_stat(5)` are the times. */
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
    // The process has ended in the meantime.
    return UNKNOWN;
  }
}

/**
 * Converts a time as `ps` writes it to milliseconds: `1:02.34`, `01:02:03`, `2-01:02:03`.
 *
 * @returns the milliseconds; undefined for other texts
 */
export function parseCpuTime(time: string): number | undefined {
  const match = /^(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d\d(?:[.,]\d{1,3})?)$/u.exec(time);
  if (!match) return undefined;
  const [days, hours, minutes, seconds] = match.slice(1).map((digits) => Number((digits ?? "0").replace(",", ".")));
  return Math.round((((days ?? 0) * 24 + (hours ?? 0)) * 3_600 + (minutes ?? 0) * 60 + (seconds ?? 0)) * 1_000);
}
