import type { Attributes } from "./walk.ts";

/**
 * Finds the fragment that leads to a heading. Pages put the id, in this order of preference, on the heading, on its container or right before it
 * (`<section id="install"><h2>`), or on an element in it (`<h2><a name="install"></a>…`).
 */
export class AnchorTracker {
  /** The last id that has no text after it. */
  private before: string | undefined;
  private heading: { id: string | undefined } | undefined;

  open(isHeading: boolean, attributes: Attributes): void {
    const id = anchorOf(attributes);
    if (isHeading) this.heading = { id: id ?? this.before };
    else if (this.heading !== undefined) this.heading.id ??= id;
    if (id !== undefined) this.before = id;
  }

  text(data: string): void {
    if (this.heading === undefined && /\S/u.test(data)) this.before = undefined;
  }

  /** Ends the heading and returns its id. */
  close(): string | undefined {
    const id = this.heading?.id;
    this.heading = this.before = undefined;
    return id;
  }
}

const MAX_ANCHOR_LENGTH = 200;

function anchorOf({ id, name }: Attributes): string | undefined {
  const anchor = id ?? name;
  // The standard allows no spaces in an id; an id with spaces or control characters leads nowhere.
  return anchor !== undefined && anchor.length <= MAX_ANCHOR_LENGTH && /^[^\s\p{Cc}]+$/u.test(anchor)
    ? anchor
    : undefined;
}
