/** What the page says of a connector that needs somebody. */
import { describe, test } from "vitest";
import { type Connector, ConnectorState } from "#api/connector-records.ts";
import { adviceOn, itemsSummary, notesOn, STATE_WORDS } from "#server/web/app/connector-words.ts";

const NONE = {
  indexed: 0,
  pending: 0,
  held: 0,
  unsearchable: 0,
  failed: 0,
  maskedSecrets: 0,
  parentMissing: 0,
  awaitingPush: 0,
};

describe("a connector", () => {
  test("says why stored items stay hidden, and only then", ({ expect }) => {
    expect(notesOn(NONE)).toEqual([]);
    expect(notesOn({ ...NONE, awaitingPush: 1, parentMissing: 1200 })).toEqual([
      "No one can read 1 item pushed to an earlier version, which stored no access for items with a parent. Push them again.",
      "No one can read 1,200 items, because the parent is missing or hidden. Push the parent, or push the items without parentId.",
    ]);
  });

  test("says the reason of its state with the command that helps, whatever its name", ({ expect }) => {
    const told = (state: Connector["state"], stateReason: string | null = null) =>
      adviceOn({ id: "con_2", providerId: "git", state, stateReason });
    expect(told("active")).toBeUndefined();
    expect(told("error", "The folder is gone.")).toEqual({
      says: "The folder is gone.",
      command: "kb connectors resume con_2",
    });
    expect(told("needs_owner")?.says).toContain("An admin can take it over.");
    // A push connector has no credentials: its key is what changes hands.
    expect(adviceOn({ id: "con_2", providerId: "push", state: "needs_owner", stateReason: null })).toEqual({
      says: "The connector's owner left the workspace. The workspace owner can take it over.",
      command: "kb connectors rotate-key con_2",
    });
    for (const state of ConnectorState.options) {
      expect(STATE_WORDS[state].title, state).not.toBe("");
      if (state !== "active" && state !== "deleting") expect(told(state)?.says, state).not.toBe("");
    }
  });

  test("counts what it has, without states that nothing is in", ({ expect }) => {
    expect(itemsSummary({ ...NONE, indexed: 1234, failed: 2 })).toBe("1,234 indexed, 2 failed");
  });
});
