import { z } from "zod";
import { ApiError, isApiError } from "#api/errors.ts";
import type { GithubContext } from "./client.ts";
import { graphqlUrlOf } from "./config.ts";
import { failedStatus } from "#sources/failures.ts";

/**
 * Makes a client that reads many things with one request. Things that GraphQL doesn't return, for any reason, are left
 * out here and then requested over REST, which reports the reason.
 */
export function makeGraphql({ config, http, now }: Pick<GithubContext, "config" | "http" | "now">) {
  const url = graphqlUrlOf(config);
  let isOff = false;

  /** Returns the fields of each of these nodes, by its id. */
  async function nodes<T>(ids: readonly string[], fields: string, schema: z.ZodType<T>): Promise<Map<string, T>> {
    const found = new Map<string, T>();
    if (isOff || ids.length === 0) return found;
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ${fields} } }`;
    const request = {
      method: "POST",
      url,
      json: { query, variables: { ids } },
      auth: true,
      isIdempotent: true,
    } as const;
    let answer: z.infer<typeof Answer>;
    try {
      const response = await http.request({ ...request, redirect: "none" });
      answer = response.json(Answer);
      if (answer.errors?.some(({ type }) => type === "RATE_LIMITED")) {
        const reset = Number(response.headers.get("x-ratelimit-reset") ?? Number.NaN) * 1_000;
        const retryAfterMs = Number.isFinite(reset) && reset > now() ? reset - now() : UNTOLD_MS;
        throw new ApiError("source_rate_limited", { message: "GitHub limits the rate of requests.", retryAfterMs });
      }
    } catch (error) {
      // The server has no GraphQL, the token may not use it, or the query is too large for it at the moment.
      const isClosed = isApiError(error, "source_forbidden") || isApiError(error, "source_not_found");
      if (!isClosed && failedStatus(error) === undefined) throw error;
      isOff = true;
      return found;
    }
    const answered = answer.data?.nodes ?? [];
    // The returned ids may have another format than the requested ones.
    if (answered.length !== ids.length) return found;
    for (const [index, id] of ids.entries()) {
      const { data } = schema.safeParse(answered[index]);
      if (data !== undefined) found.set(id, data);
    }
    return found;
  }

  return {
    /** Returns the number of threads, and the newest commit, which is null if nothing was pushed yet. */
    pulses: (ids: readonly string[]) =>
      nodes(
        ids,
        "... on Repository { isEmpty issues { totalCount } pullRequests { totalCount } defaultBranchRef { target { oid } } }",
        Pulse,
      ),
    /** Returns all reviews of the pull requests whose reviews fit into one page. */
    reviews: (ids: readonly string[]) =>
      nodes(
        ids,
        `... on PullRequest { reviews(first: 100) { pageInfo { hasNextPage } nodes { url body state submittedAt
          author { kind: __typename login ... on User { databaseId } ... on Bot { databaseId } ... on Mannequin { databaseId } } } } }`,
        Reviews,
      ),
    /** Returns all collaborators of the repositories whose collaborators fit into one page. */
    collaborators: (ids: readonly string[], affiliation: "direct" | "all") =>
      nodes(
        ids,
        `... on Repository { collaborators(affiliation: ${affiliation.toUpperCase()}, first: 100)
          { pageInfo { hasNextPage } nodes { databaseId login } } }`,
        Collaborators,
      ),
  };
}

const UNTOLD_MS = 60_000;

const Answer = z.object({
  data: z.object({ nodes: z.array(z.unknown()) }).nullish(),
  errors: z.array(z.object({ type: z.string().optional() })).optional(),
});

const Counted = z.object({ totalCount: z.number().int().nonnegative() });
const Pulse = z.object({
  isEmpty: z.boolean(),
  issues: Counted,
  pullRequests: Counted,
  defaultBranchRef: z.object({ target: z.object({ oid: z.string().regex(/^[0-9a-f]{40,64}$/) }) }).nullable(),
});
export type Pulse = z.infer<typeof Pulse>;

const Whole = z.object({ hasNextPage: z.literal(false) });
const Reviews = z
  .object({
    reviews: z.object({
      pageInfo: Whole,
      nodes: z.array(
        z.object({
          url: z.string(),
          body: z.string(),
          state: z.string(),
          submittedAt: z.string().nullable(),
          author: z.object({ kind: z.string(), login: z.string(), databaseId: z.number().int().nullish() }).nullable(),
        }),
      ),
    }),
  })
  .transform(({ reviews }) => reviews.nodes);
export type ReviewNode = z.infer<typeof Reviews>[number];

const Collaborators = z
  .object({
    collaborators: z.object({
      pageInfo: Whole,
      nodes: z.array(z.object({ databaseId: z.number().int().positive(), login: z.string().min(1) })),
    }),
  })
  .transform(({ collaborators }) => collaborators.nodes.map(({ databaseId, login }) => ({ id: databaseId, login })));
