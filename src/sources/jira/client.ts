import { clockOf } from "#sources/times.ts";
import { unavailable } from "#sources/errors.ts";
import { defined } from "#core/defined.ts";
import type { z } from "zod";
import { type AtlassianRequest, makeAtlassianHttp, type Offset, type OffsetAnswer } from "#sources/atlassian/client.ts";
import { baseUrlOf, isCloud } from "#sources/atlassian/config.ts";
import type { SourceContext } from "#sources/context.ts";
import { type Listed, makeOddRecords } from "#sources/listed.ts";
import type { JiraConfig } from "./config.ts";
import {
  ApplicationRoles,
  CloudSearch,
  type CommentRecord,
  CommentPage,
  IssueRecord,
  LevelMembers,
  type HolderRecord,
  MemberPage,
  Permissions,
  PermissionScheme,
  ProjectPage,
  type ProjectRecord,
  Projects,
  RoleLinks,
  RoleRecord,
  SecurityScheme,
  ServerInfo,
  ServerSearch,
  UserRecord,
} from "./records.ts";

export type JiraContext = SourceContext<JiraConfig>;

/** Progress of a search: a token on Cloud, or an offset on Data Center. */
export type SearchPlace = { token: string } | Offset;

export interface SearchPage {
  issues: IssueRecord[];
  next: SearchPlace | undefined;
}

/** A group by its permanent identifier: its id on Cloud, or its name on Data Center, where groups have no id. */
export interface GroupRef {
  id: string;
}

/** Issues in a page: the maximum. */
const PAGE = 100;

/** Makes the client for all calls to Jira. Addresses and response formats are known only in this file. */
export function makeJiraClient({ config, http, now }: Pick<JiraContext, "config" | "http" | "now">) {
  const cloud = isCloud(config);
  const base = baseUrlOf(config);
  const api = `${base}/rest/api/${cloud ? 3 : 2}`;
  const { send, get, offsets, stream } = makeAtlassianHttp({ http });
  const odd = makeOddRecords();

  async function all<T>(
    path: string,
    schema: z.ZodType<OffsetAnswer<T>>,
    query: AtlassianRequest["query"] = {},
    take: (page: Listed<T>) => readonly T[] = ({ known }) => known,
  ): Promise<T[]> {
    const found: T[] = [];
    const readPage = (startAt: number) =>
      get(`${api}${path}`, schema, { ...query, startAt, maxResults: query["maxResults"] ?? 50 });
    for await (const { values } of offsets(readPage)) found.push(...take(values));
    return found;
  }

  async function* searchCloud(jql: string, fields: readonly string[], from?: SearchPlace) {
    let token = from && "token" in from ? from.token : undefined;
    const seen = new Set(token === undefined ? [] : [token]);
    for (;;) {
      const body = { jql, fields, maxResults: PAGE, ...defined({ nextPageToken: token }) };
      const answer = await post("/search/jql", body, CloudSearch);
      const next = answer.isLast === true ? undefined : (answer.nextPageToken ?? undefined);
      // A truncated result must not be mistaken for the complete one.
      if (next === undefined ? answer.isLast === false : seen.has(next)) {
        throw unavailable("A search ended before its end.");
      }
      yield { issues: odd.known(answer.issues), next: next === undefined ? undefined : { token: next } };
      if (next === undefined) return;
      seen.add(next);
      token = next;
    }
  }

  async function* searchServer(jql: string, fields: readonly string[], from?: SearchPlace) {
    const readPage = async (startAt: number) => {
      const { issues, total } = await post("/search", { jql, fields, startAt, maxResults: PAGE }, ServerSearch);
      return { values: issues, total };
    };
    const start = from && "startAt" in from ? from : undefined;
    for await (const { values, next } of offsets(readPage, start)) yield { issues: odd.known(values), next };
  }

  async function post<T>(path: string, json: unknown, schema: z.ZodType<T>): Promise<T> {
    // This POST request only searches, so it may be repeated.
    return (await send({ method: "POST", url: `${api}${path}`, json, isIdempotent: true })).json(schema);
  }

  return {
    cloud,
    base,
    /** Projects and issues that were listed but could not be parsed. */
    odd,
    /**
     * Returns the signed-in account, and the server's clock.
     * @throws ApiError `source_unauthorized` when unauthenticated
     */
    async whoAmI(): Promise<{ user: UserRecord; at: number }> {
      const answer = await send({ url: `${api}/myself` });
      return { user: answer.json(UserRecord), at: clockOf(answer, now) };
    },
    serverInfo: () => get(`${api}/serverInfo`, ServerInfo),
    async administers(): Promise<boolean> {
      const { permissions } = await get(
        `${api}/mypermissions`,
        Permissions,
        cloud ? { permissions: "ADMINISTER" } : {},
      );
      return permissions["ADMINISTER"]?.havePermission === true;
    },
    /** Lists every project that the account may browse and that isn't archived. */
    async projects(): Promise<ProjectRecord[]> {
      const found = cloud
        ? await all("/project/search", ProjectPage, { expand: "lead", orderBy: "key", status: "live" }, odd.known)
        : odd.known(await get(`${api}/project`, Projects, { expand: "lead" }));
      return [...new Map(found.map((project) => [project.id, project])).values()].filter(
        ({ archived }) => archived !== true,
      );
    },
    /** Returns the holders of the permission to browse a project's issues, according to its permission scheme. */
    async browsers(projectId: string): Promise<HolderRecord[]> {
      const { permissions } = await get(`${api}/project/${projectId}/permissionscheme`, PermissionScheme, {
        expand: "all",
      });
      return permissions.flatMap(({ permission, holder }) => (permission === "BROWSE_PROJECTS" ? [holder] : []));
    },
    /** Returns the project's security scheme; undefined if the project has none. */
    async securityScheme(projectId: string): Promise<SecurityScheme | undefined> {
      const answer = await send({ url: `${api}/project/${projectId}/issuesecuritylevelscheme`, allow: [404] });
      return answer.status === 404 ? undefined : answer.json(SecurityScheme);
    },
    /** Returns the members of security levels. Data Center has no API for them. */
    levelMembers: async (schemeId: string) =>
      cloud ? all("/issuesecurityschemes/level/member", LevelMembers, { schemeId, expand: "all" }) : [],
    /** Returns the role ids, by name. */
    async roles(projectId: string): Promise<Map<string, string>> {
      const links = await get(`${api}/project/${projectId}/role`, RoleLinks);
      const ids = Object.entries(links).flatMap(([name, link]): [string, string][] => {
        const id = /\/(\d{1,19})$/.exec(link)?.[1];
        return id === undefined ? [] : [[name, id]];
      });
      return new Map(ids);
    },
    roleActors: async (projectId: string, roleId: string) =>
      (await get(`${api}/project/${projectId}/role/${roleId}`, RoleRecord)).actors,
    applicationRoles: () => get(`${api}/applicationrole`, ApplicationRoles),
    groupMembers: ({ id }: GroupRef) =>
      all("/group/member", MemberPage, {
        ...(cloud ? { groupId: id } : { groupname: id }),
        includeInactiveUsers: true,
      }),
    search: (jql: string, fields: readonly string[], from?: SearchPlace): AsyncGenerator<SearchPage, void> =>
      cloud ? searchCloud(jql, fields, from) : searchServer(jql, fields, from),
    issue: (id: string, fields: readonly string[]) =>
      get(`${api}/issue/${id}`, IssueRecord, { fields: fields.join(",") }),
    /**
     * Returns the comments of an issue. `odd` are the ids of those that could not be parsed, and `nameless` is the
     * number of others without an id.
     */
    async comments(issueId: string): Promise<Omit<Listed<CommentRecord>, "size">> {
      const comments = makeOddRecords();
      const found: CommentRecord[] = [];
      const readPage = async (startAt: number) => {
        const query = { startAt, maxResults: PAGE, orderBy: "created" };
        const { comments, total } = await get(`${api}/issue/${issueId}/comment`, CommentPage, query);
        return { values: comments, total };
      };
      for await (const { values } of offsets(readPage)) found.push(...comments.known(values));
      const { ids, nameless } = comments.take();
      return { known: found, odd: ids, nameless };
    },
    /** Downloads an attachment, only from the app's own origin. @throws ApiError `address_not_allowed` */
    download: ({ id, content }: { id: string; content?: string | undefined }, maxBytes: number) =>
      stream(cloud || content === undefined ? `${api}/attachment/content/${id}` : content, maxBytes),
  };
}
export type JiraClient = ReturnType<typeof makeJiraClient>;
