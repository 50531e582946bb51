import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Holder, Issue, Project, World } from "./world.ts";

/** What came to the server. */
export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  body: string;
  token: string | undefined;
}

type Json = Record<string, unknown>;
type Answer = { status: number; body: unknown; headers?: Record<string, string> };

/** Short pages, so that there are several. */
const PAGE = 3;

/**
 * A fake of ours, for no Jira runs here: what the source asks for, as Atlassian's published OpenAPI says that Cloud (REST v3)
 * and Data Center (REST v2) answer it. Of JQL it knows what the source writes.
 */
export async function startJira(world: World, kind: "cloud" | "data_center" = "cloud") {
  const cloud = kind === "cloud";
  const jira = {
    port: 0,
    requests: [] as Asked[],
    /** Answers in Jira's place; false = Jira does. */
    instead: undefined as ((asked: Asked, response: ServerResponse) => boolean) | undefined,
    /** Changes what Jira answers before it is sent. */
    rewrite: (body: string) => body,
    /** Ids of issues that the index of searches does not have while it is built. */
    unindexed: new Set<string>(),
    /** Where contents of attachments are. */
    mediaAt: undefined as string | undefined,
    stop: () => undefined as void,
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens over TCP has such an address.
  jira.port = (server.address() as AddressInfo).port;
  jira.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  const base = `http://127.0.0.1:${jira.port}`;
  const api = `/rest/api/${cloud ? 3 : 2}`;
  return jira;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const url = new URL(request.url ?? "/", base);
    const asked: Asked = {
      method: request.method ?? "GET",
      path: url.pathname,
      query: url.searchParams,
      body: Buffer.concat(parts).toString("utf8"),
      token: tokenOf(request.headers.authorization),
    };
    jira.requests.push(asked);
    if (jira.instead?.(asked, response)) return;
    const who = world.tokens.get(asked.token ?? "");
    const { status, body, headers } = route(asked, who);
    const failed = who === undefined && asked.token !== undefined;
    response.writeHead(status, {
      "content-type": typeof body === "string" ? "text/plain" : "application/json",
      ...(failed && { "x-seraph-loginreason": "AUTHENTICATED_FAILED" }),
      ...headers,
    });
    response.end(typeof body === "string" ? body : jira.rewrite(JSON.stringify(body)));
  }

  function tokenOf(header: string | undefined): string | undefined {
    const [scheme, value = ""] = (header ?? "").split(" ");
    if (cloud && scheme === "Basic") return Buffer.from(value, "base64").toString().split(":")[1];
    return !cloud && scheme === "Bearer" ? value : undefined;
  }

  function route({ method, path, query, body }: Asked, who: string | undefined): Answer {
    const media = /^\/media\/(\d+)$/.exec(path) ?? /^\/secure\/attachment\/(\d+)\//.exec(path);
    if (media)
      return ok(world.issues.flatMap(({ attachments }) => attachments).find(({ id }) => id === media[1])?.text ?? "");
    if (!path.startsWith(api)) return no(404);
    const at = path.slice(api.length);
    if (at === "/serverInfo") return ok({ deploymentType: cloud ? "Cloud" : "Server", baseUrl: base });
    if (at === (cloud ? "/search/jql" : "/search") && method === "POST") return search(JSON.parse(body) as Json, who);
    if (who === undefined) return no(401);
    if (at === "/myself") return ok({ ...userOf(who), timeZone: "Asia/Kathmandu" });
    if (at === "/mypermissions") return ok({ permissions: { ADMINISTER: { havePermission: world.admins.has(who) } } });
    if (at === "/project/search" && cloud) return ok(paged(projectsOf(who).map(toProject), query));
    if (at === "/project" && !cloud) return ok(projectsOf(who).map(toProject));
    const [, issueId, rest] = /^\/issue\/(\d+)(\/comment)?$/.exec(at) ?? [];
    if (issueId !== undefined) return oneIssue(issueId, rest, query, who);
    const attachment = /^\/attachment\/content\/(\d+)$/.exec(at)?.[1];
    if (attachment !== undefined && cloud)
      return { status: 303, body: "", headers: { location: `${jira.mediaAt ?? base}/media/${attachment}` } };
    if (!world.admins.has(who)) return no(403);
    return adminRoute(at, query);
  }

  function adminRoute(at: string, query: URLSearchParams): Answer {
    const [, projectId = "", rest = ""] = /^\/project\/(\d+)\/(.+)$/.exec(at) ?? [];
    const project = world.projects.find(({ id }) => id === projectId);
    if (at.startsWith("/project/") && !project) return no(404);
    if (project && rest === "permissionscheme")
      return ok({
        id: 1,
        permissions: project.browse.map((holder, id) => ({
          id,
          permission: "BROWSE_PROJECTS",
          holder: toHolder(holder),
        })),
      });
    if (project && rest === "issuesecuritylevelscheme") {
      if (project.securityScheme === undefined) return no(404);
      const levels = [...world.levels].filter(([, { scheme }]) => scheme === project.securityScheme);
      return ok({ id: Number(project.securityScheme), levels: levels.map(([id]) => ({ id, name: `Level ${id}` })) });
    }
    if (project && rest === "role") {
      const links = Object.entries(project.roles).map(([id, { name }]) => [
        name,
        `${base}${api}/project/${projectId}/role/${id}`,
      ]);
      return ok(Object.fromEntries(links));
    }
    const role = project?.roles[/^role\/(\d+)$/.exec(rest)?.[1] ?? ""];
    if (role)
      return ok({ name: role.name, actors: [...role.users.map(toUserActor), ...role.groups.map(toGroupActor)] });
    if (at === "/issuesecurityschemes/level/member" && cloud) {
      const members = [...world.levels].flatMap(([id, { scheme, holders }]) =>
        scheme === query.get("schemeId")
          ? holders.map((holder) => ({ issueSecurityLevelId: id, holder: toHolder(holder) }))
          : [],
      );
      return ok(paged(members, query));
    }
    if (at === "/applicationrole") {
      const details = (ids: string[]) => ids.map((groupId) => ({ groupId, name: world.groups.get(groupId)?.name }));
      return ok(
        world.applicationRoles.map(({ key, groups }) => ({
          key,
          groups: details(groups).map(({ name }) => name),
          ...(cloud && { groupDetails: details(groups) }),
        })),
      );
    }
    if (at === "/group/member") {
      const [id, name] = [query.get("groupId"), query.get("groupname")];
      const group = [...world.groups].find(([groupId, each]) => (cloud ? groupId === id : each.name === name))?.[1];
      return group ? ok(paged([...group.members].map(userOf), query)) : no(404);
    }
    return no(404);
  }

  function projectsOf(who: string): Project[] {
    return world.projects.filter(
      (project) =>
        world.admins.has(who) || world.issues.some((issue) => issue.project === project.id && sees(who, issue)),
    );
  }

  /** The account that reads is in every group it needs; restricted issues it sees as an administrator. */
  function sees(who: string | undefined, issue: Issue): boolean {
    if (who === undefined) return false;
    const isOpen = world.projects.some(({ id }) => id === issue.project);
    return isOpen && (world.admins.has(who) || world.mayRead(who, issue));
  }

  function search({ jql, fields, startAt, nextPageToken }: Json, who: string | undefined): Answer {
    const clauses = String(jql)
      .replace(/ ORDER BY key ASC$/, "")
      .split(" AND ");
    const tests = clauses.map(toTest);
    if (tests.some((each) => each === undefined)) return no(400);
    const found = world.issues
      .filter((issue) => issue.archived === undefined && !jira.unindexed.has(issue.id))
      .filter((issue) => sees(who, issue) && tests.every((each) => each?.(issue)))
      .sort((a, b) => Number(a.id) - Number(b.id));
    if (cloud) {
      const after = nextPageToken === undefined ? 0 : Number(/^after-(\d+)$/.exec(String(nextPageToken))?.[1]);
      if (Number.isNaN(after)) return no(400);
      const left = found.filter(({ id }) => Number(id) > after);
      const page = left.slice(0, PAGE);
      const isLast = left.length <= PAGE;
      return ok({
        issues: page.map((issue) => toIssue(issue, fields)),
        isLast,
        ...(!isLast && { nextPageToken: `after-${page.at(-1)?.id}` }),
      });
    }
    const from = Number(startAt ?? 0);
    const page = found.slice(from, from + PAGE);
    return ok({
      startAt: from,
      maxResults: PAGE,
      total: found.length,
      issues: page.map((issue) => toIssue(issue, fields)),
    });
  }

  function toTest(clause: string): ((issue: Issue) => boolean) | undefined {
    const project = /^project = (\d+)$/.exec(clause)?.[1];
    if (project !== undefined) return (issue) => issue.project === project;
    const id = /^id = (\d+)$/.exec(clause)?.[1];
    if (id !== undefined) return (issue) => issue.id === id;
    const ids = /^id in \(([\d, ]+)\)$/.exec(clause)?.[1]?.split(", ");
    // Jira refuses a search for an issue that is not there.
    if (ids) return ids.every((one) => world.issue(one)) ? (issue) => ids.includes(issue.id) : undefined;
    const unit = /^updated >= -(\d+)([md])$/.exec(clause);
    if (unit) return (issue) => issue.updated >= Date.now() - Number(unit[1]) * (unit[2] === "m" ? 60_000 : 86_400_000);
    const label = /^\(labels != (\w+)\)$/.exec(clause)?.[1];
    return label === undefined ? undefined : (issue) => !issue.labels.includes(label);
  }

  function oneIssue(id: string, rest: string | undefined, query: URLSearchParams, who: string): Answer {
    const issue = world.issues.find((each) => each.id === id && sees(who, each));
    if (!issue) return no(404);
    if (rest === undefined) return ok(toIssue(issue, (query.get("fields") ?? "").split(",")));
    const from = Number(query.get("startAt") ?? 0);
    const comments = issue.comments.slice(from, from + PAGE).map(toComment);
    return ok({ startAt: from, total: issue.comments.length, comments });
  }

  function toIssue(issue: Issue, wanted: unknown): Json {
    const names = Array.isArray(wanted) ? wanted.map(String) : [];
    const project = world.projects.find(({ id }) => id === issue.project);
    const all: Json = {
      project: { id: issue.project, key: project?.key, name: project?.name },
      summary: issue.summary,
      description: said(issue.text),
      status: { name: issue.done ? "Closed" : "To Do", statusCategory: { key: issue.done ? "done" : "new" } },
      priority: { name: "High" },
      issuetype: { name: "Story" },
      labels: issue.labels,
      components: [{ name: "Backend" }],
      fixVersions: [],
      reporter: issue.reporter === undefined ? null : userOf(issue.reporter),
      assignee: issue.assignee === undefined ? null : userOf(issue.assignee),
      customfield_10050: issue.approver === undefined ? null : userOf(issue.approver),
      created: stamp(issue.updated - 60_000),
      updated: stamp(issue.updated),
      duedate: "2027-01-31",
      parent: undefined,
      archiveddate: issue.archived ?? null,
      ...(project?.securityScheme !== undefined && {
        security: issue.security === undefined ? null : { id: issue.security, name: "Confidential" },
      }),
      ...(cloud && {
        issuerestriction: {
          issuerestrictions: issue.restricted ? { projectrole: [{ value: "1" }] } : {},
          shouldDisplay: false,
        },
      }),
      attachment: issue.attachments.map(({ id, name, text }) => ({
        id,
        filename: name,
        size: text.length,
        mimeType: "text/plain",
        created: stamp(issue.updated),
        author: userOf(world.ids.dan),
        content: cloud
          ? `${base}${api}/attachment/content/${id}`
          : `${jira.mediaAt ?? base}/secure/attachment/${id}/${encodeURIComponent(name)}`,
      })),
      // The first ones only.
      comment: {
        comments: issue.comments.slice(0, 2).map(toComment),
        total: issue.comments.length,
        maxResults: 2,
        startAt: 0,
      },
    };
    return {
      id: issue.id,
      key: issue.key,
      fields: Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name))),
    };
  }

  function toComment({ id, author, text, visibility, jsdPublic }: Issue["comments"][number]): Json {
    return {
      id,
      author: userOf(author),
      body: said(text),
      created: stamp(Date.now()).slice(0, 10) + "T00:00:00.000+0000",
      updated: "2026-01-01T00:00:00.000+0000",
      ...(visibility && {
        visibility: {
          type: visibility.type,
          value: visibility.value,
          ...(cloud && { identifier: visibility.identifier }),
        },
      }),
      ...(cloud && { jsdPublic }),
    };
  }

  function said(text: string): unknown {
    if (!cloud) return text;
    return { type: "doc", version: 1, content: [{ type: "paragraph", content: [{ type: "text", text }] }] };
  }

  function userOf(id: string): Json {
    const { name, active, email, accountType } = world.users.get(id) ?? {
      name: id,
      active: false,
      accountType: "atlassian",
    };
    const more = { displayName: name, active, ...(email !== undefined && { emailAddress: email }) };
    return cloud ? { accountId: id, accountType, ...more } : { key: id, name, ...more };
  }

  function toProject({ id, key, name, lead, type }: Project): Json {
    return { id, key, name, lead: userOf(lead), projectTypeKey: type, simplified: false };
  }

  function toHolder({ type, parameter, value }: Holder): Json {
    return { type, ...(parameter !== undefined && { parameter }), ...(cloud && value !== undefined && { value }) };
  }

  function toUserActor(id: string): Json {
    const { name } = world.users.get(id) ?? { name: id };
    return {
      type: "atlassian-user-role-actor",
      displayName: name,
      ...(cloud ? { actorUser: { accountId: id } } : { name }),
    };
  }

  function toGroupActor(id: string): Json {
    const name = world.groups.get(id)?.name;
    return { type: "atlassian-group-role-actor", name, actorGroup: { name, ...(cloud && { groupId: id }) } };
  }

  function paged(values: unknown[], query: URLSearchParams): Json {
    const startAt = Number(query.get("startAt") ?? 0);
    return {
      startAt,
      maxResults: PAGE,
      total: values.length,
      isLast: startAt + PAGE >= values.length,
      values: values.slice(startAt, startAt + PAGE),
    };
  }
}
export type JiraServer = Awaited<ReturnType<typeof startJira>>;

function stamp(at: number): string {
  return new Date(at).toISOString().replace("Z", "+0000");
}

function ok(body: unknown): Answer {
  return { status: 200, body };
}

function no(status: number): Answer {
  return { status, body: { errorMessages: [`HTTP ${status}`], errors: {} } };
}
