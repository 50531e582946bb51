import type { SourceState } from "#sources/context.ts";

/** A source's state, as one run reads and changes it. */
export interface RunState extends SourceState {
  /** Returns the changes since the last call, as JSON; null = deleted. */
  take(): Record<string, string | null>;
}

const MAX_KEY_CHARS = 200;
const MAX_VALUE_BYTES = 64 * 1_024;

/** Makes the state of a run, based on the stored state. */
export function makeRunState(find: (key: string) => Promise<string | undefined>): RunState {
  const put = new Map<string, string | null>();
  let fresh: Record<string, string | null> = {};
  return {
    async get(key) {
      const text = put.has(key) ? put.get(key) : await find(key);
      return typeof text === "string" ? (JSON.parse(text) as unknown) : undefined;
    },
    put(key, value) {
      const text = value === undefined ? null : JSON.stringify(value);
      if (key === "" || key.length > MAX_KEY_CHARS) throw new RangeError(`A key has 1 to ${MAX_KEY_CHARS} characters.`);
      if (text !== null && Buffer.byteLength(text) > MAX_VALUE_BYTES) {
        throw new RangeError(`The value of ${JSON.stringify(key)} is over ${MAX_VALUE_BYTES} bytes.`);
      }
      put.set(key, text);
      fresh[key] = text;
    },
    take() {
      const taken = fresh;
      fresh = {};
      return taken;
    },
  };
}
