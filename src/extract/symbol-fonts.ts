/**
 * Returns the Unicode character that a symbol font draws for a code: Greek letters and mathematical signs, arrows, ticks and boxes.
 *
 * @param code  the code in the file: 0x20–0xFF, or the equivalent in the private area (0xF020–0xF0FF), which programs also write
 * @returns the character; "" for a symbol without a meaning as text; undefined if it isn't a symbol font Source:
 * https://www.unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt
 */
export function symbolOf(font: string | undefined, code: number): string | undefined {
  const table = tableOf(font);
  if (table === undefined) return undefined;
  return table.get(code >= PRIVATE && code <= PRIVATE + 0xff ? code - PRIVATE : code) ?? "";
}

/** Whether a font's letters are symbols. */
export function isSymbolFont(font: string | undefined): boolean {
  return tableOf(font) !== undefined;
}

/** Converts text in a symbol font to the characters that it displays; text in any other font stays unchanged. */
export function textInFont(font: string | undefined, text: string): string {
  if (!isSymbolFont(font)) return text;
  return text.replaceAll(/[!-\u00ff\uf020-\uf0ff]/gu, (letter) => symbolOf(font, letter.charCodeAt(0)) ?? letter);
}

function tableOf(font: string | undefined): ReadonlyMap<number, string> | undefined {
  return font === undefined || font.length > 40 ? undefined : TABLES.get(font.trim().toLowerCase());
}

const PRIVATE = 0xf000;

/** Makes entries for consecutive codes, starting at the first; `_` means no character. */
function rows(...parts: readonly (readonly [number, string])[]): Map<number, string> {
  const table = new Map<number, string>();
  for (const [first, letters] of parts)
    for (const [index, letter] of [...letters].entries()) if (letter !== "_") table.set(first + index, letter);
  return table;
}

const SYMBOL = rows(
  [0x20, " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥"],
  [0x61, "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"],
  [0xa0, "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…__↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑"],
  [0xf1, "⟩∫"],
).set(0x5f, "_");

const WINGDINGS = rows(
  [0x20, " ✏✂"],
  [0x28, "☎✆✉"],
  [0x36, "⌛⌨"],
  [0x3f, "✍"],
  [0x41, "✌👌👍👎☜☞☝☟🖐☺😐☹"],
  [0x51, "✈☼"],
  [0x6c, "●❍■□"],
  [0x71, "❑❒⬧⧫◆❖⬥☒"],
  [0x80, "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"],
  [0x9e, "·•▪○"],
  [0xa7, "▪☐"],
  [0xaa, "✦★"],
  [0xd8, "➢"],
  [0xdf, "←→↑↓↖↗↙↘←➔"],
  [0xef, "⇦⇨⇧⇩⬄⇳"],
  [0xfb, "✗✓☒☑"],
);

const TABLES: ReadonlyMap<string, ReadonlyMap<number, string>> = new Map([
  ["symbol", SYMBOL],
  ["symbol mt", SYMBOL],
  ["wingdings", WINGDINGS],
  ["wingdings 2", rows([0x20, " "], [0x4f, "✗✓☒☑☒☒"], [0xa3, "☐"])],
  ["wingdings 3", rows([0x20, " "], [0x66, "←→↑↓"], [0x70, "▲▼"], [0x74, "◀▶"])],
  ["webdings", rows([0x20, " "], [0x33, "◀▶▲▼"], [0x61, "✓"], [0x72, "✗"])],
]);
