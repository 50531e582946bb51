/**
 * The long form of the kill test: `npx tsx test/long/sync-kill.ts ROOT [KILLS]` syncs the folder once in peace and once
 * killed at random moments, and compares the end states. Prints the figures; exit code 1 when they differ.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { syncKilling } from "../server/sync/kill/run.ts";

const [root, kills = "10"] = process.argv.slice(2);
if (!root) throw new Error("Usage: sync-kill.ts ROOT [KILLS]");
const dir = mkdtempSync(join(tmpdir(), "kb-sync-kill-"));
try {
  const calm = await syncKilling(join(dir, "calm.db"), root, []);
  const say = (line: string) => process.stdout.write(`${line}\n`);
  say(
    `calm: ${calm.items} items in ${Math.round(calm.tookMs)} ms, ${Math.round((calm.items * 1_000) / calm.tookMs)}/s`,
  );
  const delays = Array.from({ length: Number(kills) }, () => 800 + Math.random() * calm.tookMs);
  const killed = await syncKilling(join(dir, "killed.db"), root, delays);
  say(`killed ${killed.kills} of ${kills} times: ${killed.items} items`);
  say(killed.digest === calm.digest ? "same end state" : "DIFFERENT end state");
  process.exitCode = killed.digest === calm.digest ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
