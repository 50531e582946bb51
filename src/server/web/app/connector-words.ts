import type { Connector, ConnectorPublic, Sync } from "#api/connector-records.ts";

type State = ConnectorPublic["state"];

/** A connector's state in a word, and how much it needs somebody. */
export const STATE_WORDS: Readonly<Record<State, { title: string; tone: "ok" | "plain" | "warn" }>> = {
  pending_auth: { title: "Waiting for its account", tone: "warn" },
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

export const VISIBILITY_WORDS: Readonly<Record<Connector["access"]["visibility"], string>> = {
  private: "Only its owner",
  members: "Chosen members and groups",
  workspace: "Everyone in the workspace",
  source: "Whoever can read it in the source",
};

/** What a person reads of something that needs them, and the command that helps. */
export interface Advice {
  says: string;
  command?: string;
}

/** What a connector's state asks for; undefined where it works or goes anyway. */
export function adviceOn({
  id,
  state,
  stateReason,
}: Pick<Connector, "id" | "state" | "stateReason">): Advice | undefined {
  const reason = stateReason ?? "";
  switch (state) {
    case "active":
    case "deleting":
      return undefined;
    case "paused":
      return { says: `Syncs are paused. Agents still find what it has indexed. ${reason}`.trim() };
    case "pending_auth":
      return { says: reason || "Connect its account to start syncing." };
    case "needs_reauth":
      return {
        says: reason || "The source no longer accepts its credentials. Give it new ones.",
        command: `kb connectors update ${id} --credential KEY=@FILE`,
      };
    case "needs_owner":
      return {
        says: reason || "Its owner left the workspace. An admin can take it over.",
        command: `kb connectors update ${id} --credential KEY=@FILE`,
      };
    case "error":
      return { says: reason || "Its last sync failed.", command: `kb connectors resume ${id}` };
  }
}

/** Why stored items stay hidden from everyone, and what shows them again. */
export function notesOn({ awaitingPush, parentMissing }: Connector["counts"]): string[] {
  const notes: string[] = [];
  if (awaitingPush > 0) {
    notes.push(
      `${items(awaitingPush)} with a parent had no access of their own in an earlier version. Nobody can read them until you push them again.`,
    );
  }
  if (parentMissing > 0) {
    notes.push(
      `Nobody can read ${items(parentMissing)}, because their parent is missing or hidden. Push the parents, or push the items without parentId.`,
    );
  }
  return notes;
}

function items(count: number): string {
  return count === 1 ? "1 item" : `${count.toLocaleString("en-GB")} items`;
}

/** How many items there are, by state; only states that have any. */
export function itemsSummary({
  indexed,
  pending,
  held,
  unsearchable,
  failed,
  maskedSecrets,
}: Connector["counts"]): string {
  const others: [number, string][] = [
    [pending, "pending"],
    [held, "held back from removal"],
    [unsearchable, "without searchable text"],
    [failed, "failed"],
    [maskedSecrets, maskedSecrets === 1 ? "secret removed" : "secrets removed"],
  ];
  const said = others.filter(([count]) => count > 0).map(([count, word]) => `${count.toLocaleString("en-GB")} ${word}`);
  return [`${indexed.toLocaleString("en-GB")} indexed`, ...said].join(", ");
}
