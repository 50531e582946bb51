/**
 * What large files cost: `npx tsx test/long/large-files.ts [CONNECTORS] [FILES] [MB] [--program FILE] [--rest SECONDS]
 * [--minutes N]` (after `npm run build`) syncs FILES (60) text files of MB (49) megabytes from a WebDAV server of its own
 * with each of CONNECTORS (1) connectors of a `kb serve` of its own. Prints memory while it runs, at its peak, and SECONDS
 * (180) after; exit code 1 when the tree had more than 900 MB, or the server keeps more than 100 MB. `--minutes` pauses
 * the connectors then.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CLI } from "../e2e/server-process.ts";
import { describe, syncLargeFiles } from "./large-files.suite.ts";

const MEGABYTE = 1024 * 1024;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    program: { type: "string", default: CLI },
    rest: { type: "string", default: "180" },
    minutes: { type: "string", default: "60" },
  },
});
const [connectors = "1", files = "60", megabytes = "49"] = positionals;
const dir = mkdtempSync(join(tmpdir(), "kb-large-files-"));
try {
  const { before, peak, after, states, tookMs, indexed } = await syncLargeFiles({
    program: values.program,
    dataDir: join(dir, "data"),
    connectors: Number(connectors),
    files: Number(files),
    megabytes: Number(megabytes),
    restMs: Number(values.rest) * 1_000,
    mostMs: Number(values.minutes) * 60_000,
    say,
  });
  say(`before: ${describe(before)}`);
  say(`peak:   ${describe(peak)}`);
  say(`after:  ${describe(after)}, ${values.rest} s later`);
  say(`${Math.round(tookMs / 1_000)} s, ${indexed} items, runs: ${states.join(" ")}`);
  if (peak.tree > 900 * MEGABYTE || after.server > before.server + 100 * MEGABYTE) process.exitCode = 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}

function say(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
