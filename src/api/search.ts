import { Count, ItemKind, nextCursor, TaskStatus, Timestamp } from "./common.ts";
import { fieldShape } from "./item-answers.ts";
import { LiveAnswer } from "./live-search.ts";
import { answer, get, z } from "./route.ts";
import { DATE_FIELDS, DETAILS, GROUPINGS, SORT_ORDERS, TOOL_LIMITS } from "./tools.ts";

const DayText = z
  .string()
  .max(60)
  .openapi({ description: "A date: 2026-11-01, 2026-11, today, 7d (7 days ago) or +7d (in 7 days)." });
const PersonText = z.string().max(TOOL_LIMITS.valueChars);

const FieldPair = z
  .string()
  .max(TOOL_LIMITS.valueChars)
  .regex(/^[^:]{1,100}:.*\S/, "must be name:value, as in status:draft");

/** The arguments of a search in REST's query string: strict names and values. */
export const SearchQuery = z
  .strictObject({
    query: z.string().default(""),
    kind: ItemKind.optional(),
    status: TaskStatus.optional(),
    assignee: PersonText.optional().openapi({ description: "me, a name, an email or an entityId." }),
    people: PersonText.optional().openapi({ description: "me, a name, an email or an entityId, in any role." }),
    priority: PersonText.optional().openapi({ description: "In the source's own words, such as high or P1." }),
    source: z.string().max(TOOL_LIMITS.valueChars).optional().openapi({
      description:
        "A provider (github), one of its sources (github:acme/web), a connector ID, or the entityId, kbId or URL of a container.",
    }),
    field: z.array(FieldPair).max(8).optional().openapi({
      description:
        "A field and its value, such as status:draft or created:2024-03; repeat it to filter by more fields.",
    }),
    after: DayText.optional(),
    before: DayText.optional(),
    dateField: z.enum(DATE_FIELDS).default("updated"),
    sortBy: z.enum(SORT_ORDERS).optional(),
    groupBy: z.enum(GROUPINGS).optional().openapi({ description: "Returns counts per value instead of results." }),
    facets: z
      .array(z.enum(GROUPINGS))
      .max(GROUPINGS.length)
      .optional()
      .openapi({ description: "Also returns counts per value; repeat it to count by more fields." }),
    limit: z.coerce.number<number>().int().min(TOOL_LIMITS.limit.min).max(TOOL_LIMITS.limit.max).default(10),
    detail: z.enum(DETAILS).default("concise"),
    cursor: z.string().max(64).optional(),
    live: z
      .enum(["true", "false"])
      .optional()
      .openapi({ description: "Also searches with the search tools of your own connections, for at most a second." }),
    explain: z
      .enum(["true", "false"])
      .optional()
      .openapi({ description: "Also explains each score. Only for admins, and only with the scope kb:admin." }),
  })
  .openapi("SearchQuery");

/** How a hit got its position. All numbers are calculated from items that the caller can see. */
export const Explanation = z
  .object({
    /** `address`: the query is the hit's URL or key; `all`, `some`: the hit contains all or some of the words. */
    group: z.enum(["address", "all", "some"]),
    /** Null for `address`, because such a hit isn't scored. */
    score: z.number().nullable(),
    /** Number of words of the item, each weighted by its field. */
    length: z.number().int().nullable(),
    /** The query's words that the item contains. Their scores add up to the hit's score, except for the part that feedback adds. */
    words: z.array(
      z.object({
        word: z.string(),
        /** The form in the index: a stem, `=word` for an exact form, `word*` for a prefix. */
        term: z.string(),
        /** Number of items that contain the term. */
        items: Count,
        /** Number of occurrences in the item, each weighted by its field; at most 255. */
        weight: z.number().int(),
        /** Occurrences per field. */
        frequency: z.object({ title: z.number().int(), place: z.number().int(), text: z.number().int() }),
        score: z.number(),
      }),
    ),
    /** How much each factor increases the score when it is enabled after the factors before it. The increases add up to the score. */
    factors: z.array(z.object({ factor: z.string(), score: z.number() })),
  })
  .openapi("Explanation");
export type Explanation = z.infer<typeof Explanation>;

export const SearchResult = z
  .object({
    kbId: z.string(),
    providerId: z.string(),
    source: z.string(),
    url: z.string().nullable(),
    /** Texts of `fields` have up to 1,000 characters, lists up to 50 values. */
    ...fieldShape("result"),
    snippet: z.string(),
    /** Matching ranges of the snippet, in UTF-16 code units. */
    highlights: z.array(z.object({ start: z.number().int(), end: z.number().int() })),
    indexedAt: Timestamp,
    /** Since when the content can't be read, so that the snippet is from the previous text. Null if the text matches the content. */
    textAsOf: Timestamp.nullable(),
    /** The section with the snippet's match: `Install › Linux`, `Page 3`, `line 12`. */
    section: z.string().nullable(),
    /** URL of that section; null if the source has none. */
    sectionUrl: z.string().nullable(),
    /** Present with `explain`. */
    explanation: Explanation.optional(),
  })
  .openapi("SearchResult");
export type SearchResult = z.infer<typeof SearchResult>;

/** The answer of a search: one schema for REST and `kb search --json`. */
export const SearchAnswer = z
  .object({
    results: z.array(SearchResult),
    total: Count,
    totalIsExact: z.boolean(),
    returned: Count,
    nextCursor,
    asOf: Timestamp,
    match: z.enum(["all", "any"]),
    order: z.enum(SORT_ORDERS),
    corrected: z.string().optional(),
    /** `assigned`: how many of a person's items are assigned to them. In the others they are the author, or have another role. */
    facets: z
      .record(
        z.string(),
        z.array(
          z.object({
            value: z.string(),
            name: z.string().optional(),
            count: Count,
            assigned: Count.optional(),
          }),
        ),
      )
      .optional(),
    /** Notes about words that were interpreted, corrected, missing or are still being indexed, one sentence each. */
    notes: z.array(z.string()),
    tookMs: z.number(),
    /** With `live`, on the first page: live results of your own connections. They aren't indexed, and no count above includes them. */
    live: LiveAnswer.optional(),
    /** With `explain`: the data that the scores are calculated from. */
    ranking: z
      .object({
        /** The number of items that the caller can see, and their average length in weighted words. */
        items: Count,
        averageLength: z.number(),
        /** Words from the first hits that affected the scores, in their form in the index. */
        feedback: z.array(z.string()),
        factors: z.array(z.object({ factor: z.string(), weight: z.number(), does: z.string() })),
      })
      .optional(),
  })
  .openapi("SearchAnswer");
export type SearchAnswer = z.infer<typeof SearchAnswer>;

export const searchRoute = get("/api/connectors/search", "Search indexed files", {
  operationId: "searchItems",
  tags: ["search"],
  query: SearchQuery,
  200: answer("The matching items that the caller can see", SearchAnswer),
  problems: ["invalid_argument", "no_such_person", "search_timeout", "forbidden"],
});
