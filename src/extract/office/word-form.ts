import { isOn, type Attributes } from "./xml.ts";

/**
 * A form field as Word wrote it until 2007. The shown value of a list or a checkbox is in its settings instead of its text. Source: ECMA-376, 17.16.
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

  /**
   * Ends an element. @returns the shown value of the field, at the end of its settings
   * @returns the shown value of the field, at the end of its settings
   */
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
        // The selected entry of a list, or whether a box is ticked; a choice overrides the default before it.
        if (this.isBox) this.isTicked ??= isOn(value);
        else this.chosen ??= Number(value);
    }
  }
}

/** Maximum number of entries in a list; Word allows 25. */
const MAX_ENTRIES = 1_000;
