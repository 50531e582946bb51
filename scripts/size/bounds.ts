/**
 * The most that each structural figure of `npm run size` may be: `.ci/run` fails above. A change that needs more raises its
 * bound and says why in its message; one that needs less lowers it.
 */
export const BOUNDS: Readonly<Record<string, number>> = {
  "pairs of folders that import each other, through others too": 0,
  "circles of files": 0,
  "interfaces of methods with one implementation": 0,
  "interfaces that are kept and have another": 0,
  "queries of a table outside storage": 0,
  "clauses that name the workspace by hand": 8,
  "queries of a workspace's table that don't say why they are raw": 0,
  casts: 288,
  "casts in storage/records": 7,
  "retired words": 0,
  "comments that begin with a What clause": 0,
  "comments with nobody or somebody": 1,
};

/** One line for each figure that is above its bound, and for each whose bound can be lowered. */
export function compareWithBounds(figures: readonly (readonly [string, number])[], bounds = BOUNDS) {
  const found = new Map(figures);
  const all = Object.entries(bounds).map(([name, bound]) => ({ name, bound, figure: found.get(name) ?? Infinity }));
  return {
    above: all
      .filter(({ figure, bound }) => figure > bound)
      .map(
        ({ name, bound, figure }) =>
          `${name}: ${figure}, and its bound is ${bound}. Take out what is new, or raise the bound in scripts/size/bounds.ts and say why.`,
      ),
    below: all
      .filter(({ figure, bound }) => figure < bound)
      .map(({ name, bound, figure }) => `${name}: ${figure}. Lower its bound of ${bound} in scripts/size/bounds.ts.`),
  };
}
