import { notFound } from "#sources/errors.ts";
import { z } from "zod";
import { ApiError, isApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SourceRequest, SourceResponse } from "#sources/http-contract.ts";
import { type Listed, listed, makeOddRecords } from "#sources/listed.ts";
import type { GithubConfig } from "./config.ts";
import { backwardPages, linkOf, linkPages, type Mark, PER_PAGE, type Send, walkChanges } from "./pages.ts";
import {
  CollaboratorRecord,
  CommentRecord,
  Comments,
  IssueRecord,
  Issues,
  OrganizationRecord,
  PersonRecord,
  partIdAt,
  Repositories,
  RepositoryRecord,
  ReviewCommentRecord,
  ReviewComments,
  ReviewRecord,
  TeamRecord,
  TeamRepositoryRecord,
  UserRecord,
} from "./records.ts";

export type GithubContext = SourceContext<GithubConfig>;

/** The state that a walk over changes stores for the next one. */
interface Remembered {
  since: number | undefined;
  mark?: Mark | undefined;
  remember?(mark: Mark): void;
}

/** The identity of the token: a person, or an app's installation. */
export type Me = { type: "user"; id: number; login: string; scopes?: string[] } | { type: "installation" };

/** The header that reports that results are hidden because an organization requires SAML single sign-on. */
export const SSO_HEADER = "x-github-sso";
/** The header that names the permissions that a token would need. */
export const NEEDED_HEADER = "x-accepted-github-permissions";

/**
 * Returns the version of the REST API, which determines the format of responses. GitHub's own hosts support the newest
 * version. Enterprise Server has versions since 3.18 and refuses a version that it doesn't know, so the first version
 * is used there. Source: https://docs.github.com/en/rest/about-the-rest-api/breaking-changes
 */
export function apiVersionOf({ apiUrl }: Pick<GithubConfig, "apiUrl">): "2026-03-10" | "2022-11-28" {
  const { hostname } = new URL(apiUrl);
  return hostname === "api.github.com" || hostname.endsWith(".ghe.com") ? "2026-03-10" : "2022-11-28";
}

/**
 * Makes the client for all calls to GitHub's REST API. Repositories are requested by id, because another repository may
 * take a name.
 */
export function makeGithubClient({ config, http, now }: Pick<GithubContext, "config" | "http" | "now">) {
  const version = apiVersionOf(config);
  const odd = makeOddRecords();
  const ask = (path: string, query: SourceRequest["query"] = {}): SourceRequest => ({
    url: `${config.apiUrl}${path}`,
    query,
    headers: { accept: "application/vnd.github+json", "x-github-api-version": version },
    auth: true,
    keepHeaders: [SSO_HEADER, NEEDED_HEADER],
  });
  const send: Send = async (request) => {
    try {
      return await http.request(request);
    } catch (error) {
      // The repository was taken down for legal reasons, which concerns only this repository.
      if (!isApiError(error, "source_unavailable") || error.details?.["status"] !== 451) throw error;
      throw new ApiError("source_forbidden", { message: "GitHub has closed this for legal reasons.", cause: error });
    }
  };
  const get = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => (await send(ask(path))).json(schema);

  /** Reads a part of a repository. If a thing was transferred elsewhere, it no longer exists in this repository. */
  const own = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const answer = await send({ ...ask(path), redirect: "none", allow: MOVED });
    if (MOVED.includes(answer.status)) throw notFound("It has moved elsewhere.");
    return answer.json(schema);
  };

  async function all<T extends { id: number }>(
    path: string,
    record: z.ZodType<T>,
    { query = {}, take = ({ known }) => known }: { query?: SourceRequest["query"]; take?(page: Listed<T>): T[] } = {},
    id?: z.ZodType<string>,
  ) {
    const found = new Map<number, T>();
    // An account with partial access is redirected to another listing, which counts as a refusal.
    const request = { ...ask(path, { ...query, per_page: PER_PAGE }), redirect: "none", allow: MOVED } as const;
    for await (const page of linkPages(send, request)) {
      if (MOVED.includes(page.status)) throw new ApiError("source_forbidden", { message: "It shows only a part." });
      for (const each of take(page.json(listed(record, id)))) found.set(each.id, each);
    }
    return [...found.values()];
  }

  /** Returns repositories, and the ids of organizations whose repositories are left out. */
  async function repositories(
    path: string,
    schema: z.ZodType<Listed<RepositoryRecord>>,
    query: SourceRequest["query"],
  ) {
    const found = new Map<number, RepositoryRecord>();
    const odd = makeOddRecords();
    const withheld = new Set<string>();
    for await (const page of backwardPages(send, ask(path, { ...query, per_page: PER_PAGE }))) {
      for (const each of odd.known(page.json(schema))) found.set(each.id, each);
      for (const id of withheldIn(page)) withheld.add(id);
    }
    const { ids, nameless } = odd.take();
    return { records: [...found.values()], withheld: [...withheld], odd: ids, isWhole: nameless === 0 };
  }

  const walk = <T extends { updated_at: number }>(
    path: string,
    records: z.ZodType<Listed<T>>,
    remembered: Remembered,
    query = {},
  ) => walkChanges(send, { request: ask(path, query), schema: records, take: odd.known, now, ...remembered });
  const at = (id: string, rest = "") => `/repositories/${encodeURIComponent(id)}${rest}`;
  const team = (organization: number, id: number, rest: string) => `/organizations/${organization}/team/${id}${rest}`;
  const SORTED = { sort: "created", direction: "asc" };

  return {
    /** Records that were listed in a repository and aren't understood: threads by their numbers, parts by their ids. */
    odd,
    async me(): Promise<Me> {
      try {
        const answer = await send(ask("/user"));
        const scopes = answer.headers.get("x-oauth-scopes")?.split(",");
        const { id, login } = answer.json(UserRecord);
        const named = scopes?.map((scope) => scope.trim()).filter((scope) => scope !== "");
        return { type: "user", id, login, ...(named && { scopes: named }) };
      } catch (error) {
        // The token belongs to an app, which isn't a user.
        if (isApiError(error, "source_forbidden")) return { type: "installation" };
        throw error;
      }
    },
    /** Whether an unauthenticated request gets an answer of the API itself, and not a sign-in page in front of it. */
    async isOpen(): Promise<boolean> {
      const { auth: _auth, ...unsigned } = ask("/repositories", { per_page: 1 });
      const answer = await http.request({ ...unsigned, redirect: "none", allow: NOT_OPEN });
      return answer.status === 200 && isListing(answer.text());
    },
    ownRepositories: () =>
      repositories("/user/repos", Repositories, { affiliation: "owner,collaborator,organization_member", ...SORTED }),
    installedRepositories: () =>
      repositories(
        "/installation/repositories",
        z.object({ repositories: Repositories }).transform((page) => page.repositories),
        {},
      ),
    async repositoriesOf(owner: string) {
      const name = encodeURIComponent(owner);
      try {
        const listed = await repositories(`/orgs/${name}/repos`, Repositories, { type: "all", ...SORTED });
        return { ...listed, isOrganization: true };
      } catch (error) {
        // If the owner isn't an organization, it is a person.
        if (!isApiError(error, "source_not_found")) throw error;
        const listed = await repositories(`/users/${name}/repos`, Repositories, { type: "owner", ...SORTED });
        return { ...listed, isOrganization: false };
      }
    },
    repositoryNamed: (fullName: string) =>
      get(`/repos/${fullName.split("/").map(encodeURIComponent).join("/")}`, RepositoryRecord),
    async repository(id: string): Promise<RepositoryRecord> {
      const record = await own(at(id), RepositoryRecord);
      if (String(record.id) !== id) throw notFound("It is another repository.");
      return record;
    },
    issues: (id: string, remembered: Remembered) => walk(at(id, "/issues"), Issues, remembered, { state: "all" }),
    comments: (id: string, remembered: Remembered) => walk(at(id, "/issues/comments"), Comments, remembered),
    reviewComments: (id: string, remembered: Remembered) => walk(at(id, "/pulls/comments"), ReviewComments, remembered),
    /**
     * Returns the number of entries in a listing, based on the number of its last page; undefined if its pages have no
     * numbers.
     */
    async count(id: string, of: "issues" | "pulls"): Promise<number | undefined> {
      const answer = await send(ask(at(id, `/${of}`), { state: "all", per_page: 1 }));
      const last = linkOf(answer, "last");
      if (last === undefined)
        return linkOf(answer, "next") === undefined ? answer.json(z.array(z.unknown())).length : undefined;
      const number = Number(new URL(last).searchParams.get("page") ?? Number.NaN);
      return Number.isSafeInteger(number) ? number : undefined;
    },
    /** Returns the newest commit of a branch; undefined if the repository is empty. */
    async head(id: string, branch: string): Promise<string | undefined> {
      const request = ask(at(id, `/commits/${branch.split("/").map(encodeURIComponent).join("/")}`));
      const headers = { ...request.headers, accept: "application/vnd.github.sha" };
      const answer = await send({ ...request, headers, allow: [409] });
      const sha = answer.text().trim();
      return answer.status !== 409 && /^[0-9a-f]{40,64}$/.test(sha) ? sha : undefined;
    },
    issue: (id: string, number: number) => own(at(id, `/issues/${number}`), IssueRecord),
    comment: (id: string, comment: string) => own(at(id, `/issues/comments/${comment}`), CommentRecord),
    reviewComment: (id: string, comment: string) => own(at(id, `/pulls/comments/${comment}`), ReviewCommentRecord),
    review: (id: string, number: number, review: string) =>
      own(at(id, `/pulls/${number}/reviews/${review}`), ReviewRecord),
    reviews: (id: string, number: number) =>
      all(at(id, `/pulls/${number}/reviews`), ReviewRecord, { take: odd.known }, partIdAt("r")),
    async collaborators(id: string, affiliation: "direct" | "all") {
      const found = await all(at(id, "/collaborators"), CollaboratorRecord, { query: { affiliation } });
      return found.filter(({ permissions }) => permissions?.pull !== false);
    },
    organization: (login: string) => get(`/orgs/${encodeURIComponent(login)}`, OrganizationRecord),
    organizationById: (id: string) => get(`/organizations/${encodeURIComponent(id)}`, OrganizationRecord),
    members: (organization: number, role: "admin" | "member") =>
      all(`/organizations/${organization}/members`, UserRecord, { query: { role } }),
    teams: (organization: number) => all(`/organizations/${organization}/teams`, TeamRecord),
    teamMembers: (organization: number, id: number) => all(team(organization, id, "/members"), UserRecord),
    teamRepositories: (organization: number, id: number) => all(team(organization, id, "/repos"), TeamRepositoryRecord),
    person: (id: string) => get(`/user/${encodeURIComponent(id)}`, PersonRecord),
  };
}

export type GithubClient = ReturnType<typeof makeGithubClient>;

const MOVED: readonly number[] = [301, 302, 303, 307, 308];
const NOT_OPEN = [...MOVED, 401, 403, 404];

/**
 * Returns the organizations whose results are hidden. Source:
 * https://docs.github.com/rest/authentication/authenticating-to-the-rest-api
 */
function withheldIn({ headers }: Pick<SourceResponse, "headers">): string[] {
  const [, ids] = /^partial-results;\s*organizations=([\d,]+)/.exec(headers.get(SSO_HEADER) ?? "") ?? [];
  return ids?.split(",").filter((id) => id !== "") ?? [];
}

function isListing(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}
