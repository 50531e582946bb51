import type { ConnectorAct } from "#api/connector-acts.ts";
import type { Connector, ConnectorPublic, ScopePlan, SourceKind, Sync } from "#api/connector-records.ts";
import { count, plural } from "#api/plural.ts";

type State = ConnectorPublic["state"];
type Visibility = Connector["access"]["visibility"];

/** A connector's state in a few words, and how urgently it needs attention. */
export const STATE_WORDS: Readonly<Record<State, { title: string; tone: "ok" | "plain" | "warn" }>> = {
  pending_auth: { title: "Needs an account", tone: "warn" },
  active: { title: "Active", tone: "ok" },
  paused: { title: "Paused", tone: "plain" },
  needs_reauth: { title: "Needs credentials", tone: "warn" },
  needs_owner: { title: "Needs an owner", tone: "warn" },
  error: { title: "Error", tone: "warn" },
  deleting: { title: "Deleting", tone: "plain" },
};

export const SYNC_WORDS: Readonly<Record<Sync["state"], string>> = {
  queued: "Queued",
  running: "Running",
  waiting: "Waiting",
  cancelling: "Cancelling",
  succeeded: "Succeeded",
  partial: "Partly succeeded",
  failed: "Failed",
  cancelled: "Cancelled",
};

/** The content that a run of each mode reads. */
export const MODE_WORDS: Readonly<Record<Sync["mode"], string>> = {
  full: "Everything",
  incremental: "Changes",
  access: "Permissions",
  identities: "Users and groups",
  items: "Chosen items",
};

export const VISIBILITY_WORDS: Readonly<Record<Visibility, string>> = {
  private: "Only its owner",
  members: "Chosen members and groups",
  workspace: "Everyone in the workspace",
  source: "Everyone who can read it in the source",
};

/** How precisely a source reports who can see its items. */
const ACL_WORDS: Readonly<Record<SourceKind["acl"], string>> = {
  per_item: "People find what they can read there, item by item.",
  container: "People find what they can read there.",
  connector: "You choose who can find it here.",
};

/** Returns a description of who finds the indexed items of a source. */
export function readersWords({ acl, isForOwner }: Pick<SourceKind, "acl" | "isForOwner">): string {
  return isForOwner ? "Only you can find its items." : ACL_WORDS[acl];
}

/** Advice for a problem, and the command that helps. */
export interface Advice {
  says: string;
  command?: string;
}

/** Returns the advice for a connector's state; undefined if it works or is being removed. */
export function adviceOn({
  id,
  isPushed,
  state,
  stateReason,
}: Pick<Connector, "id" | "isPushed" | "state" | "stateReason">): Advice | undefined {
  const reason = stateReason ?? "";
  switch (state) {
    case "active":
    case "deleting":
      return undefined;
    case "paused":
      return { says: `Syncs are paused. Agents can still find its indexed items. ${reason}`.trim() };
    case "pending_auth":
      return { says: reason || "Connect an account to start syncing." };
    case "needs_reauth":
      return {
        says: reason || "The source rejected the connector's credentials. Update them to continue syncing.",
        command: `kb connectors update ${id} --credential KEY=@FILE`,
      };
    case "needs_owner":
      if (isPushed) {
        return {
          says: reason || "The connector's owner left the workspace. The workspace owner can take it over.",
          command: `kb connectors rotate-key ${id}`,
        };
      }
      return {
        says: reason || "The connector's owner left the workspace. An admin can take it over.",
        command: `kb connectors update ${id} --credential KEY=@FILE`,
      };
    case "error":
      return { says: reason || "The last sync failed.", command: `kb connectors resume ${id}` };
  }
}

/** Returns the action that helps a connector in its state; undefined if there is nothing to do. */
export function actOnNeed(state: State): ConnectorAct | undefined {
  switch (state) {
    case "needs_reauth":
      return "reconnect";
    case "needs_owner":
      return "take_over";
    case "paused":
    case "error":
      return "resume";
    case "pending_auth":
    case "active":
    case "deleting":
      return undefined;
  }
}

/** Returns the choices for who can see a connector. A person who may only narrow its access gets no wider choice. */
export function visibilitiesFor(
  visibility: Visibility,
  acl: SourceKind["acl"] | undefined,
  { isNarrowing }: { isNarrowing: boolean },
): Visibility[] {
  const all = new Set<Visibility>(["private", "members", "workspace", visibility]);
  if (acl !== undefined && acl !== "connector") all.add("source");
  if (!isNarrowing || visibility === "workspace" || visibility === "source") return [...all];
  return visibility === "private" ? ["private"] : ["private", "members"];
}

/** Whether a person must act because syncing stops or items stay hidden. */
export function waitsForSomebody(
  connector: Pick<Connector, "id" | "isPushed" | "state" | "stateReason" | "counts">,
): boolean {
  return connector.counts.held > 0 || (connector.state !== "paused" && adviceOn(connector) !== undefined);
}

/** Returns the number of items by state, for states that have any. */
export function itemsSummary({
  indexed,
  pending,
  held,
  unsearchable,
  failed,
  maskedSecrets,
  toReadAgain,
}: Connector["counts"]): string {
  const others: [number, string][] = [
    [pending, "pending"],
    [held, "waiting for removal approval"],
    [unsearchable, "without searchable text"],
    [failed, "failed"],
    [toReadAgain, "to read again"],
    [maskedSecrets, maskedSecrets === 1 ? "secret removed" : "secrets removed"],
  ];
  const parts = others
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count.toLocaleString("en-GB")} ${word}`);
  return [`${indexed.toLocaleString("en-GB")} indexed`, ...parts].join(", ");
}

/** Returns a description of the changes that a scope would make in the index, if they are known before a sync. */
export function describePlan({ added, removed, rechecked, estimatedCalls }: ScopePlan): {
  adds: string;
  removes: string;
} {
  const calls = estimatedCalls ? `, with about ${plural(estimatedCalls, "request")} to the source` : "";
  return {
    adds:
      added === null
        ? "The next sync shows what this adds."
        : added === 0
          ? "Adds nothing."
          : `Adds at least ${plural(added, "item")}${calls}.`,
    removes:
      removed === null
        ? "The next sync shows what this removes."
        : removed === 0
          ? "Removes nothing."
          : `Removes ${count(removed)} of ${plural(rechecked, "item")} from search at once.`,
  };
}
