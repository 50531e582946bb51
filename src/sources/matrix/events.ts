import { defined } from "#core/defined.ts";
import { maybe, text, count, mimeType } from "#sources/lenient.ts";
import { z } from "zod";
import { idAt, listed } from "#sources/listed.ts";

/** An event of a room, parsed leniently: a malformed value is treated as absent. */
export interface MatrixEvent {
  id: string;
  type: string;
  sender: string;
  at: number;
  stateKey?: string;
  content: Readonly<Record<string, unknown>>;
  isRedacted: boolean;
  /** For a redaction: the id of the event that is now empty. */
  redacts?: string;
  /** The event's latest edit, as its server reports it. */
  edit?: { at: number; content: Readonly<Record<string, unknown>> };
  /** For the root of a thread: the number of replies. */
  threadCount?: number;
  /** For a state event: the previous content, or `unknown` if it can't be known. */
  before?: Readonly<Record<string, unknown>> | "unknown";
}

/** A user id. No current server creates longer ids or ids with other characters. */
const USER_ID = /^@[!-9;-~]{0,200}:[\w.:[\]-]{1,200}$/;
/** A user id of an old server. Source: https://spec.matrix.org/v1.11/appendices/#historical-user-ids */
const FORMER_USER_ID = /^@[^:\0]{0,255}:[\w.:[\]-]{1,200}$/;

const Content = z.record(z.string(), z.unknown());
const RawEvent = z.object({
  event_id: z.string().min(2).max(512),
  type: z.string(),
  sender: z.string().max(1_000),
  origin_server_ts: z.number(),
  state_key: z.string().optional(),
  content: Content.catch({}),
  redacts: text,
  unsigned: maybe(
    z
      .object({
        redacted_because: z.unknown(),
        prev_content: maybe(Content),
        replaces_state: z.unknown(),
        "m.relations": maybe(
          z.object({
            "m.replace": maybe(z.object({ sender: z.string(), origin_server_ts: z.number(), content: Content })),
            "m.thread": maybe(z.object({ count: z.number() })),
          }),
        ),
      })
      .partial(),
  ),
});

export const AnEvent = z.unknown().transform((raw, context) => {
  const event = readEvent(raw);
  if (event) return event;
  context.addIssue({ code: "custom", message: "no event" });
  return z.NEVER;
});

/** The events of a list, and the ids of the events that could not be parsed. */
export const EventList = listed(AnEvent, idAt("event_id", z.string().startsWith("$").max(512)));
/** The events of a list, without anything that isn't an event. */
export const Events = EventList.transform(({ known }) => known);

/** A single event; undefined if the value isn't an event. */
export const OneEvent = z.unknown().transform(readEvent);

function readEvent(raw: unknown): MatrixEvent | undefined {
  const { data } = RawEvent.safeParse(raw);
  // A state event applies regardless of its sender.
  if (!data || (data.state_key === undefined && !FORMER_USER_ID.test(data.sender))) return undefined;
  const { unsigned, content } = data;
  const relations = unsigned?.["m.relations"];
  const edit = relations?.["m.replace"];
  const newContent = Content.safeParse(edit?.content["m.new_content"]).data;
  const redacts = data.redacts ?? (typeof content["redacts"] === "string" ? content["redacts"] : undefined);
  const before = unsigned?.prev_content ?? (unsigned?.replaces_state === undefined ? undefined : "unknown");
  return {
    id: data.event_id,
    type: data.type,
    sender: data.sender,
    at: data.origin_server_ts,
    content,
    // A message whose sender has no valid id is treated as redacted.
    isRedacted: unsigned?.redacted_because !== undefined || !USER_ID.test(data.sender),
    ...defined({ stateKey: data.state_key }),
    ...(data.type === "m.room.redaction" && redacts !== undefined && { redacts }),
    // Only the author of a message can edit it.
    ...(edit &&
      newContent &&
      edit.sender === data.sender && { edit: { at: edit.origin_server_ts, content: newContent } }),
    ...(relations?.["m.thread"] && { threadCount: relations["m.thread"].count }),
    ...(before !== undefined && { before }),
  };
}

const RelatesTo = z.object({
  rel_type: text,
  event_id: text,
  "m.in_reply_to": maybe(z.object({ event_id: z.string() })),
});

/**
 * Returns the target of a message: the root of its thread, the message that it edits, or the message that it replies
 * to.
 */
export function relationOf({ content }: Pick<MatrixEvent, "content">): {
  thread?: string;
  replaces?: string;
  answers?: string;
} {
  const { data } = RelatesTo.safeParse(content["m.relates_to"]);
  const { rel_type: type, event_id: id } = data ?? {};
  if (type === "m.thread" && id !== undefined) return { thread: id };
  if (type === "m.replace" && id !== undefined) return { replaces: id };
  const answers = data?.["m.in_reply_to"]?.event_id;
  return answers === undefined ? {} : { answers };
}

const Media = z.object({
  msgtype: z.enum(["m.file", "m.image", "m.audio", "m.video"]),
  body: z.string().catch(""),
  filename: maybe(z.string().min(1)),
  url: z.string().regex(/^mxc:\/\/[\w.:[\]-]+\/[\w-]+$/),
  info: maybe(
    z.object({
      mimetype: mimeType,
      size: count,
    }),
  ),
});

/** A message that contains a file. */
export interface MatrixMedia {
  name: string;
  /** `mxc://server/id`, the permanent name of one content. */
  address: string;
  mimeType?: string;
  size?: number;
}

/** Returns the content of a message after its edits. */
export function contentOf({ content, edit }: Pick<MatrixEvent, "content" | "edit">): Readonly<Record<string, unknown>> {
  return edit?.content ?? content;
}

export function mediaOf(event: Pick<MatrixEvent, "content" | "edit">): MatrixMedia | undefined {
  const { data } = Media.safeParse(contentOf(event));
  if (!data) return undefined;
  const { mimetype: mimeType, size } = data.info ?? {};
  return {
    name: data.filename ?? data.body,
    address: data.url,
    ...defined({ mimeType, size }),
  };
}

/** Returns the plain text of a message. */
export function textOf(event: Pick<MatrixEvent, "content" | "edit">): string {
  const content = contentOf(event);
  const body = typeof content["body"] === "string" ? content["body"] : "";
  const media = mediaOf(event);
  if (media) return media.name === body ? body : `${media.name}\n${body}`;
  return relationOf(event).answers === undefined ? body : withoutFallback(body);
}

/**
 * Removes a quote: older clients quote the message that they reply to before their own text. Source:
 * https://spec.matrix.org/v1.11/client-server-api/#fallbacks-for-rich-replies
 */
function withoutFallback(body: string): string {
  const lines = body.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("> "));
  return end <= 0 ? body : lines.slice(lines[end] === "" ? end + 1 : end).join("\n");
}

const Mentions = z.object({ user_ids: z.array(z.unknown()) });

export function mentionsOf(event: Pick<MatrixEvent, "content" | "edit">): readonly string[] {
  const named = Mentions.safeParse(contentOf(event)["m.mentions"]).data?.user_ids ?? [];
  return named.filter(isUserId).slice(0, MOST_MENTIONS);
}

const MOST_MENTIONS = 100;

export function isUserId(value: unknown): value is string {
  return typeof value === "string" && USER_ID.test(value);
}

/**
 * A history visibility: who may read the messages written while it is set. `unsure` = the server doesn't report what it
 * was.
 */
export type Visibility = "world_readable" | "shared" | "invited" | "joined" | "unsure";

export function visibilityOf(content: Readonly<Record<string, unknown>> | undefined): Visibility {
  const value = content?.["history_visibility"];
  if (value === "world_readable" || value === "invited" || value === "joined") return value;
  // Servers treat an unknown value as `shared`. Source:
  // https://spec.matrix.org/v1.11/client-server-api/#room-history-visibility
  return "shared";
}

/** Whether every member of the room may read messages that were written with this visibility. */
export function isForMembers(visibility: Visibility): boolean {
  return visibility === "shared" || visibility === "world_readable";
}
