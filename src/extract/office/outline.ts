/** Returns the heading level for an outline level: 0–8 are headings, 9 is text. */
export function outlineHeading(outlineLevel: number | undefined): number | undefined {
  const isHeading = outlineLevel !== undefined && outlineLevel >= 0 && outlineLevel <= 8;
  return isHeading ? Math.min(6, outlineLevel + 1) : undefined;
}
