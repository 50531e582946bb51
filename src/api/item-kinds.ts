/** What items are. Apart from the schemas: search threads load them, and each thread would hold the schemas' libraries. */
export const ITEM_KINDS = ["task", "file", "page", "message"] as const;

/** Where a task stands. */
export const TASK_STATUSES = ["open", "done"] as const;
