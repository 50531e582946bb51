/** Alternatives (`mc:AlternateContent`): the first one is read. The fallback for old programs is read only if there is no other alternative. */
export class Alternatives {
  private readonly hasChosen: boolean[] = [];

  /** Returns true when the element is one of the alternatives and is left out. */
  open(name: string): boolean {
    if (name === "mc:AlternateContent") this.hasChosen.push(false);
    if (name !== "mc:Choice" && name !== "mc:Fallback") return false;
    const isLeftOut = this.hasChosen.at(-1) === true;
    if (this.hasChosen.length > 0) this.hasChosen[this.hasChosen.length - 1] = true;
    return isLeftOut;
  }

  close(name: string): void {
    if (name === "mc:AlternateContent") this.hasChosen.pop();
  }
}
