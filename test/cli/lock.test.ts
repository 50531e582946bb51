import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { withLock } from "#cli/host/lock.ts";
import { tempDir } from "../temp-dir.ts";

const clock = {
  now: () => Date.now(),
  sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.min(ms, 2))),
};
const OPTIONS = { clock, leaseMs: 60_000, waitMs: 10_000 };

test("one at a time, everyone in the end, and nothing is left behind", async ({ expect }) => {
  const dir = tempDir();
  let inside = 0;
  let most = 0;
  let total = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await clock.sleep(1);
    inside -= 1;
    total += 1;
  };
  await Promise.all(Array.from({ length: 12 }, () => withLock(join(dir, "a.lock"), OPTIONS, work)));
  expect([most, total, readdirSync(dir)]).toEqual([1, 12, []]);
});

test("work that fails gives the lock back", async ({ expect }) => {
  const path = join(tempDir(), "a.lock");
  await expect(withLock(path, OPTIONS, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withLock(path, OPTIONS, async () => "yes")).toBe("yes");
});

test("the lock of a process that died is taken at once, by one", async ({ expect }) => {
  const dir = tempDir();
  const child = spawn(process.execPath, ["-e", ""]);
  await new Promise((resolve) => child.once("close", resolve));
  const dead = { pid: child.pid, host: hostname(), until: Date.now() + 60_000, nonce: "x" };
  writeFileSync(join(dir, "a.lock"), JSON.stringify(dead));
  let inside = 0;
  const work = async (): Promise<number> => {
    inside += 1;
    const seen = inside;
    await clock.sleep(1);
    inside -= 1;
    return seen;
  };
  const all = await Promise.all(Array.from({ length: 5 }, () => withLock(join(dir, "a.lock"), OPTIONS, work)));
  expect([all, readdirSync(dir)]).toEqual([[1, 1, 1, 1, 1], []]);
});

test("a lease that is over, of another machine too, is taken; one that runs is waited for in vain", async ({
  expect,
}) => {
  const path = join(tempDir(), "a.lock");
  const other = { pid: 1, host: "elsewhere", until: Date.now() - 1, nonce: "x" };
  writeFileSync(path, JSON.stringify(other));
  expect(await withLock(path, OPTIONS, async () => "taken")).toBe("taken");
  writeFileSync(path, JSON.stringify({ ...other, until: Date.now() + 60_000 }));
  await expect(withLock(path, { ...OPTIONS, waitMs: 20 }, async () => "no")).rejects.toMatchObject({ exit: 9 });
});

test("an empty file is left to its writer for two seconds", async ({ expect }) => {
  const dir = tempDir();
  mkdirSync(dir, { recursive: true });
  const path = join(dir, "a.lock");
  writeFileSync(path, "");
  await expect(withLock(path, { ...OPTIONS, waitMs: 10 }, async () => "no")).rejects.toMatchObject({ exit: 9 });
  const before = new Date(Date.now() - 3_000);
  utimesSync(path, before, before);
  expect(await withLock(path, OPTIONS, async () => "taken")).toBe("taken");
});
