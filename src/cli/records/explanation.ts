/** Formats how a hit was scored, for `kb search --explain`. */
import { count, plural } from "#api/plural.ts";
import type { Explanation, SearchAnswer } from "#api/search.ts";

const GROUPS: Readonly<Record<Explanation["group"], string>> = {
  address: "the question is its address",
  all: "has all words",
  some: "has some of the words",
};

/** Makes lines for a terminal: the score, then a line for each word, then each factor's contribution. */
export function explanationLines({ group, score, length, words, factors }: Explanation): string[] {
  if (score === null) return [GROUPS[group]];
  const fields = ({ title, place, text }: Explanation["words"][number]["frequency"]) =>
    `${title}× in title, ${place}× in place, ${text}× in text`;
  return [
    `score ${digits(score)}, ${GROUPS[group]}, length ${count(length ?? 0)}`,
    ...words.map(
      (word) => `${word.word}: ${digits(word.score)} (${fields(word.frequency)}; in ${plural(word.items, "item")})`,
    ),
    ...(factors.length === 0 ? [] : [factors.map(({ factor, score }) => `${factor} ${signed(score)}`).join(", ")]),
  ];
}

type Ranking = NonNullable<SearchAnswer["ranking"]>;

/** Formats the data behind the scores in one line. An older server reports no feedback. */
export function rankingLine(ranking: Omit<Ranking, "feedback"> & Partial<Ranking>): string {
  const { items, averageLength, feedback = [], factors } = ranking;
  const words = feedback.length === 0 ? "" : ` Words of the first hits: ${feedback.join(", ")}.`;
  const weights = factors.map(({ factor, weight }) => `${factor} ${weight}`).join(", ");
  return `Scored over the ${count(items)} items you can see, of ${averageLength.toFixed(1)} words on average. Weights: ${weights}.${words}`;
}

function digits(value: number): string {
  return value.toFixed(4);
}

function signed(value: number): string {
  return `${value < 0 ? "" : "+"}${digits(value)}`;
}
