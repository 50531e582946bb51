/** Lets tasks pass in order while the bytes they hold stay under a limit. */
export interface ByteGate {
  /**
   * Waits for room for `bytes`, behind all earlier callers. A request larger than the limit passes alone.
   *
   * @returns a function that releases the room; a second call does nothing
   * @throws the signal's reason when it is aborted in the meantime
   */
  enter(bytes: number, signal: AbortSignal): Promise<() => void>;
}

/** Makes a gate for at most `limit` bytes. */
export function makeByteGate(limit: number): ByteGate {
  const line: { bytes: number; pass(): void }[] = [];
  let held = 0;

  function admit(): void {
    for (let next = line[0]; next && (held === 0 || held + next.bytes <= limit); next = line[0]) {
      line.shift();
      held += next.bytes;
      next.pass();
    }
  }

  return {
    async enter(bytes, signal) {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const waiting = {
          bytes,
          pass() {
            signal.removeEventListener("abort", giveUp);
            resolve();
          },
        };
        const giveUp = () => {
          line.splice(line.indexOf(waiting), 1);
          reject(signal.reason as Error);
          // The next request may be smaller.
          admit();
        };
        signal.addEventListener("abort", giveUp, { once: true });
        line.push(waiting);
        admit();
      });
      let isHeld = true;
      return () => {
        if (isHeld) held -= bytes;
        isHeld = false;
        admit();
      };
    },
  };
}
