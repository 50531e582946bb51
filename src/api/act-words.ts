import type { ConnectorAct } from "./connector-acts.ts";
import type { Connector } from "./connector-records.ts";

/** Each as it stands in "Only … can …". */
export const ACT_WORDS: Readonly<Record<ConnectorAct, string>> = {
  rename: "rename it",
  schedule: "change its schedule",
  sync: "sync it",
  pause: "pause it",
  resume: "resume it after pausing it",
  delete: "delete it",
  narrow_access: "narrow its access",
  widen_access: "let more people see it",
  narrow_scope: "leave out more of it",
  widen_scope: "include more in it",
  configure: "change its settings or readers",
  reconnect: "change its credentials or account",
  browse: "browse its source",
  decide_removals: "decide what it removes",
  restore: "restore its items",
  webhook: "manage its webhook",
  link_people: "link its users",
  rotate_key: "create its key",
  end_keys: "end its keys",
  take_over: "take it over",
};

/** What tells which acts a person has, and whose the connector is. */
export type ActsOf = Pick<Connector, "allowed" | "state" | "isPushed"> & { owner: Pick<Connector["owner"], "name"> };

/** Who may do what the person may not; undefined where they may. */
export function whoMay(connector: ActsOf, ...acts: readonly ConnectorAct[]): string | undefined {
  const { allowed } = connector;
  const missing = acts.filter((act) => !allowed.includes(act));
  if (missing.length === 0) return undefined;
  return `${subjectOf(connector, missing)} can ${listOf(missing.map((act) => ACT_WORDS[act]))}.`;
}

/** What the person can do, and who can do the rest; nothing for who can do everything that an owner can. */
export function describeActs(connector: ActsOf): string[] {
  const { allowed, state, isPushed } = connector;
  if (state === "deleting") return [];
  const rest = OWNERS_ACTS.filter((act) => (act === "rotate_key" ? isPushed : !isPushed || !isOfSource(act)));
  const held = state === "paused" ? [...rest, "resume" as const] : rest;
  const others = whoMay(connector, ...held);
  if (others === undefined) return [];
  // That a connector which runs could be resumed helps nobody.
  const own = allowed.filter((act) => act !== "resume" || state === "paused" || state === "error");
  return [`You can ${listOf(own.map((act) => ACT_WORDS[act]))}.`, others];
}

/** What only an owner can do, to a connector that reads a source or is pushed to. */
const OWNERS_ACTS = ["widen_access", "widen_scope", "configure", "reconnect", "rotate_key"] as const;

function isOfSource(act: ConnectorAct): boolean {
  return act === "widen_scope" || act === "reconnect";
}

/** Its owner alone can always let more people see it: what they can't do is an admin's. */
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
