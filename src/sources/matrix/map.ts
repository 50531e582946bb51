import { none } from "#sources/contents.ts";
import { defined } from "#core/defined.ts";
import { formatPrincipal, type Principal } from "#core/principals.ts";
import type { SourceItem, SourcePerson } from "#sources/item.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import { roomContainer, roomGroup } from "#sources/chat/rooms.ts";
import { type ChatMessage, toFileItem, toThreadItem } from "#sources/chat/thread.ts";
import { hasNoText } from "#sources/file-scope/mime-hints.ts";
import { type MatrixEvent, type MatrixMedia, mediaOf, mentionsOf, relationOf, textOf } from "./events.ts";
import { type MatrixContext, type RoomFacts, serverOf } from "./rooms.ts";

/** Values shared by all items of a run. */
export interface Mapping {
  ctx: Pick<MatrixContext, "config" | "connector">;
  /** The homeserver that the users belong to. */
  server: string;
}

/** A thread, identified by its root. The root may be deleted while the replies remain. */
export interface Thread {
  rootId: string;
  root: MatrixEvent | undefined;
  /** The replies, the oldest first. */
  replies: readonly MatrixEvent[];
}

export function threadId(room: string, event: string): string {
  return `${room}/${event}`;
}

export function fileId(room: string, event: string): string {
  return `${room}/${event}#file`;
}

/** Returns the parts of an item's id. Ids of events may contain a slash, but ids of rooms never contain `/$`. */
export function parseId(externalId: string): { room: string; event: string; isFile: boolean } | undefined {
  const match = /^(![^\s/]+)\/(\$[^\s#]+)(#file)?$/.exec(externalId);
  const [, room, event, file] = match ?? [];
  return room === undefined || event === undefined ? undefined : { room, event, isFile: file !== undefined };
}

export function isRoomId(id: string): boolean {
  return /^![^\s/]+$/.test(id);
}

/** Returns the items of a thread, the thread itself first; none if nothing is left of the thread. */
export function toItems(
  { ctx, server }: Mapping,
  room: RoomFacts,
  { rootId, root, replies }: Thread,
  nameOf: (userId: string) => string,
): SourceItem[] {
  const person = (userId: string): SourcePerson => ({
    name: nameOf(userId),
    login: userId,
    principal: userPrincipal(ctx, server, userId),
    claimed: false,
  });
  const toMessage = (event: MatrixEvent): ChatMessage => ({
    author: person(event.sender),
    at: event.at,
    text: textOf(event),
    mentions: mentionsOf(event).map(person),
    ...(event.edit && { editedAt: event.edit.at }),
  });
  const answers = root && relationOf(root).answers;
  const thread = toThreadItem({
    externalId: threadId(room.id, rootId),
    room,
    place: room.name,
    root: root && toMessage(root),
    replies: replies.map(toMessage),
    url: linkTo(server, room.id, rootId),
    readers: roomGroup(ctx.connector.id, room.id),
    ...(answers !== undefined && { replyTo: threadId(room.id, answers) }),
  });
  if (!thread) return [];
  const files = [...(root ? [root] : []), ...replies].flatMap((event) => {
    const media = mediaOf(event);
    return media ? [toFile(event, media)] : [];
  });
  return [thread, ...files];

  function toFile(event: MatrixEvent, media: MatrixMedia): SourceItem {
    const { name, mimeType, size, address } = media;
    return toFileItem({
      externalId: fileId(room.id, event.id),
      thread: threadId(room.id, rootId),
      room,
      place: room.name,
      name,
      author: person(event.sender),
      at: event.at,
      url: linkTo(server, room.id, event.id),
      content: fileContent(media),
      contentKey: address,
      ...defined({ mimeType, size }),
    });
  }

  function fileContent({ mimeType, size, address }: MatrixMedia): SourceItem["content"] {
    if (size === 0) return none("empty");
    if (size !== undefined && size > maxFileBytes(ctx.config)) return none("too_large");
    return hasNoText(mimeType, false) ? none("unsupported_type") : { type: "fetch", ref: address };
  }
}

/** Returns a placeholder for the messages of an encrypted room, which exist but can't be read. */
export function toEncryptedItem({ ctx, server }: Mapping, room: RoomFacts): SourceItem {
  const readers = roomGroup(ctx.connector.id, room.id);
  return {
    externalId: room.id,
    kind: "message",
    title: room.name,
    url: linkTo(server, room.id),
    version: room.name,
    place: room.name,
    containers: [roomContainer(room)],
    content: none("encrypted"),
    access: { known: true, all: [[readers]] },
  };
}

/**
 * Returns the principal of a user. Users of other servers belong to other instances, so no one here matches them,
 * regardless of their name.
 */
export function userPrincipal(
  { connector }: Pick<MatrixContext, "connector">,
  server: string,
  userId: string,
): Principal {
  const home = serverOf(userId);
  // A base URL contains no space, so no other server can have the name of this server's instance.
  const instance = home === server ? (connector.instance ?? connector.id) : `federated ${home}`;
  return formatPrincipal({ type: "source_user", providerId: "matrix", instance, id: userId });
}

function linkTo(server: string, ...parts: string[]): string {
  return `https://matrix.to/#/${parts.map(encodeURIComponent).join("/")}?via=${encodeURIComponent(server)}`;
}
