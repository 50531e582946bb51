import { FACTORS } from "#text/factors.ts";
import { termsOfPair } from "#text/field-terms.ts";
import { parseQuery, type PhraseWord, type QueryUnit, unitKey } from "#text/query.ts";
import { STOP_WORDS } from "#text/stop-words.ts";
import { makeTokenizer } from "#text/tokenize.ts";
import type {
  FacetField,
  HitPosition,
  IndexedDocument,
  Matching,
  SearchHit,
  SearchRequest,
  SearchResponse,
} from "#storage/search-index.ts";

/** What a workspace holds, as plain values. */
export interface OracleWorkspace {
  documents: Map<string, IndexedDocument>;
  /** aclId → AND of ORs. */
  accesses: Map<number, readonly (readonly string[])[]>;
  texts: Map<string, readonly string[]>;
}

interface Doc {
  document: IndexedDocument;
  weights: Map<string, number>;
}

interface Scored {
  name: string;
  df: number;
  idf: number;
  weightIn(doc: Doc): number;
}

type Answer = Omit<SearchResponse, "tookMs">;

const K1 = 2.5;
const B = 0.75;
const ENOUGH = { any: 2, one: 1 } as const;

/** The formula by brute force: every document is looked at for every question. */
export function oracleSearch(workspace: OracleWorkspace, request: SearchRequest): Answer {
  const all = [...workspace.documents.values()].map(withWeights);
  const visible = all.filter(({ document }) => isVisible(workspace, document, request.viewer.principals));
  const query = parseQuery(request.query, makeTokenizer());
  const units = resolve(query.units, visible);
  const unknownWords = [...new Set(units.filter((unit) => !occurs(unit, visible)).map((unit) => unit.written))];
  const terms = scoredTerms(units, visible);
  const average = visible.reduce((sum, { document }) => sum + document.text.length, 0) / visible.length || 1;

  const passing = visible.filter(
    (doc) => passes(doc, request) && !query.excluded.some((unit) => has(workspace, doc, unit)),
  );
  // Term by term and product by product in the order of `score.ts`: sums made in another order differ in the last
  // digit, and items that are equal in one order are not in the other.
  const base = K1 * (1 - B);
  const slope = (K1 * B) / average;
  const saturated = (scale: number, w: number, { document }: Doc) =>
    (scale * w) / (w + base + slope * document.text.length);
  const ownScoreOf = (doc: Doc) =>
    terms.reduce((sum, term) => {
      const w = term.weightIn(doc);
      return w === 0 ? sum : sum + saturated(term.idf * (K1 + 1), w, doc);
    }, 0);
  const unitsIn = (doc: Doc) => units.filter((unit) => has(workspace, doc, unit)).length;
  const phrases = units.filter((unit) => unit.type === "phrase");
  const having = (enough: number) =>
    passing.filter((doc) => unitsIn(doc) >= enough && phrases.every((unit) => has(workspace, doc, unit)));

  const withAll = having(units.length);
  const words = units.length - phrases.length;
  let { order } = request;
  let match: Matching = "all";
  if (units.length === 0) order = order === "relevance" ? "recency" : order;
  else if (request.after !== undefined) {
    match = request.after.match;
    if (match !== "all") order = "relevance";
  } else if (units.length > 1 && words > 0 && withAll.length < (order === "relevance" ? 10 : 1)) {
    const relaxed = units.length > 2 && having(2).length >= 10 ? "any" : "one";
    if (having(ENOUGH[relaxed]).length > withAll.length) {
      match = relaxed;
      order = "relevance";
    }
  }
  const matches = match === "all" ? withAll : having(ENOUGH[match]);
  const isRefined =
    match !== "all" &&
    request.limit > 0 &&
    units.length > FACTORS.allWords.weight &&
    ![...units, ...query.excluded].some(needsText);
  const first = [...matches].sort(
    (a, b) => ownScoreOf(b) - ownScoreOf(a) || (a.document.kbId < b.document.kbId ? -1 : 1),
  );
  const highest = terms.reduce((sum, { idf }) => sum + idf * (K1 + 1), 0);
  const tenth = first[9] === undefined ? 0 : ownScoreOf(first[9]);
  const isFed =
    isRefined && (request.after === undefined ? tenth <= 0.35 * highest : request.after.hasFeedback === true);
  const feedback = isFed ? feedbackOf(workspace, { visible, terms, hits: first.slice(0, 4), scoreOf: ownScoreOf }) : [];
  const scoreOf = (doc: Doc) => {
    if (doc === first[0]) return ownScoreOf(doc) + feedback.reduce((sum, { scale }) => sum + scale, 0);
    return feedback.reduce((sum, { term, scale }) => {
      const w = doc.weights.get(term) ?? 0;
      return w === 0 ? sum : sum + saturated(scale, w, doc);
    }, ownScoreOf(doc));
  };
  const hits = matches
    .map((doc): SearchHit => {
      const { document } = doc;
      const score = scoreOf(doc);
      const date = order === "due" ? (document.dueAt ?? 8.64e15) : (document.updatedAt ?? -8.64e15);
      const isFirst = match === "all" || units.length <= FACTORS.allWords.weight;
      const group = isFirst && unitsIn(doc) === units.length ? 1 : 0;
      const position: HitPosition = { group, value: order === "relevance" ? score : date, kbId: document.kbId };
      return { kbId: document.kbId, score, position };
    })
    .sort((a, b) => comparePositions(a.position, b.position, order === "due"));
  const after = request.after?.position;
  const rest = hits.filter((hit) => after === undefined || comparePositions(after, hit.position, order === "due") < 0);
  return {
    hits: rest.slice(0, request.limit),
    hasFeedback: feedback.length > 0,
    total: matches.length,
    totalAll: withAll.length,
    isTotalExact: true,
    match,
    order,
    facets: Object.fromEntries((request.facets ?? []).map((field) => [field, facet(field, matches)])),
    unknownWords,
    hasMore: rest.length > request.limit,
  };
}

/** The words that two of the first hits share, as the factor wants them; the best ten. */
function feedbackOf(
  { texts }: OracleWorkspace,
  at: { visible: readonly Doc[]; terms: readonly Scored[]; hits: readonly Doc[]; scoreOf: (doc: Doc) => number },
): { term: string; scale: number }[] {
  const shares = new Map<string, number[]>();
  for (const doc of at.hits) {
    const fields = texts.get(doc.document.kbId) ?? [];
    const words = fields.flatMap((field) => makeTokenizer().tokenize(field)).map(({ term }) => term);
    for (const word of new Set(words)) shares.set(word, [...(shares.get(word) ?? []), at.scoreOf(doc)]);
  }
  const candidates = [...shares]
    .filter(([term, each]) => each.length > 1 && term.length > 1 && !STOP_WORDS.has(term))
    .filter(([term]) => at.terms.every(({ name }) => name !== term))
    .map(([term, each]) => {
      const df = at.visible.filter((doc) => doc.weights.has(term)).length;
      const scale = Math.log(1 + (at.visible.length - df + 0.5) / (df + 0.5)) * (K1 + 1);
      const share = each.reduce((sum, score) => sum + score, 0);
      return { term, df, scale, share, worth: share * scale };
    })
    .sort((a, b) => b.share - a.share || (a.term < b.term ? -1 : 1))
    .slice(0, 40)
    .filter(({ df }) => df <= at.visible.length * 0.1)
    .sort((a, b) => b.worth - a.worth || (a.term < b.term ? -1 : 1))
    .slice(0, 10);
  const most = candidates[0]?.worth ?? 1;
  return candidates.map(({ term, scale, worth }) => {
    return { term, scale: scale * (worth / most) * FACTORS.feedback.weight };
  });
}

/** Is it a phrase that posting lists alone can't decide? */
function needsText(unit: QueryUnit): boolean {
  if (unit.type !== "phrase") return false;
  const [only] = unit.words;
  if (unit.words.length !== 1 || only === undefined) return true;
  return only.exactTerm === only.term && /^[a-z]{3,}$/.test(only.term);
}

function withWeights(document: IndexedDocument): Doc {
  const terms = document.text.terms === "" ? [] : document.text.terms.split("\n");
  return { document, weights: new Map(terms.map((term, i) => [term, document.text.weights[i] ?? 0])) };
}

/** No list, or any list that nobody of these is in, is nobody. */
export function isVisible(
  workspace: Pick<OracleWorkspace, "accesses">,
  document: IndexedDocument,
  principals: readonly string[],
): boolean {
  const lists = document.aclId === 0 ? undefined : workspace.accesses.get(document.aclId);
  if (lists === undefined || lists.length === 0) return false;
  return lists.every((list) => list.some((principal) => principals.includes(principal)));
}

function resolve(units: readonly QueryUnit[], visible: readonly Doc[]): QueryUnit[] {
  const resolved = units.flatMap((unit): QueryUnit[] => {
    if (unit.type !== "word" || unit.parts.length === 0 || occurs(unit, visible)) return [unit];
    return resolve(unit.parts, visible);
  });
  const distinct = new Map<string, QueryUnit>();
  for (const unit of resolved) if (!distinct.has(unitKey(unit))) distinct.set(unitKey(unit), unit);
  return [...distinct.values()];
}

/** Does what the posting lists say let the unit occur in anything visible? */
function occurs(unit: QueryUnit, visible: readonly Doc[]): boolean {
  switch (unit.type) {
    case "word":
      return visible.some((doc) => doc.weights.has(unit.term));
    case "prefix":
      return visible.some((doc) => prefixWeight(doc, unit.prefix) > 0);
    case "phrase":
      return telling(unit.words).every((word) => visible.some((doc) => doc.weights.has(word.exactTerm)));
  }
}

function has(workspace: OracleWorkspace, doc: Doc, unit: QueryUnit): boolean {
  switch (unit.type) {
    case "word":
      return doc.weights.has(unit.term);
    case "prefix":
      return prefixWeight(doc, unit.prefix) > 0;
    case "phrase": {
      const fields = workspace.texts.get(doc.document.kbId) ?? [];
      return fields.some((field) => {
        const words = makeTokenizer()
          .tokenize(field)
          .filter((token) => !token.isExtra)
          .map((token) => token.exactTerm);
        return words.some((_, i) => unit.words.every((word, k) => words[i + k] === word.exactTerm));
      });
    }
  }
}

function prefixWeight(doc: Doc, prefix: string): number {
  let sum = 0;
  for (const [term, weight] of doc.weights) {
    if (term.startsWith(prefix) || term.startsWith(`=${prefix}`)) sum += weight;
  }
  return Math.min(255, sum);
}

function telling(words: readonly PhraseWord[]): readonly PhraseWord[] {
  const rest = words.filter((word) => !STOP_WORDS.has(word.exactTerm.replace(/^=/, "")));
  return rest.length > 0 ? rest : words;
}

function scoredTerms(units: readonly QueryUnit[], visible: readonly Doc[]): Scored[] {
  const found = new Map<string, Scored>();
  const add = (name: string, weightIn: (doc: Doc) => number) => {
    const df = visible.filter((doc) => weightIn(doc) > 0).length;
    if (df === 0) return;
    const idf = Math.log(1 + (visible.length - df + 0.5) / (df + 0.5));
    found.set(name, { name, df, idf, weightIn });
  };
  for (const unit of units) {
    if (unit.type === "word") add(unit.term, (doc) => doc.weights.get(unit.term) ?? 0);
    else if (unit.type === "prefix") add(`${unit.prefix}*`, (doc) => prefixWeight(doc, unit.prefix));
    else for (const { exactTerm } of telling(unit.words)) add(exactTerm, (doc) => doc.weights.get(exactTerm) ?? 0);
  }
  return [...found.values()].sort((a, b) => a.df - b.df || (a.name < b.name ? -1 : 1));
}

function passes({ document }: Doc, { filters }: SearchRequest): boolean {
  const isOneOf = (wanted: readonly string[] | undefined, values: readonly string[]) =>
    wanted === undefined || values.some((value) => wanted.includes(value));
  const date = { updated: document.updatedAt, created: document.createdAt, due: document.dueAt }[
    filters.dateField ?? "updated"
  ];
  const hasDates = filters.from === undefined && filters.until === undefined;
  return (
    isOneOf(filters.kinds, [document.kind]) &&
    isOneOf(filters.sources, [document.source]) &&
    isOneOf(filters.providerIds, [document.providerId]) &&
    isOneOf(filters.connectorIds, [document.connectorId]) &&
    isOneOf(filters.people, document.people) &&
    isOneOf(filters.assignees, document.assignees) &&
    isOneOf(filters.containers, document.containers) &&
    (filters.fields ?? []).every((pair) => isOneOf(termsOfPair(pair), document.fields)) &&
    isOneOf(filters.kbIds, [document.kbId]) &&
    (filters.status === undefined || filters.status === document.status) &&
    (hasDates || (date !== null && date >= (filters.from ?? -Infinity) && date < (filters.until ?? Infinity)))
  );
}

function comparePositions(a: HitPosition, b: HitPosition, isDue: boolean): number {
  if (a.group !== b.group) return b.group - a.group;
  if (a.value !== b.value) return isDue ? a.value - b.value : b.value - a.value;
  return a.kbId < b.kbId ? -1 : a.kbId > b.kbId ? 1 : 0;
}

function facet(field: FacetField, matches: readonly Doc[]): { value: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { document } of matches) {
    const values = {
      kind: [document.kind],
      source: [document.source],
      provider: [document.providerId],
      person: [...new Set(document.people)],
      status: document.status === null ? [] : [document.status],
      month: document.updatedAt === null ? [] : [new Date(document.updatedAt).toISOString().slice(0, 7)],
    }[field];
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const values = [...counts].map(([value, count]) => ({ value, count }));
  return values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}
