import type { StoredItems, SyncContext } from "#sources/context.ts";

/** What the engine adds to a context for a run: what is stored, and a state of its own. */
export function runParts(
  versionOf: (externalId: string) => string | undefined = () => undefined,
  list: StoredItems["list"] = async function* () {},
): Pick<SyncContext<unknown>, "stored" | "state"> {
  const state = new Map<string, unknown>();
  return {
    stored: { version: async (externalId) => versionOf(externalId), accessKey: async () => undefined, list },
    state: { get: async (key) => state.get(key), put: (key, value) => void state.set(key, value) },
  };
}
