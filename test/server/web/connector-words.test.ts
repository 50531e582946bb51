/** What the page says of a connector that needs somebody. */
import { describe, test } from "vitest";
import { type Connector, ConnectorState } from "#api/connector-records.ts";
import {
  adviceOn,
  itemsSummary,
  STATE_WORDS,
  visibilitiesFor,
  waitsForSomebody,
} from "#server/web/app/data/connector-words.ts";

const NONE = {
  indexed: 0,
  pending: 0,
  held: 0,
  unsearchable: 0,
  failed: 0,
  maskedSecrets: 0,
  parentMissing: 0,
  aclStale: 0,
  awaitingPush: 0,
  toReadAgain: 0,
};

describe("a connector", () => {
  test("says the reason of its state with the command that helps, whatever its name", ({ expect }) => {
    const told = (state: Connector["state"], stateReason: string | null = null) =>
      adviceOn({ id: "con_2", isPushed: false, state, stateReason });
    expect(told("active")).toBeUndefined();
    expect(told("error", "The folder is gone.")).toEqual({
      says: "The folder is gone.",
      command: "kb connectors resume con_2",
    });
    expect(told("needs_owner")?.says).toContain("An admin can take it over.");
    // A push connector has no credentials: its key is what changes hands.
    expect(adviceOn({ id: "con_2", isPushed: true, state: "needs_owner", stateReason: null })).toEqual({
      says: "The connector's owner left the workspace. The workspace owner can take it over.",
      command: "kb connectors rotate-key con_2",
    });
    for (const state of ConnectorState.options) {
      expect(STATE_WORDS[state].title, state).not.toBe("");
      if (state !== "active" && state !== "deleting") expect(told(state)?.says, state).not.toBe("");
    }
  });

  test("waits for someone when nothing goes on, or items stay hidden, until a person acts", ({ expect }) => {
    const waits = (state: Connector["state"], held = 0) =>
      waitsForSomebody({ id: "con_2", isPushed: false, state, stateReason: null, counts: { ...NONE, held } });
    expect(ConnectorState.options.filter((state) => waits(state))).toEqual([
      "pending_auth",
      "needs_reauth",
      "needs_owner",
      "error",
    ]);
    expect(waits("active", 3)).toBe(true);
  });

  test("offers who may only narrow its access nothing that lets more people in", ({ expect }) => {
    const narrowing = { isNarrowing: true };
    expect(visibilitiesFor("private", "per_item", narrowing)).toEqual(["private"]);
    expect(visibilitiesFor("members", "per_item", narrowing)).toEqual(["private", "members"]);
    const all = ["private", "members", "workspace", "source"];
    expect(visibilitiesFor("workspace", "per_item", narrowing)).toEqual(all);
    expect(visibilitiesFor("private", "per_item", { isNarrowing: false })).toEqual(all);
    expect(visibilitiesFor("private", "connector", { isNarrowing: false })).toEqual(all.slice(0, 3));
  });

  test("counts what it has, without states that nothing is in", ({ expect }) => {
    expect(itemsSummary({ ...NONE, indexed: 1234, failed: 2 })).toBe("1,234 indexed, 2 failed");
    expect(itemsSummary({ ...NONE, indexed: 3, toReadAgain: 2 })).toBe("3 indexed, 2 to read again");
  });
});
