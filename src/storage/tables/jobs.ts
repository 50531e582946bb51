import { table, words } from "./table.ts";

const { text, integer, instant, json, oneOf, nullable } = words;

/** Work to be done once, by the worker that claims it first. */
export const JOBS = table(
  "jobs",
  ["jobId"],
  {
    jobId: text,
    workspaceId: text,
    type: oneOf([
      "sync",
      "purge_connector",
      "purge_refused",
      "purge_removed",
      "end_former_texts",
      "apply_secrets",
      "identities",
      "told_groups",
      "sweep_accesses",
      "account",
      "lapsed_flow",
      "server",
      "subscribe_webhook",
    ]),
    /** At most one job, waiting or claimed, has a given key. */
    dedupeKey: text,
    payload: json<Record<string, string>>(),
    /** Jobs with a lower number are claimed first. */
    priority: integer,
    /** Time from which the job may be claimed. */
    runAt: instant,
    attempt: integer,
    leaseOwner: nullable(text),
    leaseUntil: nullable(instant),
    createdAt: instant,
  },
  { unique: [["dedupeKey"]], indexes: { jobs_due: ["runAt", "priority"] } },
);

/** When a job of each workspace was last claimed. */
export const WORKSPACE_TURNS = table("workspace_turns", ["workspaceId"], { servedAt: instant });
