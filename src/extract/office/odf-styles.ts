import { chainOf } from "./style-chain.ts";
import type { ListLevel } from "./list-numbers.ts";
import type { Attributes } from "./xml.ts";

/** Facts from the styles of an OpenDocument file: which text is hidden, which text is a title, and how lists are numbered. */
export class OdfStyles {
  private readonly styles = new Map<string, OdfStyle>();
  private readonly lists = new Map<string, ListLevel[]>();
  private style: OdfStyle | undefined;
  private list: ListLevel[] | undefined;

  /** Stores styles; must be called for every element. */
  open(name: string, attributes: Attributes): void {
    switch (name) {
      case "style:style":
        this.style = { parent: attributes["style:parent-style-name"], isHidden: undefined };
        if (this.styles.size < MAX_STYLES)
          this.styles.set(keyOf(attributes["style:family"], attributes["style:name"]), this.style);
        return;
      case "style:text-properties":
        this.hide(attributes["text:display"], "none");
        return;
      case "style:table-properties":
        this.hide(attributes["table:display"], "false");
        return;
      case "style:drawing-page-properties":
        this.hide(attributes["presentation:visibility"], "hidden");
        return;
      case "text:list-style":
        this.list = [];
        if (this.lists.size < MAX_STYLES) this.lists.set(attributes["style:name"] ?? "", this.list);
        return;
      case "text:list-level-style-bullet":
      case "text:list-level-style-image":
        return this.addLevel(attributes, { format: "bullet", start: 1, pattern: "" });
      case "text:list-level-style-number":
        return this.addLevel(attributes, numberLevel(attributes));
    }
  }

  close(name: string): void {
    if (name === "style:style") this.style = undefined;
    if (name === "text:list-style") this.list = undefined;
  }

  isHidden(family: string, name: string | undefined): boolean {
    return this.chain(family, name).find((style) => style.isHidden !== undefined)?.isHidden ?? false;
  }

  /** Whether a style is that of the document's title, or derived from it. */
  isTitle(name: string | undefined): boolean {
    for (let next = name, steps = 0; next !== undefined && steps < MAX_ANCESTORS; steps++) {
      if (next === "Title") return true;
      next = this.styles.get(keyOf("paragraph", next))?.parent;
    }
    return false;
  }

  listLevels(name: string | undefined): readonly ListLevel[] {
    return this.lists.get(name ?? "") ?? BULLETS;
  }

  private hide(value: string | undefined, hidden: string): void {
    if (value !== undefined && this.style !== undefined) this.style.isHidden = value === hidden;
  }

  private addLevel(attributes: Attributes, level: ListLevel): void {
    const index = Math.min(MAX_LEVELS, Number(attributes["text:level"]) || 1) - 1;
    if (this.list !== undefined && index >= 0) this.list[index] = level;
  }

  private chain(family: string, name: string | undefined): OdfStyle[] {
    return chainOf(
      (next) => this.styles.get(keyOf(family, next)),
      (style) => style.parent,
      name,
    );
  }
}

interface OdfStyle {
  parent: string | undefined;
  isHidden: boolean | undefined;
}

const MAX_STYLES = 50_000;
const MAX_ANCESTORS = 30;
const MAX_LEVELS = 10;
const BULLETS: readonly ListLevel[] = Array.from({ length: MAX_LEVELS }, () => ({
  format: "bullet",
  start: 1,
  pattern: "",
}));

function keyOf(family: string | undefined, name: string | undefined): string {
  return `${family ?? ""} ${name ?? ""}`;
}

function numberLevel(attributes: Attributes): ListLevel {
  const level = Number(attributes["text:level"]) || 1;
  const shown = Math.min(level, Number(attributes["text:display-levels"]) || 1);
  const numbers = Array.from({ length: shown }, (_, index) => `%${level - shown + index + 1}`).join(".");
  const format = attributes["style:num-format"] ?? "";
  return {
    format: FORMATS[format] ?? (format === "" ? "none" : "decimal"),
    start: Number(attributes["text:start-value"] ?? "1") || 1,
    pattern: `${attributes["style:num-prefix"] ?? ""}${numbers}${attributes["style:num-suffix"] ?? ""}`,
  };
}

const FORMATS: Readonly<Record<string, string>> = {
  a: "lowerLetter",
  A: "upperLetter",
  i: "lowerRoman",
  I: "upperRoman",
};
