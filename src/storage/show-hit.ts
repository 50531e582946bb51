import { type Fault, isMistake, withoutWords } from "#core/faults.ts";
import { withoutFacts } from "#core/item-facts.ts";
import type { ShownHit } from "./search-index.ts";

/**
 * A hit in the form of an answer. Where a value of it can't be shown, the hit is shown without its passages, without what it
 * says of itself, or without both, in this order: one bad value hides neither the hit nor any other. Source: S68.
 *
 * @param project  makes the form; asked again with less while it fails
 * @param note  told of each failure
 * @throws what `project` throws that is no mistake of kb, and what it throws for the least that a hit has
 */
export function showHit<Form>(hit: ShownHit, project: (hit: ShownHit) => Form, note: (fault: Fault) => void): Form {
  for (const one of [hit, withoutPassages(hit), withoutOwnWords(hit)]) {
    try {
      return project(one);
    } catch (error) {
      if (!isMistake(error)) throw error;
      note(withoutWords(error));
    }
  }
  const least = withoutPassages(withoutOwnWords(hit));
  return project({ ...least, item: { ...least.item, title: "", url: null } });
}

function withoutPassages(hit: ShownHit): ShownHit {
  return { ...hit, passages: [] };
}

function withoutOwnWords(hit: ShownHit): ShownHit {
  return { ...hit, item: { ...hit.item, ...withoutFacts(hit.item) } };
}
