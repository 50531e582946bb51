/** Progress of long work: on a terminal a bar that redraws itself, elsewhere a line every ten seconds. */
import { cleanLine } from "#api/clean.ts";
import { count, plural } from "#api/plural.ts";
import type { Deps } from "#cli/host/deps.ts";
import { duration } from "./output.ts";
import { fit } from "./table.ts";

export interface ProgressState {
  done: number;
  /** Null while unknown. */
  total: number | null;
  /** The current item: foreign text. */
  note?: string | null;
}

const REDRAW_MS = 100;
const LINE_EVERY_MS = 10_000;
const BAR_WIDTH = 24;
/** The period over which the rate is measured: short enough to be current, long enough not to jump. */
const RATE_WINDOW_MS = 5_000;

/** Shows the progress of `label` on stderr, counted in `unit`. */
export function makeProgress(deps: Pick<Deps, "io" | "clock" | "env">, label: string, unit: string) {
  const { io, clock } = deps;
  const isLive = io.isStderrTty && deps.env["TERM"] !== "dumb";
  const rate = makeRate();
  let shownAt = isLive ? -Infinity : clock.now();
  let hasBar = false;
  return {
    update(state: ProgressState): void {
      const now = clock.now();
      const perSecond = rate(now, state.done);
      if (now - shownAt < (isLive ? REDRAW_MS : LINE_EVERY_MS)) return;
      shownAt = now;
      const text = describe(label, unit, state, perSecond, isLive);
      io.stderr.write(isLive ? `\r${fit(text, io.columns() - 1)}\u001b[K` : `${text}\n`);
      hasBar = isLive;
    },
    /** Removes the bar; further output starts on a clean line. */
    stop(): void {
      if (hasBar) io.stderr.write("\r\u001b[K");
      hasBar = false;
    },
  };
}

function describe(label: string, unit: string, state: ProgressState, perSecond: number, isLive: boolean): string {
  const { done, total } = state;
  const note = state.note ? `  ${cleanLine(state.note, 200)}` : "";
  const speed = perSecond > 0 ? `  ${count(Math.max(1, perSecond))}/s` : "";
  const name = cleanLine(label, 40);
  if (total === null || total <= 0) return `${name}  ${plural(done, unit.replace(/s$/, ""))}${speed}${note}`;
  const share = Math.min(1, done / total);
  const left = perSecond > 0 && total > done ? `  ${duration(((total - done) / perSecond) * 1000)} left` : "";
  const filled = Math.round(share * BAR_WIDTH);
  const bar = isLive ? `[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}] ` : "";
  return `${name}  ${bar}${Math.floor(share * 100)} %  ${count(done)}/${count(total)} ${unit}${speed}${left}${note}`;
}

function makeRate(): (now: number, done: number) => number {
  const points: { at: number; done: number }[] = [];
  return (now, done) => {
    points.push({ at: now, done });
    while (points.length > 2 && now - (points[0]?.at ?? now) > RATE_WINDOW_MS) points.shift();
    const [first] = points;
    return first === undefined || now === first.at ? 0 : ((done - first.done) * 1000) / (now - first.at);
  };
}
