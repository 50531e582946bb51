/** State of cycle detection along links: a remembered place, and when to remember another one. */
export interface CycleMark {
  place: string;
  steps: number;
  power: number;
}

/**
 * Detects links that lead back to where they came from, in constant memory: Brent's algorithm, whose state can be kept
 * between two runs. Call it with each place in turn.
 *
 * @param place  equal for equal places; a digest for long ones
 * @returns the state for the next call; undefined when the links form a cycle, at the latest after some three times the
 * places until then
 */
export function stepCycle(mark: CycleMark | undefined, place: string): CycleMark | undefined {
  if (mark === undefined) return { place, steps: 0, power: 1 };
  if (mark.place === place) return undefined;
  const steps = mark.steps + 1;
  return steps < mark.power ? { ...mark, steps } : { place, steps: 0, power: mark.power * 2 };
}
