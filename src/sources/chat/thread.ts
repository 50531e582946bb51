import { digestOf } from "#sources/digest.ts";
import { defined } from "#core/defined.ts";
import type { Principal } from "#core/principals.ts";
import type { SourceItem, SourcePerson } from "#sources/item.ts";
import { type ChatRoom, roomContainer } from "./rooms.ts";

/** A message after its edits and deletions. */
export interface ChatMessage {
  author: SourcePerson;
  /** Epoch milliseconds. */
  at: number;
  editedAt?: number;
  text: string;
  mentions?: readonly SourcePerson[];
}

/** A message and its replies, which become one item. */
export interface ChatThread {
  externalId: string;
  room: ChatRoom;
  /** The name of the room. */
  place: string;
  /**
   * The first message. Undefined if it was deleted, or isn't visible to everyone in the room, and the replies remain.
   */
  root: ChatMessage | undefined;
  /** In the order in which they were written. */
  replies: readonly ChatMessage[];
  url: string;
  replyTo?: string;
  readers: Principal;
  /** The time of the first message, if it is known although the message was deleted. */
  at?: number;
}

/** Returns the item of a thread; undefined if the thread has no messages left. */
export function toThreadItem(thread: ChatThread): SourceItem | undefined {
  const { externalId, room, place, root, replies, url, replyTo, readers } = thread;
  const messages = [...(root ? [root] : []), ...replies];
  const [first] = messages;
  if (!first) return undefined;
  const times = messages.flatMap(({ at, editedAt }) => (editedAt === undefined ? [at] : [at, editedAt]));
  const span = { from: Math.min(...times), to: Math.max(...times) };
  const item: SourceItem = {
    externalId,
    kind: "message",
    title: titleOf(messages) ?? `Message in ${place}`,
    url,
    place,
    author: first.author,
    createdAt: thread.at ?? first.at,
    updatedAt: span.to,
    ...peopleOf(messages, first.author),
    ...defined({ replyTo }),
    containers: [roomContainer(room)],
    content: { type: "inline", text: textOf(messages) },
    access: { known: true, all: [[readers]] },
  };
  return { ...item, version: `${digest(item)}.${span.from.toString(36)}-${span.to.toString(36)}` };
}

/** A file that was sent with a message. */
export interface ChatFile {
  externalId: string;
  /** The external id of the thread that the file was sent in. */
  thread: string;
  room: ChatRoom;
  place: string;
  name: string;
  mimeType?: string;
  size?: number;
  author: SourcePerson;
  at: number;
  url: string;
  content: SourceItem["content"];
  /** The permanent id of the content. */
  contentKey: string;
}

/** Returns the item of a file, which is part of its thread and has the same readers. */
export function toFileItem(file: ChatFile): SourceItem {
  const { externalId, thread, room, place, name, mimeType, size, author, at, url, content, contentKey } = file;
  const title = readable(name);
  const item: SourceItem = {
    externalId,
    kind: "file",
    title: title === "" ? "Untitled" : title,
    hasFileTitle: true,
    url,
    place,
    author,
    createdAt: at,
    updatedAt: at,
    partOf: thread,
    containers: [roomContainer(room)],
    ...defined({ mimeType, size }),
    content,
  };
  return { ...item, version: `${digest(item)}.${digest(contentKey)}` };
}

/**
 * Returns the version of a file whose content was read again. It stays the listed version unless the content changed.
 */
export function versionOfFile(listed: string | undefined, contentKey: string): string {
  const key = digest(contentKey);
  return listed?.endsWith(`.${key}`) === true ? listed : key;
}

/**
 * Returns the time span of a thread's messages and edits, from the thread's version. It finds the threads that may have
 * contained a message of which only the time is known. Undefined for a single message, and for an item that isn't a
 * thread.
 */
export function spanOf(version: string | undefined): { from: number; to: number } | undefined {
  const match = /\.([0-9a-z]+)-([0-9a-z]+)$/.exec(version ?? "");
  const [from, to] = [match?.[1], match?.[2]].map((text) => Number.parseInt(text ?? "", 36));
  return from === undefined || to === undefined || !(to > from) ? undefined : { from, to };
}

function digest(value: unknown): string {
  return digestOf(value, 16);
}

/**
 * Returns the text of messages. A single message is only its text; in a thread, each message is preceded by its
 * author's name.
 */
function textOf(messages: readonly ChatMessage[]): string {
  const [only, ...more] = messages;
  if (only && more.length === 0) return only.text;
  return messages.map(({ author, text }) => `${author.name}: ${text}`).join("\n\n");
}

const TITLE_CHARS = 100;

/** Returns the first line that contains text. */
function titleOf(messages: readonly ChatMessage[]): string | undefined {
  for (const { text } of messages) {
    const line = text
      .split("\n")
      .map(readable)
      .find((each) => each !== "");
    if (line === undefined) continue;
    // Cuts by characters, since half of a surrogate pair can't be displayed.
    const characters = [...line];
    return characters.length <= TITLE_CHARS
      ? line
      : `${characters
          .slice(0, TITLE_CHARS - 1)
          .join("")
          .trimEnd()}…`;
  }
  return undefined;
}

function readable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\s]+/gu, " ").trim();
}

/** Returns the other authors and the mentioned people, each once. */
function peopleOf(messages: readonly ChatMessage[], author: SourcePerson): Pick<SourceItem, "people"> {
  const keyOf = ({ principal, name }: SourcePerson) => principal ?? name;
  const others = new Map<string, SourcePerson>();
  for (const { author: writer, mentions = [] } of messages) {
    for (const person of [writer, ...mentions]) if (keyOf(person) !== keyOf(author)) others.set(keyOf(person), person);
  }
  return others.size > 0 ? { people: [...others.values()] } : {};
}
