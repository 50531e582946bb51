import type { Clock } from "#core/clock.ts";
import { isoOf } from "#core/instant.ts";
import { formatForPeople } from "./log-lines.ts";
import { appendTo, appendToFile, findFileFault, type LogOutput, makeLogOutput } from "./log-output.ts";

/**
 * The log's destination: a file if one is named, else an open descriptor, and whether people read the descriptor's
 * output.
 */
export interface OpenLogOptions {
  logFile: string | undefined;
  fd: number;
  isTerminal: boolean;
  hasColour: boolean;
  clock: Clock;
}

const STDERR = 2;
const MAX_LOG_BYTES = 5 * 1024 * 1024;

/**
 * Opens the log: short lines for people on a terminal, else JSON. A file that can't be opened at start is reported and
 * not used.
 */
export function openLog(
  { logFile: named, fd, isTerminal, hasColour, clock }: OpenLogOptions,
  say: (line: string) => void,
): LogOutput {
  const fault = named === undefined ? undefined : findFileFault(named);
  if (fault !== undefined) {
    say(
      `Warning: The log file ${named} can't be opened (${fault}), so log lines go here. Create its folder, or set KB_LOG_FILE to a file that this user can write, and start the server again.`,
    );
  }
  const logFile = fault === undefined ? named : undefined;
  const forPeople = (line: string) => formatForPeople(line, hasColour);
  const format = isTerminal && logFile === undefined ? forPeople : (line: string) => line;
  const notice = (lost: number) => {
    const fields = { level: "warn", time: isoOf(clock.now()), lost, msg: "log lines were lost" };
    return format(`${JSON.stringify(fields)}\n`);
  };
  const append =
    fault !== undefined
      ? appendTo(STDERR)
      : logFile === undefined
        ? appendTo(fd)
        : appendToFile(logFile, MAX_LOG_BYTES);
  const output = makeLogOutput({ append, notice });
  return { ...output, write: (line) => output.write(format(line)) };
}
