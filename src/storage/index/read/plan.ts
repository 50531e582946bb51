import { type ParsedQuery, type PhraseWord, type QueryUnit, unitKey } from "#text/query.ts";
import type { Ranking } from "#text/factors.ts";
import { STOP_WORDS } from "#text/stop-words.ts";
import type { DeltaSegment } from "#storage/index/delta-view.ts";
import { termScale } from "./search-context.ts";
import type { TermLists, TermReader } from "./term-lists.ts";

/** A term whose posting lists contribute to the score. */
export interface ScoredTerm extends TermLists {
  /** The term as in the index; a prefix ends in a star. */
  term: string;
  /** The part of the query from which the term came. */
  written: string;
  /** The number of visible items that have the term. */
  df: number;
  /** idf·(k1+1), to be multiplied by the saturated weight. */
  scale: number;
  /** True if the term is one of the query's words. */
  isWord: boolean;
  /** True if the term is part of a phrase: a document without it doesn't match. */
  isRequired: boolean;
}

/** Words that several of the first hits have. Source: docs/decisions/0046. */
export interface Feedback {
  /** The most informative terms first; `scale` works as for a term of the query. */
  terms: readonly (TermLists & { term: string; scale: number })[];
  /** More than the terms can add to any item. The first hit gets it, so that it keeps its position. */
  most: number;
  first: { segment: number; id: number };
}

/** A query prepared for one viewer and one state of the index. */
export interface Plan {
  /**
   * Terms, the rarest first by visible items. Ties are in the order of the terms, so that sums are computed in the same
   * order everywhere.
   */
  terms: readonly ScoredTerm[];
  /** The number of words and prefixes; phrases are counted separately. */
  words: number;
  phrases: number;
  /** A word or phrase occurs in no visible item, so no item has all. `isPhraseHopeless`: no item matches at all. */
  isHopeless: boolean;
  isPhraseHopeless: boolean;
  /** Phrases that can't be decided by posting lists alone. */
  textPhrases: readonly (readonly PhraseWord[])[];
  excluded: readonly TermLists[];
  /** Phrases that must not occur, each with the lists whose common documents may contain it. */
  excludedPhrases: readonly { words: readonly PhraseWord[]; lists: readonly TermLists[] }[];
  unknownWords: readonly string[];
  isPrefixCapped: boolean;
  /** Words that only change the order of the matches. */
  feedback?: Feedback;
}

interface Draft {
  reader: TermReader;
  deltas: readonly DeltaSegment[];
  items: number;
  ranking: Ranking;
  terms: Map<string, ScoredTerm>;
  units: Set<string>;
  unknown: Set<string>;
  words: number;
  phrases: number;
  isHopeless: boolean;
  isPhraseHopeless: boolean;
  isPrefixCapped: boolean;
  textPhrases: PhraseWord[][];
}

/** True when posting lists alone decide the matches. */
export function hasNoTextWork(plan: Plan): boolean {
  return plan.textPhrases.length === 0 && plan.excludedPhrases.length === 0;
}

/** Looks up every word of a query. `items` is the number of items that the viewer can see. */
export function makePlan(
  query: ParsedQuery,
  reader: TermReader,
  { deltas, items, ranking }: Pick<Draft, "deltas" | "items" | "ranking">,
): Plan {
  const draft: Draft = {
    reader,
    deltas,
    items,
    ranking,
    terms: new Map(),
    units: new Set(),
    unknown: new Set(),
    words: 0,
    phrases: 0,
    isHopeless: false,
    isPhraseHopeless: false,
    isPrefixCapped: false,
    textPhrases: [],
  };
  for (const unit of query.units) addUnit(draft, unit);
  const { excluded, excludedPhrases } = planExcluded(draft, query.excluded);
  const terms = [...draft.terms.values()].sort((a, b) => a.df - b.df || (a.term < b.term ? -1 : 1));
  return { ...draft, terms, excluded, excludedPhrases, unknownWords: [...draft.unknown] };
}

function addUnit(draft: Draft, unit: QueryUnit): void {
  const key = unitKey(unit);
  if (draft.units.has(key)) return;
  draft.units.add(key);
  switch (unit.type) {
    case "word":
      return addWord(draft, unit);
    case "prefix":
      return addPrefix(draft, unit);
    case "phrase":
      return addPhrase(draft, unit);
  }
}

function addWord(draft: Draft, unit: QueryUnit & { type: "word" }): void {
  const lists = draft.reader.lists(unit.term);
  const df = draft.reader.visibleCount(lists);
  if (df === 0 && unit.parts.length > 0) {
    for (const part of unit.parts) addUnit(draft, part);
    return;
  }
  draft.words++;
  if (df === 0) {
    draft.isHopeless = true;
    draft.unknown.add(unit.written);
  } else addTerm(draft, { term: unit.term, written: unit.written }, lists, df).isWord = true;
}

function addPrefix(draft: Draft, unit: QueryUnit & { type: "prefix" }): void {
  draft.words++;
  const lists = draft.reader.prefix(unit.prefix, draft.deltas);
  draft.isPrefixCapped ||= lists.isCapped;
  const df = draft.reader.visibleCount(lists);
  if (df === 0) {
    draft.isHopeless = true;
    draft.unknown.add(unit.written);
    return;
  }
  addTerm(draft, { term: `${unit.prefix}*`, written: unit.written }, lists, df).isWord = true;
}

function addPhrase(draft: Draft, unit: QueryUnit & { type: "phrase" }): void {
  draft.phrases++;
  for (const word of significantWords(unit.words)) {
    const lists = draft.reader.lists(word.exactTerm);
    const df = draft.reader.visibleCount(lists);
    if (df === 0) {
      draft.isHopeless = draft.isPhraseHopeless = true;
      draft.unknown.add(unit.written);
    } else addTerm(draft, { term: word.exactTerm, written: exactWord(word) }, lists, df).isRequired = true;
  }
  if (needsText(unit.words)) draft.textPhrases.push([...unit.words]);
}

function addTerm(draft: Draft, named: Pick<ScoredTerm, "term" | "written">, lists: TermLists, df: number): ScoredTerm {
  let known = draft.terms.get(named.term);
  if (known === undefined) {
    const scale = termScale(draft.items, df, draft.ranking);
    known = { ...lists, ...named, df, scale, isWord: false, isRequired: false };
    draft.terms.set(named.term, known);
  }
  return known;
}

function planExcluded(draft: Draft, units: readonly QueryUnit[]): Pick<Plan, "excluded" | "excludedPhrases"> {
  const excluded: TermLists[] = [];
  const excludedPhrases: { words: readonly PhraseWord[]; lists: readonly TermLists[] }[] = [];
  for (const unit of units) {
    if (unit.type === "word") excluded.push(draft.reader.lists(unit.term));
    else if (unit.type === "prefix") excluded.push(draft.reader.prefix(unit.prefix, draft.deltas));
    else {
      const lists = significantWords(unit.words).map((word) => draft.reader.lists(word.exactTerm));
      if (needsText(unit.words)) excludedPhrases.push({ words: unit.words, lists });
      else excluded.push(...lists);
    }
  }
  return { excluded, excludedPhrases };
}

/** Returns the words that narrow a phrase down: all but stop words, or all words if the phrase has only stop words. */
export function significantWords(words: readonly PhraseWord[]): readonly PhraseWord[] {
  const significant = words.filter((word) => !STOP_WORDS.has(exactWord(word)));
  return significant.length > 0 ? significant : words;
}

/**
 * Whether the text must be read to decide a phrase. A single word whose list contains exactly this form doesn't need
 * it.
 */
function needsText(words: readonly PhraseWord[]): boolean {
  const [only] = words;
  if (words.length !== 1 || only === undefined) return true;
  return only.exactTerm === only.term && /^[a-z]{3,}$/.test(only.term);
}

function exactWord(word: PhraseWord): string {
  return word.exactTerm === word.term ? word.term : word.exactTerm.slice(1);
}
