import type { ConnectorAct } from "./connector-acts.ts";
import type { Connector } from "./connector-records.ts";

/** Words for "Only … can …". */
export const ACT_WORDS: Readonly<Record<ConnectorAct, string>> = {
  rename: "rename it",
  schedule: "change its schedule",
  sync: "sync it",
  pause: "pause it",
  resume: "resume it after pausing it",
  delete: "delete it",
  narrow_access: "narrow its access",
  widen_access: "let more people see it",
  narrow_scope: "exclude more from it",
  widen_scope: "include more in it",
  configure: "change its settings or readers",
  reconnect: "change its credentials or account",
  browse: "browse its source",
  decide_removals: "decide what it removes",
  restore: "restore its items",
  webhook: "manage its webhook",
  link_people: "link its users",
  rotate_key: "create its key",
  end_keys: "revoke its keys",
  take_over: "take it over",
};

/** The fields that determine what a person can do with the connector, and who owns it. */
export type ActsOf = Pick<Connector, "allowed" | "state" | "isPushed"> & { owner: Pick<Connector["owner"], "name"> };

/** Describes who may perform actions that this person may not; undefined if they may. */
export function whoMay(connector: ActsOf, ...acts: readonly ConnectorAct[]): string | undefined {
  const { allowed } = connector;
  const missing = acts.filter((act) => !allowed.includes(act));
  if (missing.length === 0) return undefined;
  return `${subjectOf(connector, missing)} can ${listOf(missing.map((act) => ACT_WORDS[act]))}.`;
}

/** Describes what this person can do, and who can do the rest; empty for a person who can do everything that an owner can. */
export function describeActs(connector: ActsOf): string[] {
  const { allowed, state, isPushed } = connector;
  if (state === "deleting") return [];
  const rest = OWNERS_ACTS.filter((act) => (act === "rotate_key" ? isPushed : !isPushed || !isOfSource(act)));
  const held = state === "paused" ? [...rest, "resume" as const] : rest;
  const others = whoMay(connector, ...held);
  if (others === undefined) return [];
  // Saying that a running connector could be resumed would be useless.
  const own = allowed.filter((act) => act !== "resume" || state === "paused" || state === "error");
  return [`You can ${listOf(own.map((act) => ACT_WORDS[act]))}.`, others];
}

/** Actions that only an owner can perform, on a connector that reads a source and on one that is pushed to. */
const OWNERS_ACTS = ["widen_access", "widen_scope", "configure", "reconnect", "rotate_key"] as const;

function isOfSource(act: ConnectorAct): boolean {
  return act === "widen_scope" || act === "reconnect";
}

/** Only the owner can always let more people see the connector. Actions that the owner can't perform belong to admins. */
function subjectOf({ allowed, state, owner, isPushed }: ActsOf, missing: readonly ConnectorAct[]): string {
  if (missing.includes("take_over")) return isPushed ? "Only an owner of the workspace" : "Only an admin";
  if (allowed.includes("widen_access")) return "Only an admin";
  if (state === "needs_owner") return "Only a new owner, who takes it over,";
  return owner.name === "" ? "Only the owner of this connector" : `Only ${owner.name}, who owns this connector,`;
}

function listOf(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  if (words.length < 2) return last;
  return `${words.slice(0, -1).join(", ")}${words.length > 2 ? "," : ""} or ${last}`;
}
