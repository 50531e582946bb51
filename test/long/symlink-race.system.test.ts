import { expect, test } from "vitest";
import { flipRace } from "../sources/filesystem/flip-race.ts";
import { makeFolder } from "../sources/filesystem/fixture.ts";

// S36 asks for 100,000 reads; minutes long, so only on request.
test.skipIf(process.env["KB_TEST_LONG"] === undefined)(
  "a link flipped under the reader never shows the outside (100,000 reads)",
  async () => {
    const outcome = await flipRace(makeFolder(), 100_000);
    expect(outcome.leaked).toBe(0);
    expect(outcome.read).toBeGreaterThan(0);
    expect(outcome.refused).toBeGreaterThan(0);
  },
  1_200_000,
);
