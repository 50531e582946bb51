/** The kinds of items. Separate from the schemas: search threads load them, and each thread would load the schemas' libraries. */
export const ITEM_KINDS = ["task", "file", "page", "message"] as const;

/** The state of a task. */
export const TASK_STATUSES = ["open", "done"] as const;
