/** The kinds of items. They are separate from the schemas, because each search thread loads them and would also load the schemas' libraries. */
export const ITEM_KINDS = ["task", "file", "page", "message"] as const;

/** The state of a task. */
export const TASK_STATUSES = ["open", "done"] as const;
