/**
 * How many searches are at work, for the threads that give way to them: a message for each would cost more than it
 * spares. The memory is handed to a thread when it starts.
 */
export interface SearchTally {
  memory: SharedArrayBuffer;
  begin(): void;
  end(): void;
  /** Searches at work. */
  atWork(): number;
  /** Searches that have ended so far, modulo 2³². */
  ended(): number;
}

const AT_WORK = 0;
const ENDED = 1;

/** Makes the tally, or opens it on the memory that another thread has made. */
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
