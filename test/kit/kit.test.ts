import { describe, expect, test } from "vitest";
import { runSourceCheck, runSourceKit, SOURCE_CHECKS } from "./index.ts";
import { makeMemoryFixture, MUTANTS, type Mutant } from "./memory-source.ts";

test("a source that does everything right passes every check", async () => {
  const outcomes = await runSourceKit(() => makeMemoryFixture());
  expect(outcomes.filter((outcome) => outcome.faults.length > 0)).toEqual([]);
  expect(outcomes).toHaveLength(17);
});

describe("each broken source is caught", () => {
  /** The check that exists for this fault; others may see it too. */
  const CAUGHT_BY: Record<Mutant, string> = {
    "checkpoint-ahead": "resume",
    "deletes-dropped": "changes",
    "resends-everything": "idle",
    "check-throws": "bad-config",
    "check-accepts-anything": "bad-config",
    "access-missing": "access",
    "access-empty": "access",
    "foreign-principal": "access",
    "connector-group": "access",
    "scope-ignored": "scope",
    "random-versions": "repeatable",
    "no-end": "full-sync",
    "no-last-checkpoint": "full-sync",
    "complete-though-resumed-elsewhere": "another-run",
    "cursor-is-now": "edit-during-walk",
    "script-url": "urls",
    "empty-title": "odd-titles",
    "duplicate-id": "full-sync",
    "ignores-abort": "abort",
    "content-of-anything": "content",
    "unexplained-config": "config-schema",
    unversioned: "full-sync",
  };

  test.each([...MUTANTS])("%s", async (mutant) => {
    const check = SOURCE_CHECKS.find(({ id }) => id === CAUGHT_BY[mutant]);
    if (check === undefined) throw new Error(`No check ${CAUGHT_BY[mutant]}`);
    const { faults } = await runSourceCheck(check, () => makeMemoryFixture(mutant));
    expect(faults).not.toEqual([]);
  });
});
