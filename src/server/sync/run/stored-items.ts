import { isChildId } from "#core/child-ids.ts";
import { accessKeyOf } from "#core/access-key.ts";
import { parsePrincipal, type Principal } from "#core/principals.ts";
import { isConnectorList } from "#storage/access/item-clocks.ts";
import type { StoredItems } from "#sources/context.ts";
import type { StoredItem } from "#storage/records/stored-items.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import { containerEntityId } from "#server/sync/items/entities.ts";
import type { ItemCache } from "./item-cache.ts";

type Reads = Pick<WorkspaceStore, "workspaceId" | "itemWrites" | "access">;

const PAGE = 500;

/** Makes the queries about stored items that a source may run. */
export function makeStored(store: Reads, connectorId: string, known: Pick<ItemCache, "version">): StoredItems {
  return {
    version: (externalId) => known.version(externalId),
    async accessKey(externalId) {
      const aclId = await store.itemWrites.findOwnAccess(connectorId, externalId);
      if (aclId === undefined) return undefined;
      if (aclId <= 0) return accessKeyOf({ known: false });
      const lists = (await store.access.listsOf(aclId)).filter((list) => !isAlways(list, connectorId));
      // For a part without groups, only a clock is stored.
      return lists.length > 0 ? accessKeyOf({ known: true, all: lists }) : undefined;
    },
    async *list(container) {
      const entityId = containerEntityId(store.workspaceId, connectorId, container);
      for await (const page of listBelow(store, connectorId, entityId)) {
        for (const { externalId, version } of page) {
          if (!isChildId(externalId)) yield { externalId, ...(version !== null && { version }) };
        }
      }
    },
  };
}

/** Whether every access of a connector has this list. A source can't name the groups in it. */
function isAlways(list: readonly Principal[], connectorId: string): boolean {
  const [only] = list;
  const isConnection = only !== undefined && list.length === 1 && parsePrincipal(only)?.type === "connection";
  return isConnection || isConnectorList(list, connectorId);
}

/** Yields, in pages, every item below this container that isn't removed, and the child items of those. */
export async function* listBelow(
  { itemWrites }: Pick<Reads, "itemWrites">,
  connectorId: string,
  entityId: string,
): AsyncGenerator<StoredItem[], void> {
  for (let after = ""; ;) {
    const page = await itemWrites.listSlice(connectorId, { entityId }, after, PAGE);
    const ids = new Set(page.map(({ kbId }) => kbId));
    const parts = await itemWrites.listParts(
      connectorId,
      page.map(({ externalId }) => externalId),
    );
    yield [...page, ...parts.filter(({ kbId }) => !ids.has(kbId))];
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.kbId;
  }
}
