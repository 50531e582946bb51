import { describe, test } from "vitest";
import { type Ended, runFleet } from "./fleet.ts";

interface Size {
  count: number;
  hugeIssues: number;
  /** Reading the huge one takes many turns of a worker, of 30 s each: only then do others come first. */
  isManyTurns?: boolean;
  say?: (line: string) => void;
}

export function describeFleet({ count, hugeIssues, isManyTurns = false, say = () => undefined }: Size): void {
  describe(`${count} connectors on two workers`, () => {
    test(
      "each is done; who fails or is limited hinders no one, and no one is to sign in again",
      {
        timeout: 3_600_000,
      },
      async ({ expect }) => {
        const shown = new Set<string>();
        const ended = await runFleet({
          count,
          hugeIssues,
          say,
          seen: ({ role, state, code }: Ended) => void shown.add(`${role}: ${state} ${code ?? ""}`.trim()),
        });
        const secondsOf = (role: Ended["role"]) =>
          ended.filter((each) => each.role === role).map(({ seconds = Infinity }) => seconds);
        const [huge = 0] = secondsOf("huge");
        const small = secondsOf("small").sort((a, b) => a - b);
        say(`small ones: first ${small[0]} s, median ${small[Math.floor(small.length / 2)]} s, last ${small.at(-1)} s`);
        say(`all small ones, in seconds: ${small.map((each) => Math.round(each)).join(" ")}`);
        say(`limited: ${secondsOf("limited")[0]} s; huge (${hugeIssues} issues): ${huge} s`);
        say([...shown].sort().join("; "));
        expect(small).toHaveLength(count - 3);
        expect(Math.max(...small, ...secondsOf("limited"), huge)).toBeLessThan(Infinity);
        if (isManyTurns) {
          expect(small.at(-1)).toBeLessThan(huge);
          expect(secondsOf("limited")[0]).toBeLessThan(huge);
        }
        expect([...shown].filter((each) => /reauth|auth_required|unauthorized/.test(each))).toEqual([]);
        expect([...shown].some((each) => each.startsWith("failing: ") && each.includes("unreachable"))).toBe(true);
        expect(ended.find(({ role }) => role === "huge")?.items).toBeGreaterThanOrEqual(hugeIssues);
      },
    );
  });
}
