import { describe, expect, test } from "vitest";
import { CASES, ELSEWHERE, outcomeOf } from "./cases.ts";
import { callOf, costOf } from "./cost.ts";
import { findReaders } from "./exports.ts";
import { PATTERNS } from "./patterns.ts";

const BYTES = 16 * 1024;
/** Each may take so many times what reading this much plain text with a pattern takes; a search from each place takes 1,000 times. */
const MOST = 16;
/**
 * A terminal has one reader; the others give everybody their turn between pieces, or take a text of a few thousand characters, guess an
 * encoding by so many bytes, or escape each name of a path.
 */
const SLOWER =
  /^src\/cli\/|#(?:decodeText|textOfStorage|readPage|readXml|readMultistatus|readSitemap|readHits|toRobots|parseQuery|makeMarks|findMarks|inUrl)$/;
/** Tokens are looked up piece by piece, in a thread of their own: 200 to 300 times the control on a busy machine. */
const SLOWEST = /#makeTokenCounter$/;

/** What looks at the start of a text alone, because it keeps or shows no more of it. */
const CUT_FIRST = [
  "src/api/clean.ts#cleanLine",
  "src/api/clean.ts#cleanField",
  "src/api/clean.ts#cleanUrl",
  "src/api/days.ts#parseDays",
  "src/core/encodings/names.ts#readableName",
  "src/core/encodings/names.ts#isUtf8Name",
  "src/server/mcp/nearest-name.ts#nearestName",
  "src/sources/atlassian/tell.ts#readable",
  "src/sources/http/digest.ts#parseChallenges",
  "src/text/field-terms.ts#fieldKey",
  "src/text/field-terms.ts#fieldName",
  "src/text/name-key.ts#nameKeyOf",
  "src/text/own-title.ts#ownTitle",
];

const readers = findReaders();
const byId = new Map(readers.map((reader) => [reader.id, reader]));

function mostOf(id: string): number {
  if (SLOWEST.test(id)) return MOST * 30;
  return SLOWER.test(id) ? MOST * 15 : MOST;
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

/** What one look at each character costs here and now, in milliseconds. */
function control(): Promise<number> {
  const text = "\u00e9a ".repeat(BYTES / 4);
  return costOf(() => text.replace(/\p{L}+/gu, "b"), 0, 8);
}

/** What the machine did beside it is no reader's cost: measured again, with a control of its own, before it is believed. */
const TRIES = 6;

let lastControl: number | undefined;

/** How many times the control's cost it takes, where that is more than so many; undefined otherwise. */
async function timesControl(work: () => unknown, most: number): Promise<number | undefined> {
  let times = 0;
  for (let tried = 0; tried < TRIES; tried++) {
    if (tried > 0 || lastControl === undefined) lastControl = await control();
    const one = Math.max(0.1, lastControl);
    times = (await costOf(work, one * most)) / one;
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
    expect(await findDearText(id, BYTES * 64, MOST)).toBeUndefined();
  });
});
