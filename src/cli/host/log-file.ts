/** A file to which lines are appended, mode 0600. */
import { appendFileSync, constants } from "node:fs";

/** Appends a line. Returns the system's error code on failure. Never blocks: a pipe without a reader is a failure. */
export function makeLogFile(path: string): (line: string) => string | undefined {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  // Windows doesn't have this flag.
  const withoutWaiting = constants.O_NONBLOCK ?? 0;
  // Node accepts the numeric flags here, although its types only declare the names.
  const flag = (O_APPEND | O_CREAT | O_WRONLY | withoutWaiting) as unknown as string;
  return (line) => {
    try {
      appendFileSync(path, line, { mode: 0o600, flag });
      return undefined;
    } catch (error) {
      return error instanceof Error && "code" in error ? String(error.code) : String(error);
    }
  };
}
