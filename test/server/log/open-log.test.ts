import { join } from "node:path";
import { expect, test } from "vitest";
import { openLog } from "#server/log/open-log.ts";
import { makeTestClock } from "../../helpers.ts";
import { tempDir } from "../../temp-dir.ts";

test("a log file that can't be opened is told at the start, with what to do", () => {
  const said: string[] = [];
  const open = (logFile: string) =>
    openLog({ logFile, fd: 1, isTerminal: false, hasColour: false, clock: makeTestClock() }, (line) => said.push(line));
  open(join(tempDir(), "kb.log"));
  expect(said).toEqual([]);
  const missing = join(tempDir(), "nowhere", "kb.log");
  open(missing);
  expect(said).toEqual([
    `Warning: The log file ${missing} can't be opened (ENOENT), so log lines go here. Create its folder, or set KB_LOG_FILE to a file that this user can write, and start the server again.`,
  ]);
});
