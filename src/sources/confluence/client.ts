import { collect } from "#sources/collect.ts";
import { clockOf } from "#sources/times.ts";
import { ApiError } from "#api/errors.ts";
import { replaceEach } from "#api/replace-each.ts";
import { inChunks } from "#core/in-chunks.ts";
import { makeAtlassianHttp } from "#sources/atlassian/client.ts";
import { baseUrlOf, isCloud } from "#sources/atlassian/config.ts";
import { linkedPages } from "#sources/atlassian/pages.ts";
import { failedStatus, orNothing, refusalOf } from "#sources/failures.ts";
import { makeOddRecords } from "#sources/listed.ts";
import type { SourceContext } from "#sources/context.ts";
import { makeCloudReader } from "./cloud.ts";
import type { ConfluenceConfig } from "./config.ts";
import {
  type Content,
  ContentPage,
  Found,
  GroupPage,
  type GroupRecord,
  Restriction,
  UserPage,
  UserRecord,
} from "./records.ts";
import { readRestriction, type Subjects, toSubjects } from "./restrictions.ts";
import { makeServerReader } from "./server.ts";

export type ConfluenceContext = SourceContext<ConfluenceConfig>;

/** The number of records in a page, and of ids in a query: the most allowed with expanded fields. */
export const PAGE = 50;
const IDS = 25;
const MEMBERS = 200;
/** The most pages of one restriction. */
const MOST_PAGES = 500;

const PART_FIELDS = "space,container,version,history,body.storage,extensions,extensions.inlineProperties,metadata";

/** Makes the client for all calls to Confluence. Addresses and response formats are known only in this file. */
export function makeConfluenceClient({ config, http, now }: Pick<ConfluenceContext, "config" | "http" | "now">) {
  const cloud = isCloud(config);
  const site = baseUrlOf(config);
  const base = cloud ? `${site}/wiki` : site;
  const api = `${base}/rest/api`;
  const { send, get, stream } = makeAtlassianHttp({ http });
  const odd = makeOddRecords();
  const reader = cloud ? makeCloudReader({ send, get }, base, odd) : makeServerReader({ send, get }, base, odd);

  const search = (cql: string, expand: string): AsyncGenerator<Content[], void> =>
    linkedPages(
      (place) => get(`${api}/content/search`, ContentPage, { cql, expand, limit: PAGE, ...place }),
      ({ type, id }) => `${type} ${id}`,
      odd.known,
    );

  const members = (path: string): AsyncGenerator<UserRecord[], void> =>
    linkedPages(
      (place) => get(`${api}${path}`, UserPage, { limit: MEMBERS, ...(!cloud && { expand: "status" }), ...place }),
      ({ id, name }) => `${id} ${name}`,
    );

  /**
   * Requests restrictions from the search index. Ids that the index refuses or fails to return are requested one by
   * one.
   */
  async function restrictionsTogether(ids: readonly string[]): Promise<Map<string, Subjects | undefined>> {
    const found = new Map<string, Subjects | undefined>();
    const expand = "restrictions.read.restrictions.user,restrictions.read.restrictions.group";
    try {
      for await (const page of search(`id in (${ids.join(",")})`, expand)) {
        for (const { id, restrictions } of page)
          if (ids.includes(id)) found.set(id, readRestriction(restrictions?.read, cloud));
      }
    } catch (error) {
      if (refusalOf(error) === undefined && failedStatus(error) === undefined) throw error;
    }
    // Records that could not be parsed here are requested individually.
    odd.take();
    return found;
  }

  async function oneRestriction(id: string): Promise<Subjects | undefined> {
    const found: Subjects[number][] = [];
    for (let page = 0, start = 0; page < MOST_PAGES; page++) {
      const answer = await orNothing(() =>
        get(`${api}/content/${id}/restriction/byOperation/read`, Restriction, {
          expand: "restrictions.user,restrictions.group",
          start,
          limit: MEMBERS,
        }),
      );
      if (!answer) return undefined;
      found.push(...toSubjects(answer, cloud));
      const { user, group } = answer.restrictions;
      const most = Math.max(user.results.length, group.results.length);
      if (
        [user, group].some(({ size, results }) => size !== undefined && size > results.length && results.length === 0)
      )
        return undefined;
      const limit = Math.min(MEMBERS, user.limit ?? MEMBERS, group.limit ?? MEMBERS);
      if (most < limit) return found;
      start += most;
    }
    return undefined;
  }

  return {
    cloud,
    base,
    /** Records that were listed but could not be parsed: spaces by their ids, all others by external ids. */
    odd,
    ...reader,
    search,
    /**
     * Returns the signed-in account, and the server's clock.
     * @throws ApiError `source_unauthorized` when unauthenticated
     */
    async whoAmI(): Promise<{ user: UserRecord; at: number }> {
      const answer = await send({ url: `${api}/user/current` });
      const user = answer.json(UserRecord);
      if (user.type === "anonymous" || user.id === undefined) {
        const message = `${new URL(base).host} did not accept the credentials.`;
        throw new ApiError("source_unauthorized", { message, field: "credentials" });
      }
      return { user, at: clockOf(answer, now) };
    },

    /** Lists all groups, or only the groups that may use Confluence. */
    async groups(which: "all" | "access" = "all"): Promise<GroupRecord[]> {
      if (which === "access" && !cloud) return reader.accessGroups();
      const query = { limit: MEMBERS, ...(which === "access" && { accessType: "user" }) };
      const pages = linkedPages(
        (place) => get(`${api}/group`, GroupPage, { ...query, ...place }),
        ({ id, name }) => `${id} ${name}`,
      );
      return collect(pages);
    },
    /** Lists the members of a group. On Data Center this includes the members of nested groups. */
    groupMembers(group: string): Promise<UserRecord[]> {
      const name = encodeURIComponent(group);
      return collect(members(cloud ? `/group/${name}/membersByGroupId` : `/group/${name}/member`));
    },

    /**
     * Returns each page's own read restrictions. Undefined if they are unknown; no entry if the site fails for the
     * page.
     *
     * @param requireOfOne  throws a failure that concerns more than the requested page
     */
    async restrictionsOf(
      ids: readonly string[],
      requireOfOne: (error: unknown) => Promise<void>,
    ): Promise<Map<string, Subjects | undefined>> {
      const found = new Map<string, Subjects | undefined>();
      for (const some of inChunks(ids, IDS)) {
        const known = await restrictionsTogether(some);
        for (const id of some) {
          try {
            // The page isn't in the index yet, or its restrictions were truncated.
            found.set(id, known.get(id) ?? (await oneRestriction(id)));
          } catch (error) {
            await requireOfOne(error);
          }
        }
      }
      return found;
    },

    /**
     * Returns the number of pages and blog posts of a space that the index has for this account; undefined if the index
     * reports no number.
     */
    async countPages(key: string): Promise<number | undefined> {
      const cql = `type in (page, blogpost) AND space = ${quoted(key)}`;
      return (await get(`${api}/search`, Found, { cql, limit: 1 })).totalSize;
    },
    /** Comments and attachments that match a CQL query. */
    parts: (cql: string) => search(`type in (comment, attachment) AND ${cql}`, PART_FIELDS),
    /** Returns a comment or an attachment; undefined if it was deleted or never published. */
    part: ({ type, id }: { type: "comment" | "attachment"; id: string }): Promise<Content | undefined> =>
      reader.content(cloud && type === "attachment" ? `att${id}` : id, PART_FIELDS),

    download: (
      { id, page, title, version }: { id: string; page: string; title: string; version: string },
      most: number,
    ) =>
      stream(
        cloud
          ? `${api}/content/${page}/child/attachment/att${id}/download?version=${version}`
          : `${base}/download/attachments/${page}/${encodeURIComponent(title)}?version=${version}`,
        most,
      ),
  };
}
export type ConfluenceClient = ReturnType<typeof makeConfluenceClient>;

/** Quotes a text as a CQL literal. */
export function quoted(text: string): string {
  return `"${replaceEach(replaceEach(text, "\\", "\\\\"), '"', '\\"')}"`;
}
