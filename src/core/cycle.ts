/** State of the cycle detection along a chain of links: a remembered place, and when to remember another one. */
export interface CycleMark {
  place: string;
  steps: number;
  power: number;
}

/**
 * Detects a chain of links that leads back to an earlier place, in constant memory. Uses Brent's algorithm, whose state
 * can be kept between two runs. Call it with each place in turn.
 *
 * @param place  equal for equal places; a digest for long ones
 * @returns the state for the next call; undefined when the links form a cycle, at the latest after about three times as
 * many places as the cycle and the path to it have
 */
export function stepCycle(mark: CycleMark | undefined, place: string): CycleMark | undefined {
  if (mark === undefined) return { place, steps: 0, power: 1 };
  if (mark.place === place) return undefined;
  const steps = mark.steps + 1;
  return steps < mark.power ? { ...mark, steps } : { place, steps: 0, power: mark.power * 2 };
}
