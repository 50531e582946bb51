import { WAITING_FACTOR } from "./limits.ts";

/** The time limit of one file. */
export interface FileTime {
  /** False once the time is used up. */
  hasTime(): boolean;
  /** Whether a caller checked the time after it was used up, and stopped because of that. */
  isOver(): boolean;
}

/** Minimum wall-clock time in milliseconds between two reads of the CPU time, because a read costs more than a cell of a table. */
const LOOK_MS = 10;

/**
 * Makes the limit: CPU time, and wall-clock time `WAITING_FACTOR` times as long, so that other programs on the machine don't cause a text to be
 * truncated.
 *
 * @param cpuMs  CPU time that the file may use, in milliseconds
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
