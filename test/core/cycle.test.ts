import { expect, test } from "vitest";
import { type CycleMark, stepCycle } from "#core/cycle.ts";

/** How many places are passed until the links are known to go round; undefined when they never are. */
function stepsUntilKnown(places: Iterable<string>): number | undefined {
  let mark: CycleMark | undefined;
  let steps = 0;
  for (const place of places) {
    // As it is kept between two runs.
    mark = stepCycle(mark === undefined ? undefined : (JSON.parse(JSON.stringify(mark)) as CycleMark), place);
    steps += 1;
    if (mark === undefined) return steps;
  }
  return undefined;
}

function* round(beginning: number, length: number): Generator<string> {
  for (let i = 0; i < beginning; i++) yield `b${i}`;
  for (let i = 0; ; i++) yield `r${i % length}`;
}

test("links that go round are known soon, wherever the round begins", () => {
  for (let beginning = 0; beginning < 40; beginning++) {
    for (let length = 1; length < 40; length++) {
      const steps = stepsUntilKnown(round(beginning, length));
      expect(steps).toBeGreaterThan(beginning + length);
      expect(steps).toBeLessThanOrEqual(3 * (beginning + length) + 3);
    }
  }
});

test("links that lead on are no round", () => {
  expect(stepsUntilKnown(Array.from({ length: 5_000 }, (_, i) => `${i}`))).toBeUndefined();
});
