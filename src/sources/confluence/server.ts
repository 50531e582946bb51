import { collect } from "#sources/collect.ts";
import { inChunks } from "#core/in-chunks.ts";
import { linkedPages } from "#sources/atlassian/pages.ts";
import { orNothing } from "#sources/failures.ts";
import type { OddRecords } from "#sources/listed.ts";
import { externalIdOf } from "./ids.ts";
import { readContent, type SiteHttp, type SiteReader, type SpaceReader, withoutDrafts } from "./reader.ts";
import {
  type Content,
  ContentPage,
  type NodeRef,
  type PageRecord,
  ServerGrants,
  SpacePage,
  type SpaceRecord,
  UserRecord,
} from "./records.ts";

/** Records in a page of a listing. */
const PAGE = 100;
/** Pages whose texts are requested in one call: the index accepts no more ids in one query. */
const BODIES = 25;

const TREE_FIELDS = "space,ancestors,version,history";

/** Makes the requests that are specific to Data Center: version 1 of the API, which Cloud still supports in part. */
export function makeServerReader({ send, get }: SiteHttp, base: string, odd: OddRecords): SiteReader {
  const api = `${base}/rest/api`;

  const search = (cql: string, expand: string) =>
    linkedPages(
      (place) => get(`${api}/content/search`, ContentPage, { cql, expand, limit: BODIES, ...place }),
      ({ id }) => id,
      odd.known,
    );

  async function allSpaces(asNobody: boolean): Promise<SpaceRecord[]> {
    const pages = linkedPages(
      async (place) =>
        (await send({ url: `${api}/space`, query: { status: "current", limit: PAGE, ...place }, asNobody })).json(
          SpacePage,
        ),
      ({ id }) => id,
      asNobody ? undefined : odd.known,
    );
    return collect(pages);
  }

  const node = async ({ id }: NodeRef) => {
    const content = await readContent({ get }, base, id, "space,ancestors");
    return content?.space && content.id === id ? { spaceId: content.space.id, parent: parentOf(content) } : undefined;
  };

  return {
    spaces: () => allSpaces(false),
    openSpaces: async () => new Set((await allSpaces(true)).map(({ id }) => id)),

    async readersOf({ key }) {
      const grants = await get(`${api}/space/${encodeURIComponent(key)}/permissions`, ServerGrants);
      return grants.flatMap(({ subject, operation }): SpaceReader[] => {
        if (operation.operationKey !== "read" || operation.targetType !== "space") return [];
        const type = subject?.type?.toLowerCase();
        if (type === "user" && subject?.userKey) return [{ type, id: subject.userKey }];
        return type === "group" && subject?.name ? [{ type, id: subject.name }] : [];
      });
    },

    async *contents({ id, key }, type) {
      const query = { spaceKey: key, type, status: "current", expand: TREE_FIELDS, limit: PAGE };
      const pages = linkedPages(
        (place) => get(`${api}/content`, ContentPage, { ...query, ...place }),
        (content) => content.id,
        odd.known,
      );
      for await (const page of pages) yield toRecords(page, odd).filter(({ spaceId }) => spaceId === id);
    },

    async pagesByIds(ids, { hasTexts }) {
      const found: PageRecord[] = [];
      const expand = hasTexts ? `${TREE_FIELDS},body.storage` : TREE_FIELDS;
      for (const some of inChunks(ids, BODIES)) {
        const asked = new Set(some);
        for await (const page of search(`id in (${some.join(",")})`, expand)) {
          for (const record of toRecords(page, odd)) if (asked.delete(record.id)) found.push(record);
        }
        // These pages aren't in the index yet.
        for (const id of asked) {
          const content = await readContent({ get }, base, id, expand);
          if (content?.id === id) found.push(...toRecords([content], odd));
        }
      }
      return found;
    },

    node,
    content: (id, expand) => readContent({ get }, base, id, expand),
    /**
     * Looks users up by their keys, one by one, because the API has no call for several. Unknown or hidden users are
     * left out.
     */
    async users(keys) {
      const found: UserRecord[] = [];
      for (const key of keys) {
        const user = await orNothing(() => get(`${api}/user`, UserRecord, { key }));
        if (user) found.push(user);
      }
      return found;
    },

    async accessGroups() {
      const grants = await get(`${api}/permissions`, ServerGrants);
      return grants.flatMap(({ subject, operation }) =>
        operation.operationKey === "use" && subject?.type?.toLowerCase() === "group" && subject.name
          ? [{ id: undefined, name: subject.name }]
          : [],
      );
    },
  };
}

/**
 * Returns the parent of a page. An unknown parent isn't the same as none: a page whose parent is unknown is visible to
 * no one.
 */
function parentOf({ type, ancestors }: Content): NodeRef | undefined {
  if (type === "blogpost") return undefined;
  if (!ancestors) return { id: "0", type: "unknown" };
  const above = ancestors.at(-1);
  return above && { id: above.id, type: "page" };
}

function toRecords(contents: readonly Content[], odd: OddRecords): PageRecord[] {
  return withoutDrafts(contents).flatMap((content): PageRecord[] => {
    const { id, type, title, space, version, history, body } = content;
    if (type !== "page" && type !== "blogpost") return [];
    if (!space || !version) {
      odd.add(externalIdOf(content));
      return [];
    }
    return [
      {
        id,
        type,
        title,
        spaceId: space.id,
        parent: parentOf(content),
        version: version.number,
        createdAt: history?.createdDate,
        updatedAt: version.when,
        authorId: history?.createdBy?.id,
        author: history?.createdBy,
        body: body?.storage?.value,
      },
    ];
  });
}
