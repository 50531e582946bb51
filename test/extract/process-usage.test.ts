import { expect, test } from "vitest";
import { parseCpuTime, readUsage } from "#extract/process-usage.ts";

test.runIf(process.platform === "linux")(
  "a process is seen with its memory and the CPU time that it used",
  async () => {
    const before = await readUsage(process.pid);
    const from = process.cpuUsage();
    while (process.cpuUsage(from).user < 100_000) Math.random();
    const after = await readUsage(process.pid);
    expect(before.rssBytes).toBeGreaterThan(10_000_000);
    expect((after.cpuMs ?? 0) - (before.cpuMs ?? 0)).toBeGreaterThan(50);
  },
);

test("one that is gone uses nothing that anyone could tell", async () => {
  expect(await readUsage(2 ** 31 - 2)).toEqual({ rssBytes: 0, cpuMs: undefined });
});

test.for([
  ["0:00.05", 50],
  ["1:02.34", 62_340],
  ["1:02,34", 62_340],
  ["01:02:03", 3_723_000],
  ["2-01:02:03", 176_523_000],
  ["", undefined],
  ["12", undefined],
] as const)("ps writes times in several ways: %s", ([time, ms]) => {
  expect(parseCpuTime(time)).toBe(ms);
});
