/** Allows one holder at a time across processes: a lock file with a lease, so that a dead holder blocks no one. */
import type { Stats } from "node:fs";
import { open, readFile, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import type { CliClock } from "./deps.ts";
import { type CliFailure, failure } from "./failure.ts";
import { makeFolder, parseObject, unwritable } from "./state-file.ts";

export interface LockOptions {
  clock: CliClock;
  /** Milliseconds after which others may take the lock from a live holder. */
  leaseMs: number;
  /** Milliseconds to wait for the lock. */
  waitMs: number;
}

/**
 * Runs `work` while only this process holds the lock file at `path`.
 *
 * @throws CliFailure `lock_timeout` (exit code 9) when others hold it longer than `waitMs` and a failure for which `isUnwritable` is true when files
 * can't be created in its folder
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const mine = await acquire(path, options);
  try {
    return await work();
  } finally {
    // If our lease expired, another process may hold the lock now, so its file is kept. A file that can't be removed expires with its lease.
    if ((await contentOf(path)) === mine) await rm(path, { force: true }).catch(() => undefined);
  }
}

const POLL_MS = 40;
/** A file without readable content is still being written, or its writer has just ended. */
const UNREADABLE_MS = 2_000;

async function acquire(path: string, { clock, leaseMs, waitMs }: LockOptions): Promise<string> {
  await makeFolder(dirname(path));
  const giveUpAt = clock.now() + waitMs;
  for (;;) {
    const until = clock.now() + leaseMs;
    const mine = JSON.stringify({ pid: process.pid, host: hostname(), until, nonce: crypto.randomUUID() });
    if (await create(path, mine)) return mine;
    const seen = await contentOf(path);
    if (seen !== undefined && (await isStale(path, seen, clock.now()))) await removeStale(path, seen);
    else if (clock.now() < giveUpAt) await clock.sleep(POLL_MS);
    else throw heldTooLong(path);
  }
}

async function create(path: string, content: string): Promise<boolean> {
  const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    // Windows reports EPERM while another process removes the file.
    if (error.code === "EEXIST" || (error.code === "EPERM" && process.platform === "win32")) return undefined;
    throw unwritable(path, error);
  });
  if (file === undefined) return false;
  try {
    await file.writeFile(content);
  } catch (error) {
    // A full disk stored the file's name without its content, and the next process would wait for it.
    await rm(path, { force: true }).catch(() => undefined);
    throw unwritable(path, error);
  } finally {
    await file.close();
  }
  return true;
}

async function contentOf(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch(() => undefined);
}

async function isStale(path: string, content: string, now: number): Promise<boolean> {
  const holder = parseObject(content);
  const until = holder?.["until"];
  const pid = holder?.["pid"];
  if (typeof until !== "number" || typeof pid !== "number") {
    const info = await stat(path).catch(() => undefined);
    return info !== undefined && ageMs(info) > UNREADABLE_MS;
  }
  return until < now || (holder?.["host"] === hostname() && !isAlive(pid));
}

/** The age by the machine's clock, which set the file's time, instead of the clock that was passed in. */
function ageMs({ mtimeMs }: Stats): number {
  return Date.now() - mtimeMs;
}

/** True while a process with this number runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process runs and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * Removes a dead holder's file. If several processes see it, only one removes it, and it removes only that file: a second lock guards the check and
 * the removal.
 */
async function removeStale(path: string, seen: string): Promise<void> {
  const claim = `${path}.steal`;
  if (!(await create(claim, ""))) {
    const info = await stat(claim).catch(() => undefined);
    if (info !== undefined && ageMs(info) > UNREADABLE_MS) await rm(claim, { force: true });
    return;
  }
  try {
    if ((await contentOf(path)) === seen) await rm(path, { force: true });
  } finally {
    await rm(claim, { force: true });
  }
}

function heldTooLong(path: string): CliFailure {
  return failure(
    "timedOut",
    "lock_timeout",
    `Another kb process holds ${path} and does not finish.`,
    "Repeat the command in a moment.",
  );
}
