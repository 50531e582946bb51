import { ListCounter } from "./list-numbers.ts";
import type { OdfStyles } from "./odf-styles.ts";
import type { Attributes } from "./xml.ts";

/** The current numbers of a document's lists by style name, because later lists continue them. */
export type ListCounters = Map<string, ListCounter>;

/** The open lists in a sequence of paragraphs. */
export class OdfLists {
  private readonly styles: OdfStyles;
  private readonly counters: ListCounters;
  private readonly open: OpenList[] = [];

  constructor(styles: OdfStyles, counters: ListCounters) {
    this.styles = styles;
    this.counters = counters;
  }

  begin(attributes: Attributes): void {
    const outer = this.open.at(-1);
    const styleName = attributes["text:style-name"] ?? outer?.styleName;
    const goesOn = attributes["text:continue-numbering"] === "true" || attributes["text:continue-list"] !== undefined;
    const key = styleName ?? "";
    const known = goesOn ? this.counters.get(key) : undefined;
    const counter = outer !== undefined && outer.styleName === styleName ? outer.counter : (known ?? new ListCounter());
    if (this.counters.size < MAX_COUNTERS) this.counters.set(key, counter);
    this.open.push({ styleName, counter, marker: undefined });
  }

  end(): void {
    this.open.pop();
  }

  /** Begins an item, which has a marker, or a header of a list, which has none. */
  beginItem(hasMarker: boolean): void {
    const list = this.open.at(-1);
    if (list === undefined) return;
    const levels = this.styles.listLevels(list.styleName);
    const depth = Math.min(this.open.length, 10) - 1;
    list.marker = hasMarker ? () => list.counter.next(depth, levels) : undefined;
  }

  /** Returns the marker for a paragraph; only the first paragraph of an item has one. */
  takeMarker(): { depth: number; marker: string } | undefined {
    const list = this.open.at(-1);
    const marker = list?.marker?.();
    if (list !== undefined) list.marker = undefined;
    return marker === undefined || marker === "" ? undefined : { depth: this.open.length - 1, marker };
  }
}

interface OpenList {
  styleName: string | undefined;
  counter: ListCounter;
  marker: (() => string) | undefined;
}

const MAX_COUNTERS = 20_000;
