/** Finds one of several things by its id or name. */
import { failure, usageFailure } from "#cli/host/failure.ts";
import { didYouMean } from "./values.ts";

export interface Pickable {
  id: string;
  /** The names of the thing; several when it has aliases. */
  names: readonly string[];
}

/** Describes a thing with one name for `pickNamed`. */
export function byName({ id, name }: { id: string; name: string }): Pickable {
  return { id, names: [name] };
}

/**
 * Returns the thing that `word` names: by its id, otherwise by its exact name, otherwise by its name in any case.
 *
 * @param what.many  "connectors", for the failures
 * @param what.none  the sentence for the failure when none has that name
 * @param what.list  the command that lists the things
 * @throws CliFailure 3 with the nearest name when none matches; 2 with the ids when several match
 */
export function pickNamed<T>(
  all: readonly T[],
  word: string,
  toPickable: (item: T) => Pickable,
  what: { many: string; none: string; list: string },
): T {
  const known = all.map((item) => ({ item, ...toPickable(item) }));
  const folded = fold(word);
  const tiers = [
    known.filter(({ id }) => id === word),
    known.filter(({ names }) => names.includes(word)),
    known.filter(({ names }) => names.some((name) => fold(name) === folded)),
  ];
  const meant = tiers.find((tier) => tier.length > 0) ?? [];
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return only.item;
  if (only !== undefined) {
    const each = meant.map(({ id, names: [name] }) => (name === word || name === id ? id : `${id} (${name ?? ""})`));
    const isByName = meant.every(({ id, names: [name] }) => name === id);
    throw usageFailure(
      `${meant.length} ${what.many} are named "${word}".`,
      `${isByName ? "Use the full name" : "Use an id"}: ${each.join(", ")}`,
    );
  }
  const near = didYouMean(
    word,
    known.flatMap(({ names }) => names),
    '"',
  );
  throw failure("notFound", "not_found", what.none + near, what.list);
}

function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
