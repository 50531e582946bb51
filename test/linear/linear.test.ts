import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { CASES, ELSEWHERE, outcomeOf } from "./cases.ts";
import { callOf, control, costOf, MOST_TIMES, NOT_ON_MAIN } from "./cost.ts";
import { findReaders } from "./exports.ts";
import { PATTERNS } from "./patterns.ts";

const BYTES = 64 * 1024;
/** Whom nobody waits for may take so many times as long; a search from each place takes 1,000 times. */
const WAITED_FOR_BY_NOBODY = 60;

/**
 * These read no more of a longer text, as of a query or of bytes whose encoding is guessed, or give others their turn after
 * so much: they may take the 20 ms for this text.
 */
const NO_MORE = /#(?:decodeText|readHits|parseQuery|makeMarks|textOfStorage|readPage|readMultistatus|readSitemap)$/;
const NO_MORE_TIMES = (1024 * 1024) / BYTES;

/** What looks at the start of a text alone, because it keeps or shows no more of it. */
const CUT_FIRST = [
  "src/api/clean.ts#cleanLine",
  "src/api/clean.ts#cleanField",
  "src/api/clean.ts#cleanUrl",
  "src/api/days.ts#parseDays",
  "src/core/encodings/names.ts#readableName",
  "src/core/encodings/names.ts#isUtf8Name",
  "src/server/mcp/nearest-name.ts#nearestName",
  "src/sources/atlassian/report.ts#readable",
  "src/sources/http/digest.ts#parseChallenges",
  "src/text/field-terms.ts#fieldKey",
  "src/text/field-terms.ts#fieldName",
  "src/text/name-key.ts#nameKeyOf",
  "src/text/own-title.ts#ownTitle",
];

const readers = findReaders();
const byId = new Map(readers.map((reader) => [reader.id, reader]));

/**
 * Processors weigh the control and a reader differently, by up to twice: here only what grows faster than its text must be
 * seen, which takes 50 times as long or more. `test/long/linear.ts` measures the 20 ms a MB.
 */
const MARGIN = 4;
const MOST_HERE = MARGIN * MOST_TIMES;

function mostOf(id: string): number {
  if (NOT_ON_MAIN.test(id)) return MOST_HERE * WAITED_FOR_BY_NOBODY;
  return NO_MORE.test(id) ? MOST_HERE * NO_MORE_TIMES : MOST_HERE;
}

/** The first text for which a reader costs more than so many times the control. */
async function findDearText(id: string, bytes: number, most: number): Promise<string | undefined> {
  const [file = "", name = ""] = id.split("#");
  const call = await callOf({ id, file, name });
  outcomeOf(() => call("warm"));
  for (const [pattern, make] of PATTERNS) {
    const text = make(bytes);
    const times = await timesControl(() => call(text), most);
    if (times !== undefined) return `${bytes} bytes of ${pattern}: ${Math.round(times)} times the control`;
  }
  return undefined;
}

/** What the machine did beside it is no reader's cost: measured again, with a control of its own, before it is believed. */
const TRIES = 8;

let lastControl: number | undefined;

/** How many times the control's cost it takes, where that is more than so many; undefined otherwise. */
async function timesControl(work: () => unknown, most: number): Promise<number | undefined> {
  let times = 0;
  for (let tried = 0; tried < TRIES; tried++) {
    if (tried > 0) await setTimeout(tried * 20);
    if (tried > 0 || lastControl === undefined) lastControl = await control(BYTES);
    const one = Math.max(0.1, lastControl);
    times = (await costOf(work, one * most, 8)) / one;
    if (times <= most) return undefined;
  }
  return times;
}

describe("what others wrote costs no more than its length", () => {
  test("every exported function that reads, cleans, masks or shows it is tried, or said to read none", () => {
    const unknown = readers.filter(({ id, takesTextOnly }) => !takesTextOnly && !CASES[id] && !ELSEWHERE[id]);
    expect(unknown.map(({ id }) => id)).toEqual([]);
    const gone = Object.keys(ELSEWHERE).filter((id) => !byId.has(id));
    expect(gone).toEqual([]);
    expect(Object.keys(CASES).filter((id) => ELSEWHERE[id])).toEqual([]);
  });

  const tried = [...new Set([...byId.keys(), ...Object.keys(CASES)])].filter((id) => ELSEWHERE[id] === undefined);
  test.each(tried)("%s", async (id) => {
    expect(await findDearText(id, BYTES, mostOf(id))).toBeUndefined();
  });

  test.each(CUT_FIRST)("%s costs as much as the start of a text that is longer", async (id) => {
    expect(byId.has(id), id).toBe(true);
    expect(await findDearText(id, BYTES * 16 * MARGIN, MOST_HERE)).toBeUndefined();
  });
});
