/** When reported changes are processed, in milliseconds. */
export interface Pace {
  /** The delay after the last change. */
  quietMs: number;
  /** The longest delay after the first change, even if changes continue. */
  longestMs: number;
}

/**
 * With this delay, a copy or a build counts as one change, and a file isn't read while it is being written. A folder
 * that changes constantly is still reported. Two seconds is also the age from which a file's version is final
 * (`map.ts`).
 */
export const DEFAULT_PACE: Pace = { quietMs: 2_000, longestMs: 30_000 };

/** The most names in one call. With more names, everything is checked instead. */
export const MANY_NAMES = 500;

/**
 * Makes a collector that calls `due` with the names added since the last call, or with undefined if there were too
 * many. Only one call runs at a time: names that arrive during a call are passed to the next one. The timers never keep
 * the process alive.
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
    /** Adds a name; null = an unknown name. */
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
