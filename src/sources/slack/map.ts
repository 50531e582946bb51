import { fileContent } from "#sources/file-scope/file-content.ts";
import { none } from "#sources/contents.ts";
import { defined } from "#core/defined.ts";
import { formatPrincipal, type Principal } from "#core/principals.ts";
import type { SourceItem, SourcePerson } from "#sources/item.ts";
import { roomGroup } from "#sources/chat/rooms.ts";
import { type ChatMessage, toFileItem, toThreadItem } from "#sources/chat/thread.ts";
import { attachmentsOf, blocksOf } from "./blocks.ts";
import type { SlackChannel, SlackContext, SlackFile, SlackMessage, SlackUser } from "./client.ts";

/** A known user of this workspace or of another one. */
export interface KnownUser {
  name: string;
  team?: string | undefined;
}

/** Values shared by all items of a run. */
export interface Mapping {
  ctx: Pick<SlackContext, "config" | "connector">;
  team: string;
  /** The base URL of links to messages. */
  home: string;
  /** The users that were requested. */
  users: ReadonlyMap<string, KnownUser>;
}

export interface Room {
  id: string;
  /** The channel's name as people write it. */
  name: string;
  isPrivate: boolean;
}

export function toRoom({ id, name, is_private, is_im, is_mpim }: SlackChannel): Room {
  if (is_im) return { id, name: "Direct message", isPrivate: true };
  if (is_mpim) return { id, name: "Group message", isPrivate: true };
  return { id, name: `#${name ?? id}`, isPrivate: is_private };
}

export function threadId(channel: string, ts: string): string {
  return `${channel}/${ts}`;
}

export function parseId(externalId: string): { channel: string; ts: string; file?: string } | undefined {
  const [, channel, ts, file] = /^([A-Z][A-Z0-9]+)\/(\d+\.\d+)(?:#([A-Z][A-Z0-9]+))?$/.exec(externalId) ?? [];
  return channel === undefined || ts === undefined ? undefined : { channel, ts, ...defined({ file }) };
}

export function timeOf(ts: string): number {
  return Math.floor(Number(ts) * 1_000);
}

export function stampOf(ms: number): string {
  return (ms / 1_000).toFixed(6);
}

const WRITTEN = new Set([undefined, "thread_broadcast", "file_share", "me_message", "bot_message"]);

/** Whether a message was written by someone and still exists, and isn't a notice of a join, a pin or a deletion. */
export function isWritten({ subtype }: SlackMessage): boolean {
  return WRITTEN.has(subtype);
}

/** Whether a message is the first of its thread, or a single message. */
export function isRoot({ ts, thread_ts }: SlackMessage): boolean {
  return thread_ts === undefined || thread_ts === ts;
}

/** Returns the items of a thread, the thread itself first; none if nothing is left of the thread. */
export function toItems(mapping: Mapping, room: Room, ts: string, messages: readonly SlackMessage[]): SourceItem[] {
  const { ctx, home } = mapping;
  const written = messages.filter(isWritten);
  const root = written.find((message) => message.ts === ts);
  const replies = written.filter((message) => message.ts !== ts);
  const toMessage = (message: SlackMessage): ChatMessage => ({
    author: authorOf(mapping, message),
    at: timeOf(message.ts),
    text: textOf(message, mapping.users),
    mentions: mentionedIn(message).map((id) => personOf(mapping, id)),
    ...(message.edited && { editedAt: timeOf(message.edited.ts) }),
  });
  const url = `${home}/archives/${room.id}/p${ts.replace(".", "")}`;
  const thread = toThreadItem({
    externalId: threadId(room.id, ts),
    room,
    place: room.name,
    root: root && toMessage(root),
    replies: replies.map(toMessage),
    url,
    readers: roomGroup(ctx.connector.id, room.id),
    at: timeOf(ts),
  });
  if (!thread) return [];
  const files = new Map<string, SourceItem>();
  for (const message of written) {
    for (const file of message.files?.known ?? []) {
      if (file.mode === "tombstone" || file.mode === "hidden_by_limit") continue;
      const externalId = `${threadId(room.id, ts)}#${file.id}`;
      const item = toFileItem({
        externalId,
        thread: threadId(room.id, ts),
        room,
        place: room.name,
        name: nameOf(file),
        author: authorOf(mapping, message),
        // The same time as the thread's, so that both are in the same time slice of the channel.
        at: timeOf(ts),
        url,
        content: contentOf(ctx, file),
        contentKey: contentKeyOf(file),
        ...defined({ mimeType: file.mimetype, size: file.size }),
      });
      files.set(externalId, item);
    }
  }
  return [thread, ...files.values()];
}

export function nameOf({ name, title, id }: SlackFile): string {
  return [name, title].find((each) => each?.trim()) ?? id;
}

/** Returns the id of a content, which also changes when a snippet is rewritten. */
export function contentKeyOf({ id, size, updated }: SlackFile): string {
  return JSON.stringify([id, size ?? null, updated ?? null]);
}

function contentOf({ config }: Mapping["ctx"], { is_external, size, mimetype }: SlackFile): SourceItem["content"] {
  return is_external ? none("unsupported_type") : fileContent(config, { mimeType: mimetype, size });
}

function authorOf(mapping: Mapping, { user, username, bot_profile, subtype }: SlackMessage): SourcePerson {
  // A bot can use any name, so the name identifies no one.
  if (user === undefined || subtype === "bot_message") {
    return { name: username ?? bot_profile?.name ?? "Bot", claimed: true };
  }
  return personOf(mapping, user);
}

function personOf({ ctx, team, users }: Mapping, id: string): SourcePerson {
  const known = users.get(id);
  return {
    name: known?.name ?? id,
    login: id,
    principal: userPrincipal(ctx, id, known?.team === undefined || known.team === team),
    claimed: false,
  };
}

/**
 * Returns the principal of a user. Users of other workspaces belong to other instances, so no one here matches them.
 */
export function userPrincipal({ connector }: Pick<SlackContext, "connector">, id: string, isOwn: boolean): Principal {
  const instance = isOwn ? (connector.instance ?? connector.id) : "another workspace";
  return formatPrincipal({ type: "source_user", providerId: "slack", instance, id });
}

export function displayNameOf({ id, name, real_name, profile }: SlackUser): string {
  const names = [profile.display_name, profile.real_name, real_name, name];
  return names.find((each) => each?.trim()) ?? id;
}

/** Returns the users whose names a message needs. */
export function usersIn(message: SlackMessage): string[] {
  const { user } = message;
  return [...(user === undefined ? [] : [user]), ...mentionedIn(message)];
}

const MOST_MENTIONED = 100;

function mentionedIn({ text, blocks, attachments }: SlackMessage): string[] {
  const written = [text, ...blocksOf(blocks), ...attachmentsOf(attachments)].join("\n");
  const ids = [...written.matchAll(/<@([A-Z][A-Z0-9]{1,30})(?:\|[^<>]*)?>/g)].flatMap(([, id]) => id ?? []);
  return [...new Set(ids)].slice(0, MOST_MENTIONED);
}

/**
 * Returns the text as people see it: references as names, links as labels, and the text of blocks and attachments. Text
 * that an app writes in two of these places appears only once.
 */
function textOf({ text, blocks, files, attachments }: SlackMessage, users: Mapping["users"]): string {
  const parts = [text, ...blocksOf(blocks), ...attachmentsOf(attachments)].filter((part) => part !== "");
  return [...withoutRepeats(parts.map((part) => readable(part, users))), ...(files?.known.map(nameOf) ?? [])].join(
    "\n",
  );
}

/**
 * Removes each part whose words another part contains in the same order: the first part, or all parts after it
 * together.
 */
function withoutRepeats(parts: readonly string[]): string[] {
  const kept: { part: string; words: string }[] = [];
  for (const part of parts) {
    const words = wordsOf(part);
    if (!kept.some((earlier) => earlier.words.includes(words))) kept.push({ part, words });
  }
  const [first, ...others] = kept.map(({ part }) => part);
  const isRepeated = first !== undefined && wordsOf(others.join("\n")).includes(wordsOf(first));
  return isRepeated ? others : kept.map(({ part }) => part);
}

/** Returns the words with one space on each side, so that no word is found within another. */
function wordsOf(text: string): string {
  return ` ${text.replace(/[^\p{L}\p{N}]+/gu, " ").trim()} `;
}

function readable(text: string, users: Mapping["users"]): string {
  return text
    .replace(/<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>/g, (_all, mark: string, target: string, label: string | undefined) => {
      if (mark === "@") return `@${label ?? users.get(target)?.name ?? target}`;
      if (mark === "#") return `#${label ?? target}`;
      if (mark === "!") return label ?? `@${target.replace(/\^.*$/, "").replace(/^subteam$/, "group")}`;
      return label === undefined || label === target ? target : `${label} (${target})`;
    })
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
