/** How often a property is tried: `KB_TEST_RUNS` times in a long run, otherwise this often, each time with other cases. */
export function runs(short: number): number {
  return Number(process.env["KB_TEST_RUNS"] ?? short);
}
