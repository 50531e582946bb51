import { collect } from "#sources/collect.ts";
import { inChunks } from "#core/in-chunks.ts";
import { linkedPages } from "#sources/atlassian/pages.ts";
import { orNothing } from "#sources/failures.ts";
import type { OddRecords } from "#sources/listed.ts";
import { readContent, type SiteHttp, type SiteReader, withoutDrafts } from "./reader.ts";
import {
  type CloudContent,
  CloudContentPage,
  CloudGrantPage,
  CloudNode,
  type GroupRecord,
  type NodeRef,
  type PageRecord,
  SpacePage,
  UserPage,
  type UserRecord,
} from "./records.ts";

/** Records in a page of the API's version 2: the maximum. */
const PAGE = 250;
/** Pages whose texts are requested in one call. */
const BODIES = 25;

/** Makes the requests that are specific to Cloud: version 2 of its API, which uses cursors. */
export function makeCloudReader({ send, get }: SiteHttp, base: string, odd: OddRecords): SiteReader {
  const api = `${base}/api/v2`;

  const pagesOf = (path: string, query: Record<string, string | number> = {}): AsyncGenerator<CloudContent[], void> =>
    linkedPages(
      (place) => get(`${api}${path}`, CloudContentPage, { status: "current", limit: PAGE, ...query, ...place }),
      ({ id }) => id,
      odd.known,
    );

  return {
    spaces() {
      const pages = linkedPages(
        (place) => get(`${api}/spaces`, SpacePage, { status: "current", limit: PAGE, ...place }),
        ({ id }) => id,
        odd.known,
      );
      return collect(pages);
    },

    async openSpaces() {
      const open = new Set<string>();
      const pages = linkedPages(
        async (place) =>
          (
            await send({ url: `${api}/spaces`, query: { status: "current", limit: PAGE, ...place }, asNobody: true })
          ).json(SpacePage),
        ({ id }) => id,
      );
      for await (const page of pages) for (const { id } of page) open.add(id);
      return open;
    },

    async readersOf({ id }) {
      const found = [];
      const pages = linkedPages(
        (place) => get(`${api}/spaces/${id}/permissions`, CloudGrantPage, { limit: PAGE, ...place }),
        ({ principal, operation }) => JSON.stringify([principal, operation]),
      );
      for await (const page of pages) {
        for (const { principal, operation } of page) {
          if (operation.key !== "read" || operation.targetType !== "space" || principal.id === undefined) continue;
          const to = subjectOf(principal.type ?? "", principal.id);
          if (to) found.push(to);
        }
      }
      return found;
    },

    async *contents({ id }, type) {
      for await (const page of pagesOf(`/spaces/${id}/${type}s`, { sort: "id" })) yield toRecords(page, type, id);
    },

    async pagesByIds(ids, { hasTexts }) {
      const found: PageRecord[] = [];
      for (const some of inChunks(ids, BODIES)) {
        for (const [path, type] of [
          ["/pages", "page"],
          ["/blogposts", "blogpost"],
        ] as const) {
          const missing = some.filter((id) => !found.some((page) => page.id === id));
          if (missing.length === 0) continue;
          const query = { id: missing.join(","), ...(hasTexts && { "body-format": "storage" }) };
          for await (const page of pagesOf(path, query))
            found.push(...toRecords(page, type).filter(({ id }) => missing.includes(id)));
        }
      }
      return found;
    },

    async node({ id, type }) {
      const path = NODES[type];
      if (path === undefined) return undefined;
      const node = await orNothing(() => get(`${api}/${path}/${id}`, CloudNode));
      return node?.id === id ? { spaceId: node.spaceId, parent: parentOf(node) } : undefined;
    },

    content: (id, expand) => readContent({ get }, base, id, expand),

    /** Looks users up by their account ids. Unknown users are left out. */
    async users(ids) {
      const found: UserRecord[] = [];
      for (const accountIds of inChunks(ids, PAGE)) {
        // A POST request that only reads.
        const answer = await send({
          method: "POST",
          url: `${api}/users-bulk`,
          json: { accountIds },
          isIdempotent: true,
        });
        found.push(...answer.json(UserPage).results.known);
      }
      return found;
    },

    accessGroups: async (): Promise<GroupRecord[]> => [],
  };
}

/** Types of content that can be above a page. */
const NODES: Readonly<Record<string, string>> = {
  page: "pages",
  folder: "folders",
  whiteboard: "whiteboards",
  database: "databases",
  embed: "embeds",
};

function parentOf({ parentId, parentType }: Pick<CloudContent, "parentId" | "parentType">): NodeRef | undefined {
  return typeof parentId === "string" ? { id: parentId, type: parentType ?? "page" } : undefined;
}

function toRecords(page: readonly CloudContent[], type: PageRecord["type"], spaceId?: string): PageRecord[] {
  return withoutDrafts(page)
    .filter((record) => spaceId === undefined || record.spaceId === spaceId)
    .map((record) => ({
      id: record.id,
      type,
      title: record.title,
      spaceId: record.spaceId,
      parent: parentOf(record),
      version: record.version.number,
      createdAt: record.createdAt,
      updatedAt: record.version.createdAt,
      authorId: record.authorId,
      body: record.body?.storage?.value,
    }));
}

/** Classes of users are identified by name. People without a licence get no access here. */
function subjectOf(type: string, id: string) {
  if (type === "user" || type === "group") return { type, id } as const;
  return id === "all-licensed-users" || id === "authenticated-users" ? ({ type: "licensed" } as const) : undefined;
}
