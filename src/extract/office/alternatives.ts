/**
 * Alternatives (`mc:AlternateContent`): the first is read; the fallback for old programs is read only when there is no
 * other.
 */
export class Alternatives {
  private readonly hasChosen: boolean[] = [];

  /** True when the element is one of these and is left out. */
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
