/** What a person is told of who may do what to a connector. */
import { describe, test } from "vitest";
import { type ActsOf, describeActs, whoMay } from "#api/act-words.ts";
import { CONNECTOR_ACTS, type ConnectorAct } from "#api/connector-acts.ts";
import { judgeAct, isActOf, type Judged, type Who } from "#server/connectors/judge.ts";

const scopes = ["kb:api", "kb:admin"] as const;
const PEOPLE = {
  owner: { userId: "usr_owner", role: "member", scopes: [...scopes] },
  admin: { userId: "usr_admin", role: "admin", scopes: [...scopes] },
} satisfies Record<string, Who>;

function as(asking: keyof typeof PEOPLE, more: Partial<Judged> = {}, name = "Alice"): ActsOf {
  const judged: Judged = {
    ownerUserId: "usr_owner",
    state: "active",
    pausedBy: null,
    isForAdmins: false,
    isPushed: false,
    ...more,
  };
  const allowed = CONNECTOR_ACTS.filter(
    (act) => isActOf(act, judged) && judgeAct(act, PEOPLE[asking], judged) === "yes",
  );
  return { allowed, state: judged.state, isPushed: judged.isPushed, owner: { name } };
}

describe("who may do what a person may not", () => {
  test("is told by name, and nothing where they may", ({ expect }) => {
    const told = (connector: ActsOf, ...acts: ConnectorAct[]) => whoMay(connector, ...acts);
    expect(told(as("owner"), "configure", "widen_scope", "resume")).toBeUndefined();
    expect(told(as("admin"), "configure", "pause")).toBe(
      "Only Alice, who owns this connector, can change its settings or readers.",
    );
    expect(told(as("admin", {}, ""), "widen_access")).toBe(
      "Only the owner of this connector can let more people see it.",
    );
    expect(told(as("owner", { isForAdmins: true }), "configure", "browse")).toBe(
      "Only an admin can change its settings or readers or browse its source.",
    );
    expect(told(as("admin", { state: "needs_owner" }), "widen_scope")).toBe(
      "Only a new owner, who takes it over, can include more in it.",
    );
    expect(told(as("admin", { state: "needs_owner" }), "take_over")).toBeUndefined();
    expect(told(as("admin", { state: "needs_owner", isPushed: true }), "take_over")).toBe(
      "Only an owner of the workspace can take it over.",
    );
    expect(told(as("admin", { state: "paused", pausedBy: "usr_admin" }), "resume")).toBeUndefined();
    expect(told(as("admin", { state: "paused", pausedBy: "usr_owner" }), "resume")).toContain("Only Alice");
  });
});

describe("what a person can do", () => {
  test("is not told to who can do all of it, nor of one that is being deleted", ({ expect }) => {
    expect(describeActs(as("owner"))).toEqual([]);
    expect(describeActs(as("owner", { isPushed: true }))).toEqual([]);
    expect(describeActs(as("admin", { state: "deleting" }))).toEqual([]);
  });

  test("is told with who can do the rest", ({ expect }) => {
    expect(describeActs(as("admin"))).toEqual([
      "You can rename it, change its schedule, sync it, pause it, delete it, narrow its access, exclude more from it, decide what it removes, restore its items, manage its webhook, or link its users.",
      "Only Alice, who owns this connector, can let more people see it, include more in it, change its settings or readers, or change its credentials or account.",
    ]);
    const [own = "", others = ""] = describeActs(as("admin", { isPushed: true }));
    expect(own).toContain("revoke its keys");
    expect(others).toContain("create its key");
    expect(others).not.toContain("include more");
    expect(describeActs(as("admin", { state: "paused", pausedBy: "usr_owner" }))[1]).toContain(", or resume it after");
    expect(describeActs(as("admin", { state: "needs_owner" }))).toEqual([
      expect.stringContaining(", or take it over."),
      expect.stringContaining("Only a new owner, who takes it over, can"),
    ]);
  });
});
