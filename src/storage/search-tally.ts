/**
 * The number of running searches, for the threads that give way to them: a message for each would cost more than it
 * saves. A thread gets the memory when it starts.
 */
export interface SearchTally {
  memory: SharedArrayBuffer;
  begin(): void;
  end(): void;
  /** Number of running searches. */
  atWork(): number;
  /** Searches ended so far, modulo 2³². */
  ended(): number;
}

const AT_WORK = 0;
const ENDED = 1;

/** Makes the tally, or opens it on another thread's memory. */
export function makeSearchTally(memory = new SharedArrayBuffer(8)): SearchTally {
  const cells = new Int32Array(memory);
  return {
    memory,
    begin: () => void Atomics.add(cells, AT_WORK, 1),
    end() {
      Atomics.add(cells, ENDED, 1);
      Atomics.sub(cells, AT_WORK, 1);
    },
    atWork: () => Atomics.load(cells, AT_WORK),
    ended: () => Atomics.load(cells, ENDED),
  };
}
