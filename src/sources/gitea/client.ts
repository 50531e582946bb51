import { baseUrlOf } from "#sources/base-url.ts";
import { unavailable } from "#sources/errors.ts";
import { z } from "zod";
import type { SourceContext } from "#sources/context.ts";
import type { SourceRequest } from "#sources/http-contract.ts";
import { countOf, numberedPages, type RecordPage } from "#sources/forge/pages.ts";
import { halfRead, idAt, type Listed, listed, makeOddRecords } from "#sources/listed.ts";
import { type GiteaConfig } from "./config.ts";

/** Records in a page: the maximum, unless the server is configured otherwise. */
const LIMIT = 50;

/** Makes the client for all calls to the server. Addresses and response formats are known only in this file. */
export function makeGiteaClient({ config, http, now }: Pick<SourceContext<GiteaConfig>, "config" | "http" | "now">) {
  const base = `${baseUrlOf(config)}/api/v1`;
  const odd = makeOddRecords();
  const oddRepositories = makeOddRecords();
  const ask = (path: string, query: SourceRequest["query"] = {}): SourceRequest => ({
    url: `${base}${path}`,
    query,
    headers: { accept: "application/json" },
    auth: true,
  });
  const get = async <T>(path: string, schema: z.ZodType<T>, query?: SourceRequest["query"]): Promise<T> =>
    (await http.request(ask(path, query))).json(schema);

  function pages<T>(
    path: string,
    schema: z.ZodType<Listed<T>>,
    { query = {}, place, take }: { query?: SourceRequest["query"]; place?: string | undefined; take?: Take<T> } = {},
  ): AsyncGenerator<RecordPage<T>, void> {
    return numberedPages(http, {
      request: ask(path, query),
      schema,
      limit: LIMIT,
      now,
      from: place,
      ...(take && { take }),
    });
  }

  async function all<T extends { id: number }>(path: string, schema: z.ZodType<Listed<T>>, take?: Take<T>) {
    const found = new Map<number, T>();
    for await (const { records } of pages(path, schema, take && { take }))
      for (const each of records) found.set(each.id, each);
    return [...found.values()];
  }

  const repo = (fullName: string) => `/repos/${fullName.split("/").map(encodeURIComponent).join("/")}`;
  const since = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());

  return {
    /**
     * Records that were listed in a repository but could not be parsed: threads by their numbers, parts by their ids.
     */
    odd,
    /** Repositories that were listed but could not be parsed. */
    oddRepositories,
    me: () => get("/user", Me),
    version: () => get("/version", z.object({ version: z.string() })),
    /** Whether an unauthenticated request is answered by the API itself, and not by a sign-in page in front of it. */
    async isOpen(): Promise<boolean> {
      const { auth: _auth, ...unsigned } = ask("/repos/search", { limit: 1 });
      const answer = await http.request({ ...unsigned, redirect: "none", allow: NOT_OPEN });
      return answer.status === 200 && isSearchAnswer(answer.text());
    },
    /**
     * Checks the scopes of the token.
     * @throws ApiError `source_forbidden` if the token lacks a scope that requests for repositories don't check
     */
    async checkScopes(): Promise<void> {
      for (const path of ["/repos/issues/search", "/user/orgs"])
        await http.request({ ...ask(path, { limit: 1 }), allow: [404] });
    },
    /** Whether the account is a site administrator and this token has the administrator scope. */
    async administers(): Promise<boolean> {
      const { is_admin: isAdmin } = await get("/user", Me);
      if (isAdmin !== true) return false;
      return (await http.request({ ...ask("/admin/users", { limit: 1 }), allow: [403] })).status === 200;
    },
    /** Lists all repositories that the account can see. A site administrator sees every repository. */
    async everyRepository(): Promise<RepositoryRecord[]> {
      const found = new Map<number, RepositoryRecord>();
      const schema = z.object({ data: Repositories }).transform(({ data }) => data);
      const query = { sort: "id", order: "asc" };
      for await (const { records } of pages("/repos/search", schema, { query, take: oddRepositories.known }))
        for (const each of records) found.set(each.id, each);
      return [...found.values()];
    },
    ownRepositories: () => all("/user/repos", Repositories, oddRepositories.known),
    repositoriesOf: (owner: string) =>
      all(`/users/${encodeURIComponent(owner)}/repos`, Repositories, oddRepositories.known),
    repository: (fullName: string) => get(repo(fullName), RepositoryRecord),
    repositoryById: (id: string) => get(`/repositories/${encodeURIComponent(id)}`, RepositoryRecord),
    threads: (fullName: string, type: ThreadType, from?: number, place?: string) =>
      pages(`${repo(fullName)}/issues`, Threads, {
        query: { state: "all", type, since: since(from) },
        place,
        take: odd.known,
      }),
    async countThreads(fullName: string, type: ThreadType): Promise<number> {
      const answer = await http.request(ask(`${repo(fullName)}/issues`, { state: "all", type, page: 1, limit: 1 }));
      const count = countOf(answer);
      if (count === undefined) throw unavailable("The server counts no issues.");
      return count;
    },
    comments: (fullName: string, from?: number, place?: string) =>
      pages(`${repo(fullName)}/issues/comments`, Comments, {
        query: { since: since(from) },
        place,
        take: odd.known,
      }),
    async head(fullName: string, branch: string): Promise<string> {
      const Branch = z.object({ commit: z.object({ id: z.string() }).nullish() });
      const { commit } = await get(
        `${repo(fullName)}/branches/${branch.split("/").map(encodeURIComponent).join("/")}`,
        Branch,
      );
      return commit?.id ?? "";
    },
    thread: (fullName: string, number: number) => get(`${repo(fullName)}/issues/${number}`, ThreadRecord),
    comment: (fullName: string, id: string) => get(`${repo(fullName)}/issues/comments/${id}`, CommentRecord),
    reviews: (fullName: string, number: number) => all(`${repo(fullName)}/pulls/${number}/reviews`, Reviews, odd.known),
    reviewComments: async (fullName: string, number: number, review: number) =>
      odd.known(await get(`${repo(fullName)}/pulls/${number}/reviews/${review}/comments`, ReviewComments)),
    organization: (name: string) => get(`/orgs/${encodeURIComponent(name)}`, OrganizationRecord),
    teams: (organization: string) => all(`/orgs/${encodeURIComponent(organization)}/teams`, list(TeamRecord)),
    teamMembers: (id: number) => all(`/teams/${id}/members`, list(UserRecord)),
    teamRepositories: (id: number) => all(`/teams/${id}/repos`, list(z.object({ id: z.number().int() }))),
    collaborators: (fullName: string) => all(`${repo(fullName)}/collaborators`, list(UserRecord)),
    /**
     * Lists every user, for site administrators only.
     * @throws ApiError if a user could not be parsed, since users missing from the list count as deleted
     */
    everyUser: () => all("/admin/users", list(UserRecord), wholeOf),
    async visibleUsers(): Promise<UserRecord[]> {
      const found = new Map<number, UserRecord>();
      const schema = z.object({ data: list(UserRecord) }).transform(({ data }) => data);
      for await (const { records } of pages("/users/search", schema))
        for (const each of records) found.set(each.id, each);
      return [...found.values()];
    },
  };
}

export type GiteaClient = ReturnType<typeof makeGiteaClient>;
function wholeOf<T>({ known, size }: Listed<T>): T[] {
  if (known.length < size) throw halfRead("kb doesn't understand all of the list of users.");
  return known;
}

type Take<T> = (page: Listed<T>) => T[];
/** Absent = issues and pull requests. */
export type ThreadType = "issues" | "pulls" | undefined;

const NOT_OPEN = [301, 302, 303, 307, 308, 401, 403, 404];

function isSearchAnswer(text: string): boolean {
  try {
    return SearchAnswer.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

const SearchAnswer = z.object({ ok: z.literal(true), data: z.array(z.unknown()).nullable() });

/** Parses a list. The server sends null for an empty list. */
function list<T extends z.ZodType>(record: T, id?: z.ZodType<string>) {
  return z.preprocess((records) => records ?? [], listed(record, id));
}

const Id = z.number().int();
/** Reads the id of a comment or review as a part of a thread. */
const partIdAt = (kind: "c" | "r" | "v") =>
  idAt(
    "id",
    Id.transform((id) => `${kind}${id}`),
  );

const Instant = z.string().transform((text) => Date.parse(text));
const OptionalInstant = z
  .string()
  .nullish()
  .transform((text) => {
    const at = Date.parse(text ?? "");
    return Number.isNaN(at) || at <= 0 ? undefined : at;
  });

const UserRecord = z.object({
  id: z.number().int(),
  login: z.string(),
  full_name: z.string().nullish(),
  email: z.string().nullish(),
  is_admin: z.boolean().nullish(),
  active: z.boolean().nullish(),
  prohibit_login: z.boolean().nullish(),
  restricted: z.boolean().nullish(),
  visibility: z.string().nullish(),
});
export type UserRecord = z.infer<typeof UserRecord>;
const Me = UserRecord;

const RepositoryRecord = z.object({
  id: z.number().int(),
  full_name: z.string(),
  owner: UserRecord,
  private: z.boolean(),
  empty: z.boolean().nullish(),
  default_branch: z.string().nullish(),
  has_issues: z.boolean().nullish(),
  has_pull_requests: z.boolean().nullish(),
  has_code: z.boolean().nullish(),
  external_tracker: z.unknown().optional(),
});
export type RepositoryRecord = z.infer<typeof RepositoryRecord>;
const Repositories = list(RepositoryRecord, idAt("id", Id.transform(String)));

const LabelRecord = z.object({ id: z.number().int(), name: z.string() });

const ThreadRecord = z.object({
  number: z.number().int(),
  repository: z.object({ id: z.number().int() }).nullish(),
  title: z.string(),
  body: z.string().nullish(),
  user: UserRecord.nullish(),
  original_author: z.string().nullish(),
  labels: z.array(LabelRecord).nullish(),
  assignees: z.array(UserRecord).nullish(),
  milestone: z.object({ title: z.string(), due_on: OptionalInstant }).nullish(),
  due_date: OptionalInstant,
  state: z.string(),
  pull_request: z.object({ merged: z.boolean().nullish(), draft: z.boolean().nullish() }).nullish(),
  created_at: Instant,
  updated_at: Instant,
});
export type ThreadRecord = z.infer<typeof ThreadRecord>;
const Threads = list(ThreadRecord, idAt("number", Id.transform(String)));

const CommentRecord = z.object({
  id: z.number().int(),
  body: z.string().nullish(),
  user: UserRecord.nullish(),
  original_author: z.string().nullish(),
  issue_url: z.string().nullish(),
  pull_request_url: z.string().nullish(),
  created_at: Instant,
  updated_at: Instant,
});
export type CommentRecord = z.infer<typeof CommentRecord>;
const Comments = list(CommentRecord, partIdAt("c"));

const ReviewRecord = z.object({
  id: z.number().int(),
  user: UserRecord.nullish(),
  body: z.string().nullish(),
  state: z.string(),
  dismissed: z.boolean().nullish(),
  comments_count: z.number().int().nullish(),
  submitted_at: Instant,
  updated_at: OptionalInstant,
  html_url: z.string().nullish(),
});
export type ReviewRecord = z.infer<typeof ReviewRecord>;
const Reviews = list(ReviewRecord, partIdAt("r"));

const ReviewCommentRecord = z.object({
  id: z.number().int(),
  body: z.string().nullish(),
  user: UserRecord.nullish(),
  path: z.string().nullish(),
  created_at: Instant,
  updated_at: Instant,
});
export type ReviewCommentRecord = z.infer<typeof ReviewCommentRecord>;
const ReviewComments = list(ReviewCommentRecord, partIdAt("v"));

const OrganizationRecord = z.object({ id: z.number().int(), visibility: z.string().nullish() });
export type OrganizationRecord = z.infer<typeof OrganizationRecord>;

const TeamRecord = z.object({
  id: z.number().int(),
  name: z.string(),
  permission: z.string().nullish(),
  includes_all_repositories: z.boolean().nullish(),
  units: z.array(z.string()).nullish(),
  units_map: z.record(z.string(), z.string()).nullish(),
});
export type TeamRecord = z.infer<typeof TeamRecord>;
