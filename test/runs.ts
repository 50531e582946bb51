/**
 * Where the cases of properties come from. The same cases each time, so that a red suite is red again and tells of the
 * change that made it so; other ones in a long run (`KB_TEST_RUNS`), or those of `KB_TEST_SEED`, which a failure names.
 */
export const SEED = readSeed();

function readSeed(): number | undefined {
  const told = process.env["KB_TEST_SEED"];
  if (told !== undefined) return Number(told);
  return process.env["KB_TEST_RUNS"] === undefined ? 20_261_123 : undefined;
}

/** How often a property is tried: `KB_TEST_RUNS` times in a long run, otherwise this often. */
export function runs(short: number): number {
  return Number(process.env["KB_TEST_RUNS"] ?? short);
}
