import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { runBackend } from "../git/http-remote.ts";
import type { FakeComment, FakeGithub, FakeIssue, FakeRepository, FakeUser } from "./fake.ts";
import { answerGraphql } from "./graphql.ts";

type Answered = { status: number; body?: unknown; headers?: Record<string, string> };

export interface Asked {
  method: string;
  /** Below the API, with its query. */
  path: string;
  token: string | undefined;
  status?: number;
}

/** Serves the fake as GitHub Enterprise Server does: the API below `/api/v3`, repositories for the git program at its root. */
export async function startGithub(fake: FakeGithub, folder: string) {
  const state = {
    port: 0,
    requests: [] as Asked[],
    /** Answers in GitHub's place; false = GitHub does. */
    instead: undefined as ((asked: Asked, response: ServerResponse) => boolean) | undefined,
    hasGraphql: true,
    /** Records of a page at most: few, so that there are several pages. */
    page: 3,
    /** Shows nothing to who has not signed in. */
    isPrivateMode: false,
    /** Organizations whose single sign-on the tokens lack. */
    isSsoMissing: false,
    stop: () => undefined as void,
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // A server that listens over TCP has such an address.
  state.port = (server.address() as AddressInfo).port;
  state.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  const base = `http://127.0.0.1:${state.port}`;
  return state;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", base);
    const token = tokenOf(request.headers.authorization);
    const path = url.pathname.replace(/^\/api\/(?:v3)?/, "/").replace("//", "/") + url.search;
    const asked: Asked = { method: request.method ?? "GET", path, token };
    state.requests.push(asked);
    const pieces: Buffer[] = [];
    if (url.pathname.startsWith("/api/")) for await (const piece of request) pieces.push(piece as Buffer);
    if (state.instead?.(asked, response)) return;
    const isKnown = token === undefined || fake.installed.has(token) || fake.users.has(fake.tokens.get(token) ?? 0);
    response.on("finish", () => void (asked.status = response.statusCode));
    if (!isKnown) return json(request, response, { status: 401, body: { message: "Bad credentials" } });
    if (!url.pathname.startsWith("/api/")) return serveGit(url.pathname, token, request, response);
    if (state.isPrivateMode && token === undefined) return json(request, response, { status: 401, body: {} });
    if (path.startsWith("/graphql")) {
      if (!state.hasGraphql) return json(request, response, { status: 404, body: {} });
      const body = Buffer.concat(pieces).toString("utf8");
      const rights = {
        reads: (each: FakeRepository) => reads(token, each),
        administers: (each: FakeRepository) => administers(token, each),
      };
      return json(request, response, { status: 200, body: answerGraphql(fake, body, rights) });
    }
    return json(request, response, route(new URL(path, base), token));
  }

  function reads(token: string | undefined, repository: FakeRepository): boolean {
    if (state.isSsoMissing && repository.owner === fake.organization.id && repository.visibility !== "public")
      return false;
    const some = fake.installed.get(token ?? "");
    return some ? some.has(repository.id) : fake.reads(fake.tokens.get(token ?? ""), repository);
  }

  function serveGit(path: string, token: string | undefined, request: IncomingMessage, response: ServerResponse): void {
    const [, owner, name] = /^\/([^/]+)\/([^/]+)\.git\//.exec(path) ?? [];
    const repository = [...fake.repositories.values()].find((each) => each.name === name);
    if (owner === fake.organization.login && repository && token !== undefined && reads(token, repository))
      runBackend(folder, request, response);
    else response.writeHead(401, { "www-authenticate": 'Basic realm="GitHub"' }).end();
  }

  function json(request: IncomingMessage, response: ServerResponse, { status, body, headers = {} }: Answered): void {
    const text = typeof body === "string" ? body : JSON.stringify(body ?? {});
    const etag = `W/"${createHash("sha256").update(text).digest("hex")}"`;
    const isSame = status === 200 && request.headers["if-none-match"] === etag;
    const limits = { "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4999", "x-ratelimit-reset": "4102444800" };
    response.writeHead(isSame ? 304 : status, { "content-type": "application/json", etag, ...limits, ...headers });
    response.end(isSame ? undefined : text);
  }

  function route(url: URL, token: string | undefined): Answered {
    const [first, second = "", ...rest] = url.pathname.split("/").slice(1).map(decodeURIComponent);
    const me = fake.users.get(fake.tokens.get(token ?? "") ?? 0);
    const { organization } = fake;
    const list = (records: readonly unknown[], headers = {}) => paged(url, records, headers);
    const visible = () => [...fake.repositories.values()].filter((each) => reads(token, each));
    if (first === "user" && second === "") return me ? { status: 200, body: toUser(me) } : { status: 403 };
    if (first === "user" && second === "repos") {
      const own = visible().filter((each) => me && fake.readersOf(each).has(me.id));
      return list(own.map(toRepository), state.isSsoMissing ? { "x-github-sso": sso() } : {});
    }
    if (first === "user") {
      const user = fake.users.get(Number(second));
      return user ? { status: 200, body: { ...toUser(user), suspended_at: user.suspended_at } } : { status: 404 };
    }
    if (first === "installation") {
      if (!fake.installed.has(token ?? "")) return { status: 403 };
      const { body, ...page } = list(visible().map(toRepository));
      return { ...page, body: { total_count: visible().length, repositories: body } };
    }
    if (first === "repositories" && second === "") {
      const open = [...fake.repositories.values()].filter(({ visibility }) => visibility === "public");
      return list(open.map(toRepository));
    }
    const isOrganization = (name: string) => name === organization.login || Number(name) === organization.id;
    if (first === "orgs" || first === "organizations") {
      if (!isOrganization(second)) return { status: 404 };
      if (state.isSsoMissing && rest.length > 0) return { status: 403, headers: { "x-github-sso": "required; url=x" } };
      if (rest[0] === "repos")
        return list(visible().flatMap((each) => (each.owner === organization.id ? [toRepository(each)] : [])));
      return organizationRoute(rest, url, me, token);
    }
    if (first === "users") return { status: 404 };
    if (first === "repos") {
      const found = visible().find((each) => fullNameOf(each) === `${second}/${rest[0]}`);
      return found ? { status: 200, body: toRepository(found) } : { status: 404 };
    }
    const repository = first === "repositories" ? fake.repositories.get(Number(second)) : undefined;
    if (!repository || !reads(token, repository)) return { status: 404 };
    return repositoryRoute(repository, rest, url, token);
  }

  function organizationRoute(
    rest: readonly string[],
    url: URL,
    me: FakeUser | undefined,
    token: string | undefined,
  ): Answered {
    const { organization } = fake;
    const isOwner = me ? organization.owners.has(me.id) : fake.installed.has(token ?? "");
    const isMember = isOwner || (me !== undefined && fake.isMember(me.id));
    const people = (ids: Iterable<number>) =>
      paged(url, [...ids].flatMap((id) => fake.users.get(id) ?? []).map(toUser));
    const [what, id] = rest;
    if (what === undefined) {
      const { id: number, login, base } = organization;
      return { status: 200, body: { id: number, login, ...(isOwner && { default_repository_permission: base }) } };
    }
    if (what === "members") {
      // To others the roles are not told either: the filter counts for nothing.
      if (!isMember) return people(organization.publicMembers);
      const role = url.searchParams.get("role");
      const others = [...organization.members].filter((each) => !organization.owners.has(each));
      return people(
        role === "admin" ? organization.owners : role === "member" ? others : [...organization.owners, ...others],
      );
    }
    if (!isMember) return { status: 403, headers: { "x-accepted-github-permissions": "members=read" } };
    if (what === "teams") {
      const teams = [...fake.teams.values()].map((team) => ({ id: team.id, name: `Team ${team.id}` }));
      return paged(url, teams);
    }
    const team = fake.teams.get(Number(id));
    if (!team) return { status: 404 };
    if (rest[2] === "members") return people(fake.membersOf(team.id));
    return paged(
      url,
      [...team.repositories].map((each) => ({ id: each, permissions: { pull: true } })),
    );
  }

  function repositoryRoute(
    repository: FakeRepository,
    rest: readonly string[],
    url: URL,
    token: string | undefined,
  ): Answered {
    const [what, number = "", more, last] = rest;
    if (what === undefined) return { status: 200, body: toRepository(repository) };
    const issue = repository.issues.get(Number(number));
    const comments = (isReview: boolean) =>
      [...repository.comments.values()].filter((each) => each.isReview === isReview);
    switch (what) {
      case "issues":
        if (number === "") return changes(url, [...repository.issues.values()], (each) => toIssue(repository, each));
        if (number === "comments") return commentRoute(repository, comments(false), more, url);
        if (repository.moved.has(Number(number)))
          return { status: 301, headers: { location: `${base}/api/v3${repository.moved.get(Number(number))}` } };
        return issue ? { status: 200, body: toIssue(repository, issue) } : { status: 410 };
      case "pulls":
        if (number === "")
          return changes(
            url,
            [...repository.issues.values()].filter(({ isPull }) => isPull),
            (each) => toIssue(repository, each),
          );
        if (number === "comments") return commentRoute(repository, comments(true), more, url);
        if (!issue?.isPull) return { status: 404 };
        if (last !== undefined) {
          const review = issue.reviews.find(({ id }) => id === Number(last));
          return review ? { status: 200, body: toReview(review) } : { status: 404 };
        }
        return paged(url, issue.reviews.map(toReview));
      case "collaborators": {
        if (!administers(token, repository)) return { status: 403 };
        const isDirect = url.searchParams.get("affiliation") === "direct";
        const ids = isDirect ? repository.direct : fake.readersOf(repository);
        return paged(url, [...ids].flatMap((id) => fake.users.get(id) ?? []).map(toUser));
      }
      case "commits": {
        const head = repository.head?.();
        return head === undefined ? { status: 409 } : { status: 200, body: head };
      }
    }
    return { status: 404 };
  }

  function administers(token = "", { owner }: FakeRepository): boolean {
    const user = fake.tokens.get(token) ?? 0;
    const isOwn = owner === user || (owner === fake.organization.id && fake.organization.owners.has(user));
    return fake.installed.has(token) || isOwn;
  }

  function commentRoute(repository: FakeRepository, all: FakeComment[], id: string | undefined, url: URL): Answered {
    if (id === undefined) return changes(url, all, (each) => toComment(repository, each));
    const found = all.find((each) => each.id === Number(id));
    return found ? { status: 200, body: toComment(repository, found) } : { status: 404 };
  }

  /** By the time of the change where that is asked for, from a time on. */
  function changes<T extends { updatedAt: number }>(url: URL, all: readonly T[], show: (each: T) => unknown): Answered {
    const since = Date.parse(url.searchParams.get("since") ?? "");
    const found = all.filter(({ updatedAt }) => Number.isNaN(since) || updatedAt >= since);
    if (url.searchParams.get("sort") === "updated") found.sort((a, b) => a.updatedAt - b.updatedAt);
    // As for large repositories: pages of issues have no numbers.
    return paged(url, found, {}, !url.pathname.endsWith("/issues"), show);
  }

  function paged<T>(
    url: URL,
    records: readonly T[],
    headers: Record<string, string> = {},
    isNumbered = true,
    show: (each: T) => unknown = (each) => each,
  ) {
    const size = Math.min(state.page, Number(url.searchParams.get("per_page") ?? 30));
    const page = Number(url.searchParams.get("page") ?? url.searchParams.get("after") ?? 1);
    const last = Math.max(1, Math.ceil(records.length / size));
    const to = (number: number, rel: string) => {
      const next = new URL(`${base}/api/v3${url.pathname}${url.search}`);
      next.searchParams.set(isNumbered ? "page" : "after", String(number));
      return `<${next.href}>; rel="${rel}"`;
    };
    const links = page < last ? [to(page + 1, "next"), ...(isNumbered ? [to(last, "last")] : [])] : [];
    return {
      status: 200,
      body: records.slice((page - 1) * size, page * size).map(show),
      headers: { ...headers, ...(links.length > 0 && { link: links.join(", ") }) },
    };
  }

  function sso(): string {
    return `partial-results; organizations=${fake.organization.id}`;
  }

  function fullNameOf({ owner, name }: FakeRepository): string {
    return `${ownerOf(owner).login}/${name}`;
  }

  function ownerOf(id: number) {
    const { organization } = fake;
    if (id === organization.id) return { id, login: organization.login, type: "Organization" };
    return { id, login: fake.users.get(id)?.login ?? "ghost", type: "User" };
  }

  function toRepository(repository: FakeRepository) {
    const { id, owner, visibility, hasIssues } = repository;
    return {
      id,
      node_id: `R_${id}`,
      full_name: fullNameOf(repository),
      owner: ownerOf(owner),
      private: visibility !== "public",
      visibility,
      default_branch: "main",
      has_issues: hasIssues,
    };
  }

  function toIssue(
    { id }: FakeRepository,
    { number, title, body, user, isPull, state: isOpen, labels, updatedAt }: FakeIssue,
  ) {
    return {
      number,
      node_id: `PR_${id}_${number}`,
      title,
      body,
      user: userOf(user),
      labels: labels.map((name, at) => ({ id: at + 1, name })),
      assignees: [userOf(user)].filter((each) => each !== null),
      milestone: { title: "One", due_on: "2030-01-02T08:00:00Z" },
      state: isOpen,
      draft: false,
      ...(isPull && { pull_request: { merged_at: null } }),
      created_at: "2026-01-01T00:00:00Z",
      updated_at: new Date(updatedAt).toISOString().replace(".000", ""),
    };
  }

  function toComment({ id: repository, issues, name }: FakeRepository, comment: FakeComment) {
    const { id, number, isReview, body, user, updatedAt } = comment;
    const page = issues.get(number)?.isPull ? "pull" : "issues";
    return {
      id,
      body,
      user: userOf(user),
      ...(isReview
        ? { pull_request_url: `${base}/api/v3/repositories/${repository}/pulls/${number}`, path: "a.ts" }
        : {
            issue_url: `${base}/api/v3/repositories/${repository}/issues/${number}`,
            html_url: `${base}/acme/${name}/${page}/${number}#issuecomment-${id}`,
          }),
      created_at: "2026-01-01T00:00:00Z",
      updated_at: new Date(updatedAt).toISOString().replace(".000", ""),
    };
  }

  function toReview({ id, user, state: verdict, body }: FakeIssue["reviews"][number]) {
    return { id, user: userOf(user), state: verdict, body, submitted_at: "2026-01-02T00:00:00Z" };
  }

  function userOf(id: number) {
    const user = fake.users.get(id);
    return user ? toUser(user) : null;
  }
}

function toUser({ id, login, type }: FakeUser) {
  return { id, login, type };
}

function tokenOf(authorization: string | undefined): string | undefined {
  const [, scheme, word = ""] = /^(Bearer|Basic) (.+)$/.exec(authorization ?? "") ?? [];
  if (scheme === undefined) return undefined;
  return scheme === "Bearer"
    ? word
    : Buffer.from(word, "base64")
        .toString("utf8")
        .replace(/^[^:]*:/, "");
}
