/** When what was heard is acted on. Milliseconds. */
export interface Pace {
  /** So long nothing more came. */
  quietMs: number;
  /** So long after the first, though there is no quiet. */
  longestMs: number;
}

/**
 * A copy or a build is one change, and a file is not read while it is written; a place that never rests is heard all the
 * same. Two seconds are also the age from which a file's version is final (`map.ts`).
 */
export const DEFAULT_PACE: Pace = { quietMs: 2_000, longestMs: 30_000 };

/** Collects names until it is quiet. */
export interface Collector {
  /** null = something, nobody knows what. */
  add(name: string | null): void;
  stop(): void;
}

/** More names at once say no more than "look everywhere". */
export const MANY_NAMES = 500;

/**
 * Calls `due` with the names heard since the last call, undefined when there were too many to name. One call at a time:
 * what comes meanwhile is for the next. Its timers never keep the process alive.
 */
export function makeCollector(pace: Pace, due: (names: string[] | undefined) => Promise<void>): Collector {
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
    add(name) {
      isMany ||= name === null || names.size >= MANY_NAMES;
      if (name !== null && !isMany) names.add(name);
      firstAt ??= performance.now();
      arm();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
