const MAX_ANCESTORS = 30;

/** Returns a style and the styles that it is based on, the nearest first. Styles may be based on each other in a circle. */
export function chainOf<Style>(
  find: (name: string) => Style | undefined,
  parentOf: (style: Style) => string | undefined,
  name: string | undefined,
): Style[] {
  const chain: Style[] = [];
  for (let next = name; next !== undefined && chain.length < MAX_ANCESTORS;) {
    const style = find(next);
    if (style === undefined) break;
    chain.push(style);
    next = parentOf(style);
  }
  return chain;
}
