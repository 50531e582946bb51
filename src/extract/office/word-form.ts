import { isOn, type Attributes } from "./xml.ts";

/**
 * A field of a form as Word wrote them until 2007: what it shows stands in its settings, not in its text, where it is a list to choose from
 * or a box to tick. Source: ECMA-376, 17.16.
 */
export class WordForm {
  private entries: string[] = [];
  private chosen: number | undefined;
  private isBox = false;
  private isTicked: boolean | undefined;
  private isIn = false;

  open(name: string, attributes: Attributes): void {
    if (name === "w:ffData") this.begin();
    else if (this.isIn) this.read(name, attributes["w:val"]);
  }

  /** @returns what the field shows, where its settings end */
  close(name: string): string | undefined {
    if (name !== "w:ffData" || !this.isIn) return undefined;
    this.isIn = false;
    if (this.isBox) return this.isTicked === true ? "☒" : "☐";
    return this.entries[this.chosen ?? 0];
  }

  private begin(): void {
    this.entries = [];
    this.chosen = undefined;
    this.isBox = false;
    this.isTicked = undefined;
    this.isIn = true;
  }

  private read(name: string, value: string | undefined): void {
    switch (name) {
      case "w:listEntry":
        if (this.entries.length < MAX_ENTRIES) this.entries.push(value ?? "");
        return;
      case "w:result":
        this.chosen = Number(value);
        return;
      case "w:checkBox":
        this.isBox = true;
        return;
      case "w:checked":
        this.isTicked = isOn(value);
        return;
      case "w:default":
        // Of a list the entry, of a box whether it is ticked; what was done with it since counts more.
        if (this.isBox) this.isTicked ??= isOn(value);
        else this.chosen ??= Number(value);
    }
  }
}

/** Word allows 25. */
const MAX_ENTRIES = 1_000;
