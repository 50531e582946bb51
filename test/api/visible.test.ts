import * as fc from "fast-check";
import { expect, test } from "vitest";
import { replaceEach } from "#api/replace-each.ts";
import { textOf, visible } from "#api/visible.ts";
import { runs } from "../runs.ts";
import { hostileText } from "./hostile-text.ts";

const CHARACTERS = [
  ..."a1#* \t\n\r\0\u007f\u0085\u00ad\u061c\u200b\u200c\u200c\u200d\u200d\ufe0e\ufe0f\ufe0f\u20e3\u202e\u2060\ufdd0\ufeff\ufff9\ufffd\uffff",
  ..."\ud83d\udc00",
  "\ud83d",
  "\udc00",
  "\u00a9",
  "\u2764",
  "\u{1f469}",
  "\u{1f680}",
  "\u{1f3fd}",
  "\u0645",
  "\u0915",
  "\u0928",
  "e\u0301",
  "\u4e2d",
  "\u{1fffe}",
  "\u{e0041}",
  "\u{10ffff}",
];
const odd = fc
  .array(
    fc.oneof({ arbitrary: fc.constantFrom(...CHARACTERS), weight: 9 }, fc.string({ unit: "binary", maxLength: 3 })),
    {
      maxLength: 40,
    },
  )
  .map((characters) => characters.join(""));

/** What `visible` gives, step by step with a pattern for each: slower the more there is to take out. */
function bySteps(text: string): string {
  const shown = text
    .replace(/\p{Surrogate}/gu, "\ufffd")
    // oxlint-disable-next-line no-control-regex -- these are exactly the characters to take out
    .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\ufff9-\ufffb\ufdd0-\ufdef\p{Noncharacter_Code_Point}]/gu, "")
    .replace(/(?!\u200c|\u200d|\ufe0f)\p{Default_Ignorable_Code_Point}/gu, "");
  return shown.replace(/(?:\u200c|\u200d|\ufe0f)+/gu, (run, at: number) => {
    const before = Array.from(shown.slice(0, at)).at(-1) ?? "";
    const after = Array.from(shown.slice(at + run.length))[0] ?? "";
    const style = run.indexOf("\ufe0f");
    const behind = style < 0 ? "" : run.charAt(style + 1);
    const first = behind !== "" && isNeeded("\ufe0f", before, behind) ? "\ufe0f" : "";
    const last = run.slice(-1);
    return isNeeded(last, first || before, after) ? first + last : first;
  });
}

const JOINING = /^[\p{Script=Arabic}\p{Script=Devanagari}]$/u;

function isNeeded(joiner: string, before: string, after: string): boolean {
  if (joiner === "\ufe0f") {
    return /^\p{Extended_Pictographic}$/u.test(before) || (/^[0-9#*]$/.test(before) && after === "\u20e3");
  }
  const isPicture = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u.test(before);
  if (joiner === "\u200d" && isPicture && /^\p{Extended_Pictographic}$/u.test(after)) return true;
  return JOINING.test(before) && JOINING.test(after);
}

test("one pass shows what a pattern for each kind of character shows", () => {
  fc.assert(
    fc.property(fc.oneof(odd, hostileText), (text) => {
      expect(visible(text)).toBe(bySteps(text));
    }),
    { numRuns: runs(1_000) },
  );
});

test("many places are replaced as few are, and only those that are meant", () => {
  const text = fc.array(fc.constantFrom("![", "!", "[", "a", "\n", "\u00e9", "\ud83d", "\u{1f469}"), { maxLength: 12 });
  fc.assert(
    fc.property(text, fc.constantFrom(1, 400), fc.constantFrom("![", "\n"), (units, times, wanted) => {
      const all = units.join("").repeat(times);
      expect(replaceEach(all, wanted, `${wanted}> `)).toBe(all.split(wanted).join(`${wanted}> `));
      const meant = (whole: string, end: number) => whole.charAt(end) !== "a";
      const pattern = wanted === "\n" ? /\n(?!a)/g : /!\[(?!a)/g;
      expect(replaceEach(all, wanted, "---", meant)).toBe(all.replace(pattern, "---"));
    }),
    { numRuns: runs(300) },
  );
});

test("a text is made of its units, whatever they are", () => {
  for (const text of ["", "\ufeffa", "\ud83d", "\u{1f469}b", "x".repeat(20_000), "\udc00".repeat(9_000)]) {
    expect(textOf(Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)))).toBe(text);
  }
});
