import type { QueueStore } from "#server/ports/store/queue.ts";
import type { SqlHandles } from "../handles.ts";

export function makeQueueStore(_sql: SqlHandles): QueueStore {
  return {};
}
