import { WAITING_FACTOR } from "./limits.ts";

/** The time that one file has. */
export interface FileTime {
  /** False from the moment on when it is used up. */
  hasTime(): boolean;
  /** Whether somebody asked for time when there was none any more, and so stopped. */
  isOver(): boolean;
}

/** So often the system is asked for the CPU time, in milliseconds of the clock: that costs more than a cell of a table. */
const LOOK_MS = 10;

/**
 * CPU time counts, beside a clock that is `WAITING_FACTOR` times as long: other programs on the machine cut no text.
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
