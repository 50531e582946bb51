import { sourceGroup } from "#sources/principals.ts";
import { defined } from "#core/defined.ts";
import { type Principal } from "#core/principals.ts";
import type { BrowseNode } from "#sources/contract.ts";
import type { ContainerRef, SourceContainer } from "#sources/item.ts";

/** A room or channel with its permanent id and its name. */
export interface ChatRoom {
  id: string;
  name: string;
}

export function roomRef(id: string): ContainerRef {
  return { type: "channel", id };
}

export function roomContainer({ id, name }: ChatRoom): SourceContainer {
  return { ...roomRef(id), name, isHome: true };
}

/**
 * Returns the group of a room's readers. Because all readers are one group, a join or a leave changes one row and no
 * message.
 */
export function roomGroup(connectorId: string, roomId: string): Principal {
  return sourceGroup(connectorId, `${PREFIX}${roomId}`);
}

/** Returns the id of the room that a group belongs to, from the group's id at the source. */
export function roomOfGroup(id: string): string | undefined {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : undefined;
}

const PREFIX = "room:";

/** The most rooms in one response. */
const BROWSE_PAGE = 200;

/** Returns a page of rooms, ordered by name. `cursor` is the end of the previous page. */
export function toRoomsPage(
  rooms: readonly (ChatRoom & { kind: string; count?: number })[],
  { parent, query, cursor }: { parent: string | null; query?: string; cursor?: string },
): { nodes: BrowseNode[]; nextCursor: string | null } {
  const wanted = query?.trim().toLowerCase() ?? "";
  const keyOf = ({ name, id }: ChatRoom) => `${name.toLowerCase()}\n${id}`;
  const found = (parent === null ? rooms : [])
    .filter((room) => room.name.toLowerCase().includes(wanted) && (cursor === undefined || keyOf(room) > cursor))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const page = found.slice(0, BROWSE_PAGE);
  const nodes = page.map(({ id, name, kind, count }): BrowseNode => ({
    id,
    parent,
    title: name,
    kind,
    selectable: true,
    expandable: false,
    ...defined({ count }),
  }));
  const last = page.at(-1);
  return { nodes, nextCursor: last && found.length > page.length ? keyOf(last) : null };
}
