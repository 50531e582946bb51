/**
 * What each reader of foreign text takes for a megabyte of each hostile pattern, and whether eight times as much takes more than
 * ten times as long. `npx tsx test/long/linear.ts [part of a name]`; fails where the main thread would stand still for longer
 * than 20 ms a MB, or as many times the control as on a quiet machine.
 */
import { ELSEWHERE, CASES } from "../linear/cases.ts";
import { callOf, control, costOf, MOST_TIMES, NOT_ON_MAIN } from "../linear/cost.ts";
import { findReaders } from "../linear/exports.ts";
import { PATTERNS } from "../linear/patterns.ts";

const MB = 1024 * 1024;
const MOST_MS = 20;
const MOST_GROWTH = 10;
/** Below this, a clock tells nothing of growth. */
const LEAST_MS = 5;

const wanted = process.argv[2] ?? "";
const ids = [...new Set([...findReaders().map(({ id }) => id), ...Object.keys(CASES)])];
let failed = 0;
for (const id of ids.filter((each) => ELSEWHERE[each] === undefined && each.includes(wanted))) {
  const [file = "", name = ""] = id.split("#");
  const call = await callOf({ id, file, name });
  for (const [pattern, make] of PATTERNS) {
    const [small, large] = [make(MB / 8), make(MB)];
    const few = await costOf(() => call(small), 0, 3);
    const many = await costOf(() => call(large), MOST_MS, 3);
    const isSlow = many > MOST_MS && !NOT_ON_MAIN.test(id) && many > MOST_TIMES * (await control(MB));
    const grows = many > LEAST_MS * MOST_GROWTH && many > few * MOST_GROWTH;
    if (isSlow || grows) failed++;
    if (many > MOST_MS)
      process.stdout.write(
        `${id} ${pattern}: ${few.toFixed(1)} -> ${many.toFixed(1)} ms${grows ? ", grows" : ""}${isSlow ? ", too slow" : ""}\n`,
      );
  }
}
process.stdout.write(`${failed} of ${ids.length * PATTERNS.size} are too slow\n`);
process.exitCode = failed === 0 ? 0 : 1;
