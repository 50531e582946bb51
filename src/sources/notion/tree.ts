import { type NotionClient, orUnsupported } from "./client.ts";
import { cleanName } from "./names.ts";
import { titleOf } from "./properties.ts";
import type { DataSourceRecord, PageRecord, Parent } from "./records.ts";

/** A page or database that contains others. */
export interface Place {
  id: string;
  name: string;
}

interface Node {
  /** Undefined for a block, which is only a link between a page and its ancestor. */
  place: Place | undefined;
  parent: Parent;
}

const MAX_DEPTH = 100;
const MAX_KEPT = 50_000;
export type Tree = ReturnType<typeof makeTree>;

/**
 * Keeps the positions of pages. Ancestors that were not listed are requested. Ancestors above a page that isn't shared
 * are unknown.
 */
export function makeTree(client: NotionClient) {
  const nodes = new Map<string, Node>();
  const asked = new Map<string, Promise<Node | undefined>>();

  async function ask({ type, ...ids }: Parent): Promise<Node | undefined> {
    const read = async (): Promise<Node | undefined> => {
      switch (type) {
        case "page_id":
          return ids.page_id === undefined ? undefined : nodeOfPage(await client.page(ids.page_id));
        case "block_id":
          return ids.block_id === undefined
            ? undefined
            : { place: undefined, parent: (await client.block(ids.block_id)).parent ?? NOWHERE };
        case "data_source_id":
          return ids.data_source_id === undefined
            ? undefined
            : nodeOfDataSource(await client.dataSource(ids.data_source_id));
        case "database_id": {
          if (ids.database_id === undefined) return undefined;
          const { id, title, parent } = await client.database(ids.database_id);
          return { place: { id, name: cleanName(title) }, parent };
        }
        default:
          return undefined;
      }
    };
    const node = await orUnsupported(read);
    return typeof node === "string" ? undefined : node;
  }

  function nodeAt(parent: Parent): Promise<Node | undefined> | Node | undefined {
    const id = idOf(parent);
    if (id === undefined) return undefined;
    const known = nodes.get(id) ?? asked.get(id);
    if (known) return known;
    const made = ask(parent);
    if (asked.size < MAX_KEPT) asked.set(id, made);
    return made;
  }

  return {
    addPage(page: PageRecord): void {
      nodes.set(page.id, nodeOfPage(page));
    },
    addDataSource(record: DataSourceRecord): void {
      nodes.set(record.id, nodeOfDataSource(record));
    },
    /** Returns the ancestors, the outermost first. A cycle ends the chain. */
    async chainOf(from: Parent): Promise<Place[]> {
      const chain: Place[] = [];
      const seen = new Set<string>();
      for (let parent = from; seen.size < MAX_DEPTH;) {
        const id = idOf(parent);
        if (id === undefined || seen.has(id)) break;
        seen.add(id);
        const node = await nodeAt(parent);
        if (!node) break;
        if (node.place) chain.unshift(node.place);
        parent = node.parent;
      }
      return chain;
    },
  };
}

const NOWHERE: Parent = { type: "unknown" };

function nodeOfPage(page: PageRecord): Node {
  return { place: { id: page.id, name: titleOf(page) }, parent: page.parent };
}

/**
 * Returns the place of a data source. A database is only the container of its data sources, one of which people see
 * under the database's name.
 */
function nodeOfDataSource({ id, title, parent, database_parent: above }: DataSourceRecord): Node {
  return { place: { id, name: cleanName(title) }, parent: above ?? parent };
}

function idOf({ type, page_id: page, block_id: block, data_source_id: source, database_id: database }: Parent) {
  switch (type) {
    case "page_id":
      return page;
    case "block_id":
      return block;
    case "data_source_id":
      return source;
    case "database_id":
      return database;
    default:
      return undefined;
  }
}
