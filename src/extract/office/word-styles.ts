import { outlineHeading } from "./outline.ts";
import { chainOf } from "./style-chain.ts";
import { isOn, type XmlHandler } from "./xml.ts";

export interface WordStyle {
  /** Heading level, 1–6; absent for text. */
  heading?: number;
  isHidden: boolean;
  numbering?: { id: string; depth: number };
}

/** The styles of a document, by the id that paragraphs and runs use. */
export type WordStyles = ReturnType<typeof makeWordStyles>;

/**
 * Makes a reader for styles that resolves what they inherit. Headings are detected by outline level, which works in every language, otherwise by the
 * style's name: Word stores the names of its built-in styles in English, even if it shows them in another language.
 */
export function makeWordStyles() {
  const raw = new Map<string, RawStyle>();
  const resolved = new Map<string, WordStyle>();
  const defaults: RawStyle = {};
  const reader = makeReader(raw, defaults);
  const find = (id: string | undefined): WordStyle => {
    const key = id ?? defaults.basedOn ?? "";
    const known = resolved.get(key);
    if (known !== undefined) return known;
    const style = resolve(raw, key);
    resolved.set(key, style);
    return style;
  };
  return { handler: reader, find };
}

interface RawStyle {
  name?: string;
  basedOn?: string;
  outlineLevel?: number;
  isHidden?: boolean;
  numberingId?: string;
  numberingDepth?: number;
}

const MAX_STYLES = 20_000;

function makeReader(raw: Map<string, RawStyle>, defaults: RawStyle): XmlHandler {
  let style: RawStyle = {};
  return {
    open(name, attributes) {
      const value = attributes["w:val"];
      switch (name) {
        case "w:style": {
          style = {};
          const id = attributes["w:styleId"];
          if (id !== undefined && raw.size < MAX_STYLES) raw.set(id, style);
          const isDefault = attributes["w:default"] !== undefined && isOn(attributes["w:default"]);
          if (isDefault && attributes["w:type"] === "paragraph" && id !== undefined) defaults.basedOn = id;
          return;
        }
        case "w:name":
          if (value !== undefined) style.name = value;
          return;
        case "w:basedOn":
          if (value !== undefined) style.basedOn = value;
          return;
        case "w:outlineLvl":
          style.outlineLevel = Number(value);
          return;
        case "w:vanish":
          style.isHidden = isOn(value);
          return;
        case "w:numId":
          if (value !== undefined) style.numberingId = value;
          return;
        case "w:ilvl":
          style.numberingDepth = Number(value) || 0;
          return;
        // A table style's properties for the first row don't affect the text.
        case "w:tblStylePr":
        case "w:rPrChange":
        case "w:pPrChange":
          return true;
      }
    },
  };
}

function resolve(raw: ReadonlyMap<string, RawStyle>, id: string): WordStyle {
  const found: WordStyle = { isHidden: false };
  const chain = chainOf(
    (name) => raw.get(name),
    (style) => style.basedOn,
    id,
  );
  found.isHidden = chain.find((style) => style.isHidden !== undefined)?.isHidden ?? false;
  const outline = chain.find((style) => style.outlineLevel !== undefined)?.outlineLevel;
  const level = outline === undefined ? headingByName(chain) : outlineHeading(outline);
  if (level !== undefined) found.heading = level;
  const numbering = chain.find((style) => style.numberingId !== undefined)?.numberingId;
  const depth = chain.find((style) => style.numberingDepth !== undefined)?.numberingDepth ?? 0;
  if (numbering !== undefined) found.numbering = { id: numbering, depth };
  return found;
}

function headingByName(chain: readonly RawStyle[]): number | undefined {
  for (const { name = "" } of chain) {
    const level = /^heading ([1-9])$/iu.exec(name)?.[1];
    if (level !== undefined) return Math.min(6, Number(level));
    if (/^title$/iu.test(name)) return 1;
  }
  return undefined;
}
