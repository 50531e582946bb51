import { WAITING_FACTOR } from "./limits.ts";

/** The time limit of one file. */
export interface FileTime {
  /** False once the time is used up. */
  hasTime(): boolean;
  /** Whether a caller checked for time after it was used up, and so stopped. */
  isOver(): boolean;
}

/** How often the CPU time is read, in milliseconds of wall-clock time: a read costs more than a cell of a table. */
const LOOK_MS = 10;

/**
 * Makes the limit: CPU time, and wall-clock time `WAITING_FACTOR` times as long, so that other programs on the machine
 * don't cut a text short.
 *
 * @param cpuMs  what the file may use, in milliseconds of CPU time
 */
export function makeFileTime(cpuMs: number, tools: { now(): number; cpuMs(): number }): FileTime {
  const from = { clock: tools.now(), cpu: tools.cpuMs() };
  let lookedAt = from.clock;
  let isOver = false;
  return {
    hasTime() {
      const now = tools.now();
      if (isOver || now - lookedAt < LOOK_MS) return !isOver;
      lookedAt = now;
      isOver = tools.cpuMs() - from.cpu >= cpuMs || now - from.clock >= cpuMs * WAITING_FACTOR;
      return !isOver;
    },
    isOver: () => isOver,
  };
}
