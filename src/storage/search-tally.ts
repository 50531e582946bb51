/**
 * The number of running searches, for the threads that pause during searches. It is in shared memory, because a message
 * for each search would cost more than it saves. A thread gets the memory when it starts.
 */
export type SearchTally = ReturnType<typeof makeSearchTally>;

const AT_WORK = 0;
const ENDED = 1;

/** Makes the tally, or opens it on another thread's memory. */
export function makeSearchTally(memory = new SharedArrayBuffer(8)) {
  const cells = new Int32Array(memory);
  return {
    memory,
    begin: (): void => void Atomics.add(cells, AT_WORK, 1),
    end(): void {
      Atomics.add(cells, ENDED, 1);
      Atomics.sub(cells, AT_WORK, 1);
    },
    /** Returns the number of running searches. */
    atWork: (): number => Atomics.load(cells, AT_WORK),
    /** Returns how many searches have ended so far, modulo 2³². */
    ended: (): number => Atomics.load(cells, ENDED),
  };
}
