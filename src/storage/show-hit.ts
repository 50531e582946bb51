import { type Fault, isMistake, withoutWords } from "#core/faults.ts";
import { withoutFacts } from "#core/item-facts.ts";
import type { ShownHit } from "./search-index.ts";

/**
 * Converts a hit to the form of an answer. If one of its values can't be shown, the hit is shown without its passages,
 * without its own facts, or without both, tried in this order. So one bad value hides neither the hit nor any other.
 * Source: S68.
 *
 * @param project makes the form; called again with less data while it fails
 * @param note called with each failure
 * @throws errors of `project` that aren't bugs in kb, and its error for the minimal hit
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
