import { setImmediate } from "node:timers";
import { ApiError } from "#api/errors.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { EntityService } from "#server/entities/types.ts";
import type { SearchService } from "./types.ts";
import { COMPUTING_TIME, type ComputingTime, makeGaps } from "./gaps.ts";
import type { Clock } from "#core/clock.ts";
import { makeFairQueue, type Waiter } from "./fair-queue.ts";

/** Limits how many searches run at once. The others wait in turn, up to the number that can start in time. */
export type SearchGate = ReturnType<typeof makeSearchGate>;

/**
 * The number of searches that run at once: two for each search thread, so that one is ready when a thread becomes free.
 */
export const SEARCHES_AT_ONCE = 4;

/**
 * Searches of one person at once: one for each search thread or, while others search, only one, so that a thread stays
 * free for them. Source: docs/decisions/0050.
 */
const [MOST_ALONE, MOST_BESIDE_OTHERS] = [2, 1];
/** Others count as searching if any of them searched within this time. */
const BESIDE_MS = 10_000;

/** The longest wait until a search starts. */
const MAX_WAIT_MS = 1_000;
/** The assumed duration of a search until some have been measured, and the weight of each measurement. */
const FIRST_GUESS_MS = 25;
const WEIGHT = 0.1;
/** The number of searches that may always wait, however slow searches are, and the maximum that may ever wait. */
const FEWEST_WAITING = 4;
const MOST_WAITING = 1_000;

interface Finding {
  find(actor: Actor, kbId: string, words: string): Promise<unknown>;
}

interface Waiting {
  waiter: Waiter;
  start(): void;
  refuse(error: ApiError): void;
}

export interface SearchGateOptions {
  clock: Clock;
  slots?: number;
  /** For tests. */
  time?: ComputingTime;
}

/**
 * Makes the gate. The number of searches that may wait depends on how long searches take, so that the last one starts
 * within a second.
 */
export function makeSearchGate({ clock, slots = SEARCHES_AT_ONCE, time = COMPUTING_TIME }: SearchGateOptions) {
  const queue = makeFairQueue<Waiting>();
  const running = makeTally();
  const recent = makeRecent(clock);
  // Searches wait only while other searches run.
  const gaps = makeGaps(() => running.all === 0, time);
  let averageMs = FIRST_GUESS_MS;

  const mostWaiting = () => {
    const inTime = Math.floor((MAX_WAIT_MS / averageMs) * slots);
    return Math.min(MOST_WAITING, Math.max(FEWEST_WAITING, inTime));
  };

  const mayBegin = (waiter: Waiter) => running.of(waiter) < (recent.hasOther(waiter) ? MOST_BESIDE_OTHERS : MOST_ALONE);

  const settle = () => {
    while (running.all < slots) {
      const next = queue.take(mayBegin);
      if (next === undefined) break;
      running.add(next.waiter, 1);
      next.start();
    }
    while (queue.size > mostWaiting()) queue.shed()?.refuse(overloaded((queue.size * averageMs) / slots));
  };

  const perform = async <T>(waiter: Waiter, work: () => Promise<T>): Promise<T> => {
    const startedAt = clock.now();
    try {
      return await work();
    } finally {
      // If the clock was set back, the measured time is useless.
      const tookMs = Math.max(1, clock.now() - startedAt);
      averageMs += (tookMs - averageMs) * WEIGHT;
      running.add(waiter, -1);
      // The answer is built from the results before the next search starts. Results would pile up if building an answer
      // took longer than a search.
      setImmediate(settle);
      gaps.begin();
    }
  };

  return {
    /**
     * Runs the work when it is this person's turn.
     *
     * @throws ApiError `search_overloaded` at once when more searches wait than can start within a second. The newest
     *   search
     *   of the person with the most waiting searches is refused, which need not be this one.
     */
    async run<T>(waiter: Waiter, work: () => Promise<T>): Promise<T> {
      recent.note(waiter);
      await new Promise<void>((start, refuse) => {
        queue.add(waiter, { waiter, start, refuse });
        settle();
      });
      return perform(waiter, work);
    },
    /** Waits until no search is running, for background work; see `makeGaps`. */
    waitForGap: (): Promise<void> => gaps.wait(),
  };
}

/** Records the people who searched recently, the latest last. */
function makeRecent(clock: Clock) {
  const people = new Map<string, number>();
  return {
    note(waiter: Waiter): void {
      people.delete(keyOf(waiter));
      people.set(keyOf(waiter), clock.now());
    },
    hasOther(waiter: Waiter): boolean {
      for (const [key, at] of people) {
        if (clock.now() - at <= BESIDE_MS) break;
        people.delete(key);
      }
      return people.size > (people.has(keyOf(waiter)) ? 1 : 0);
    },
  };
}

function keyOf({ workspaceId, userId }: Waiter): string {
  return `${workspaceId} ${userId}`;
}

/** Counts running searches, in total and per person. */
function makeTally() {
  const people = new Map<string, number>();
  return {
    all: 0,
    of: (waiter: Waiter) => people.get(keyOf(waiter)) ?? 0,
    add(waiter: Waiter, count: 1 | -1) {
      this.all += count;
      const left = this.of(waiter) + count;
      if (left === 0) people.delete(keyOf(waiter));
      else people.set(keyOf(waiter), left);
    },
  };
}

/** Wraps the search in the gate. */
export function gatedSearch(gate: SearchGate, service: SearchService): SearchService {
  return { search: (actor, args) => gate.run(actor, () => service.search(actor, args)) };
}

/** Wraps the entity service in the same gate, because an overview queries the index as often as a search does. */
export function gatedEntities(gate: SearchGate, service: EntityService): EntityService {
  return {
    search: (actor, query) => gate.run(actor, () => service.search(actor, query)),
    context: (actor, request) => gate.run(actor, () => service.context(actor, request)),
  };
}

/** Wraps the search for words in a text in the same gate. Reading the text doesn't wait. */
export function gatedFiles<Files extends Finding>(gate: SearchGate, service: Files): Files {
  return { ...service, find: (actor, ...asked) => gate.run(actor, () => service.find(actor, ...asked)) };
}

function overloaded(waitMs: number): ApiError {
  return new ApiError("search_overloaded", {
    message: "The server has too many searches waiting. Try again in a moment.",
    retryAfterMs: Math.max(1_000, Math.min(10_000, waitMs)),
  });
}
