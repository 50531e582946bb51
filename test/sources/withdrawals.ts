/** How long it takes at most until what is withdrawn at a source is withdrawn here: the table of `docs/permissions.md`. */

/** What somebody lost. */
export const LOSSES = ["team", "container", "private", "suspended"] as const;
export type Loss = (typeof LOSSES)[number];

/**
 * What acts: the reading of people and groups, the connector's next sync, one that reads its groups again, a notification; `none` =
 * the source has no such thing.
 */
type Acts = "people" | "sync" | "groups" | "webhook" | "none";

export interface Row {
  name: string;
  /** With a webhook that tells of it. */
  isTold: boolean;
  acts: Record<Loss, Acts>;
}

const row = (name: string, isTold: boolean, team: Acts, container: Acts, closed: Acts, suspended: Acts): Row => ({
  name,
  isTold,
  acts: { team, container, private: closed, suspended },
});

/** Columns: left a team or group; lost a container; a container was made private; suspended. */
export const WITHDRAWALS: readonly Row[] = [
  row("Confluence", false, "people", "people", "people", "people"),
  row("Confluence", true, "people", "webhook", "webhook", "webhook"),
  row("Gitea", false, "people", "people", "people", "people"),
  row("GitHub", false, "people", "people", "people", "people"),
  row("GitHub", true, "webhook", "webhook", "webhook", "people"),
  row("Google Drive", false, "groups", "sync", "sync", "people"),
  row("Google Drive", true, "groups", "webhook", "webhook", "people"),
  row("Jira", false, "people", "people", "people", "people"),
  row("Jira", true, "people", "people", "webhook", "webhook"),
  row("Matrix", false, "none", "people", "people", "people"),
  row("Slack", false, "none", "people", "people", "people"),
  row("Slack", true, "none", "webhook", "webhook", "webhook"),
];

/** Milliseconds, without the time that the reading itself takes. */
export const WORST_MS: Readonly<Record<Exclude<Acts, "none">, number>> = {
  people: 5 * 60_000,
  sync: 30 * 60_000,
  groups: 35 * 60_000,
  webhook: 10_000,
};

const WORDS: Readonly<Record<Acts, string>> = {
  people: "5 or 15 minutes",
  sync: "30 minutes",
  groups: "35 minutes",
  webhook: "10 seconds",
  none: "–",
};

/** The cells of the table, without its head. */
export function toCells(rows: readonly Row[]): string[][] {
  return rows.map(({ name, isTold, acts }) => [
    isTold ? `${name}, with a webhook` : name,
    ...LOSSES.map((loss) => WORDS[acts[loss]]),
  ]);
}
