/** When to act on reported changes. Milliseconds. */
export interface Pace {
  /** After this long without another change. */
  quietMs: number;
  /** After this long since the first change, even if changes continue. */
  longestMs: number;
}

/**
 * A copy or a build is one change, and a file isn't read while it is written; a place that constantly changes is still
 * reported. Two seconds are also the age from which a file's version is final (`map.ts`).
 */
export const DEFAULT_PACE: Pace = { quietMs: 2_000, longestMs: 30_000 };

/** Above this, names add nothing to "look everywhere". */
export const MANY_NAMES = 500;

/**
 * Calls `due` with the names added since the last call, undefined when there were too many. One call at a time: names
 * that arrive during it go to the next. Its timers never keep the process alive.
 */
export function makeCollector(pace: Pace, due: (names: string[] | undefined) => Promise<void>) {
  let names = new Set<string>();
  let isMany = false;
  let isBusy = false;
  let isStopped = false;
  let firstAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const arm = () => {
    if (isStopped || isBusy || firstAt === undefined) return;
    clearTimeout(timer);
    const left = firstAt + pace.longestMs - performance.now();
    timer = setTimeout(fire, Math.max(0, Math.min(pace.quietMs, left))).unref();
  };

  const fire = () => {
    const heard = isMany ? undefined : [...names];
    [names, isMany, firstAt, isBusy] = [new Set(), false, undefined, true];
    void due(heard).finally(() => {
      isBusy = false;
      arm();
    });
  };

  return {
    /** null = an unknown name. */
    add(name: string | null): void {
      isMany ||= name === null || names.size >= MANY_NAMES;
      if (name !== null && !isMany) names.add(name);
      firstAt ??= performance.now();
      arm();
    },
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
