import { webAddress } from "#extract/link-addresses.ts";

/** The open fields. A field is an instruction (`HYPERLINK "…"`, `PAGE`) followed by the result, which is the text. */
export class FieldStack {
  private readonly fields: { instruction: string; isResult: boolean; start: number }[] = [];
  private isTaking = false;

  /** Whether text is part of an instruction, of this field or of one around it. */
  get isInInstruction(): boolean {
    return this.isTaking || this.fields.some((field) => !field.isResult);
  }

  takesInstruction(isTaking: boolean): void {
    this.isTaking = isTaking;
  }

  addInstruction(text: string): void {
    const field = this.fields.at(-1);
    if (field !== undefined && !field.isResult && field.instruction.length < MAX_INSTRUCTION_LENGTH)
      field.instruction += text;
  }

  /**
   * Handles a mark of a field: its begin, the separator between instruction and result, or its end.
   *
   * @param length number of code units in the paragraph so far
   * @returns at the end of a link: where its words began, and its target
   */
  mark(type: string | undefined, length: number): { address: string; start: number } | undefined {
    const field = this.fields.at(-1);
    if (type === "begin" && this.fields.length < MAX_FIELDS) {
      this.fields.push({ instruction: "", isResult: false, start: length });
    } else if (type === "separate" && field !== undefined) {
      field.isResult = true;
      field.start = length;
    } else if (type === "end" && field !== undefined) {
      this.fields.pop();
      const address = linkOfInstruction(field.instruction);
      if (address !== undefined) return { address, start: field.start };
    }
    return undefined;
  }

  /**
   * Ends open instructions at the end of a paragraph: instructions don't continue in another paragraph, and one that never ends would hide the rest
   * of the document.
   */
  endInstructions(): void {
    for (const field of this.fields) field.isResult = true;
  }
}

/** Returns the target of an instruction `HYPERLINK "address"`. */
export function linkOfInstruction(instruction: string): string | undefined {
  const address = /^\s*HYPERLINK\s+"?([^"\s]{1,2000})/iu.exec(instruction)?.[1];
  return address === undefined ? undefined : webAddress(address);
}

const MAX_INSTRUCTION_LENGTH = 5_000;
const MAX_FIELDS = 500;
