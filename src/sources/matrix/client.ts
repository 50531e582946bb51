import { baseUrlOf } from "#sources/base-url.ts";
import { text } from "#sources/lenient.ts";
import { defined } from "#core/defined.ts";
import { z } from "zod";
import type { SourceContext } from "#sources/context.ts";
import type { SourceRequest, SourceStream } from "#sources/http-contract.ts";
import type { Listed } from "#sources/listed.ts";
import { type MatrixConfig } from "./config.ts";
import { AnEvent, EventList, Events, type MatrixEvent, OneEvent, visibilityOf, type Visibility } from "./events.ts";

/** State events of a room that its messages depend on. When one of them changes, the room is read again. */
export const FACTS = [
  "m.room.create",
  "m.room.name",
  "m.room.canonical_alias",
  "m.room.encryption",
  "m.room.history_visibility",
] as const;

const TALK = ["m.room.message", "m.room.redaction"] as const;
const VISIBILITY = "m.room.history_visibility";
/** The number of events in a timeline. Servers truncate longer timelines. */
const TIMELINE = 100;
const PAGE = 100;
/**
 * The timeout of the first sync. For an account in a thousand rooms, a server takes a while to build the first
 * response.
 */
const FIRST_SYNC_TIMEOUT_MS = 300_000;

/** Makes the client for all calls to a homeserver. URLs and response formats are known only in this file. */
export function makeClient({ config, http, now }: Pick<SourceContext<MatrixConfig>, "config" | "http" | "now">) {
  const base = baseUrlOf(config);
  const at = (strings: TemplateStringsArray, ...parts: string[]): string =>
    `${base}/_matrix/client/${String.raw({ raw: strings }, ...parts.map(encodeURIComponent))}`;
  const get = async <T>(url: string, schema: z.ZodType<T>, more: Partial<SourceRequest> = {}): Promise<T> =>
    (await http.request({ url, auth: true, ...more })).json(schema);

  async function sync(filter: unknown, more: Partial<SourceRequest> = {}): Promise<z.infer<typeof Sync>> {
    // Reading must not show the account as online.
    const query = { set_presence: "offline", filter: JSON.stringify(filter), ...more.query };
    return get(at`v3/sync`, Sync, { ...more, query });
  }

  /** Yields the pages of a listing; `undefined` ends the listing. */
  async function* pages(
    url: string,
    query: Readonly<Record<string, string | number | undefined>>,
    next: (page: z.infer<typeof Page>) => string | undefined,
  ): AsyncGenerator<MessagePage, void> {
    for (let from: string | undefined, isFirst = true; isFirst || from !== undefined; isFirst = false) {
      const page: z.infer<typeof Page> = await get(url, Page, {
        query: { ...query, ...defined({ from }) },
      });
      const last = from;
      from = next(page);
      // A token that equals the previous one doesn't lead to another page.
      if (from === last) from = undefined;
      const { known, odd, nameless } = page.chunk;
      yield { events: known, odd, nameless, next: from };
    }
  }

  return {
    whoAmI: () => get(at`v3/account/whoami`, z.object({ user_id: z.string().startsWith("@") })),

    /**
     * Returns the rooms of the account, or some of them, together with the token from which later changes can be read.
     */
    rooms(only?: readonly string[]): Promise<z.infer<typeof Sync>> {
      const state = { types: FACTS, lazy_load_members: true };
      // The state is from before the timeline, so changes since then must be in the timeline.
      const timeline = { limit: 1, types: [...TALK, ...FACTS] };
      const rooms = { ...NOTHING_OF_ROOMS, ...(only && { rooms: only }), state, timeline };
      // The timeout never elapses, since the server answers at once. Synapse repeats its response to an identical
      // request for two minutes, and this value makes the request different.
      const timeout = 1 + (Math.floor(now()) % 997);
      const filter = { ...NOTHING_ELSE, account_data: { types: ["m.direct"] }, room: rooms };
      return sync(filter, { query: { timeout }, timeoutMs: FIRST_SYNC_TIMEOUT_MS });
    },

    /** Returns the changes since the token. @throws ApiError `cursor_expired` */
    changes(since: string): Promise<z.infer<typeof Sync>> {
      const timeline = { limit: TIMELINE, types: [...TALK, ...FACTS] };
      const filter = { ...NOTHING_ELSE, room: { ...NOTHING_OF_ROOMS, state: { types: FACTS }, timeline } };
      return sync(filter, { query: { since, timeout: 0 }, expired: [400] });
    },

    /** Returns the rooms in which members joined or left since the token. @throws ApiError `cursor_expired` */
    memberChanges(since: string): Promise<z.infer<typeof Sync>> {
      const types = ["m.room.member", VISIBILITY];
      const filter = {
        ...NOTHING_ELSE,
        room: { ...NOTHING_OF_ROOMS, state: { types }, timeline: { limit: 1, types } },
      };
      return sync(filter, { query: { since, timeout: 0 }, expired: [400] });
    },

    /** Returns events of a room, the newest first, with the token of the next page. */
    messages(room: string, from: string, to?: string) {
      const filter = JSON.stringify({ types: [...TALK, VISIBILITY], lazy_load_members: true });
      const query = { dir: "b", limit: PAGE, from, filter, ...defined({ to }) };
      return pages(at`v3/rooms/${room}/messages`, query, ({ end }) => end ?? undefined);
    },

    /** Lists the replies in a thread, the oldest first. */
    replies(room: string, root: string) {
      const url = at`v1/rooms/${room}/relations/${root}/m.thread`;
      return pages(url, { dir: "f", limit: PAGE }, ({ next_batch: next }) => next ?? undefined);
    },

    /**
     * Returns an event; undefined if it doesn't exist or this account can't see it.
     * @throws ApiError for an event that can't be parsed
     */
    async event(room: string, id: string): Promise<MatrixEvent | undefined> {
      const { status, json } = await askFor(at`v3/rooms/${room}/event/${id}`);
      return status === 200 ? json(AnEvent) : undefined;
    },

    /** Returns an event, and the history visibility at the time when it was written. */
    async eventInContext(
      room: string,
      id: string,
    ): Promise<{ event: MatrixEvent; visibility: Visibility } | undefined> {
      const filter = JSON.stringify({ lazy_load_members: true });
      const { status, json } = await askFor(at`v3/rooms/${room}/context/${id}`, { limit: 0, filter });
      if (status !== 200) return undefined;
      const { event, state } = json(Context);
      const set = state.find(({ type, stateKey }) => type === VISIBILITY && stateKey === "");
      return event && { event, visibility: visibilityOf(set?.content) };
    },

    members: (room: string) => get(at`v3/rooms/${room}/joined_members`, Members).then(({ joined }) => joined),

    /** Whether a room can be read without signing in. */
    async isOpen(room: string): Promise<boolean> {
      const url = at`v3/rooms/${room}/messages`;
      const { status } = await http.request({ url, query: { dir: "b", limit: 1 }, allow: [400, 401, 403, 404] });
      return status === 200;
    },

    file({ address }: { address: string }, maxBytes: number): Promise<SourceStream> {
      const [server = "", media = ""] = address.slice("mxc://".length).split("/");
      // Media may be stored on another server. The redirected request has no credential.
      return http.stream({ url: at`v1/media/download/${server}/${media}`, auth: true, redirect: "follow", maxBytes });
    },
  };

  function askFor(url: string, query: SourceRequest["query"] = {}) {
    return http.request({ url, auth: true, query, allow: [404] });
  }
}
export type MatrixClient = ReturnType<typeof makeClient>;

const NOTHING = { types: [] };
const NOTHING_ELSE = { presence: NOTHING, account_data: NOTHING };
const NOTHING_OF_ROOMS = { ephemeral: NOTHING, account_data: NOTHING };

/**
 * A token that can't be parsed isn't treated as the end of the listing, since later events would then be treated as
 * deleted.
 */
const Page = z.object({
  chunk: EventList,
  end: z.string().nullish(),
  next_batch: z.string().nullish(),
});

/**
 * A page of a room's events. `odd` are the ids of events that could not be parsed, and `nameless` counts those without
 * an id.
 */
export interface MessagePage extends Pick<Listed<MatrixEvent>, "odd" | "nameless"> {
  events: MatrixEvent[];
  next: string | undefined;
}

const Context = z.object({ event: OneEvent, state: Events });

const Members = z.object({
  joined: z.record(
    z.string().startsWith("@"),
    z.object({ display_name: z.string().nullish().catch(undefined) }).catch({ display_name: undefined }),
  ),
});

/**
 * The state of a room decides what the room is and who can read it. If a part of the state can't be parsed, the room is
 * unknown.
 */
const State = z
  .object({ events: EventList })
  .refine(({ events }) => events.known.length === events.size)
  .transform(({ events }) => ({ events: events.known }));
const NO_EVENTS: Listed<MatrixEvent> = { size: 0, known: [], odd: [], nameless: 0 };

const JoinedRoom = z.object({
  state: State.default({ events: [] }),
  timeline: z
    .object({
      events: EventList,
      limited: z.boolean().default(false).catch(true),
      prev_batch: text,
    })
    .default({ events: NO_EVENTS, limited: false })
    .transform(({ events, limited, prev_batch: before }) => ({
      events: events.known,
      /** Ids of events that could not be parsed. */
      odd: events.odd,
      /** True = earlier events are missing and have to be requested, starting at `before`. */
      isCut: limited,
      before,
    })),
  summary: z.object({ "m.joined_member_count": z.number(), "m.invited_member_count": z.number() }).partial().catch({}),
});
export type JoinedRoom = z.infer<typeof JoinedRoom>;

/** Returns the rooms by their ids, and the ids of the rooms that could not be parsed. */
function understood(rooms: Readonly<Record<string, unknown>>): { join: Record<string, JoinedRoom>; odd: string[] } {
  const join: Record<string, JoinedRoom> = {};
  const odd: string[] = [];
  for (const [id, room] of Object.entries(rooms)) {
    const { success, data } = JoinedRoom.safeParse(room);
    if (success) join[id] = data;
    else odd.push(id);
  }
  return { join, odd };
}

const Sync = z.object({
  next_batch: z.string(),
  rooms: z
    .object({
      join: z.record(z.string(), z.unknown()).default({}),
      leave: z.record(z.string(), z.unknown()).default({}),
    })
    .default({ join: {}, leave: {} })
    .transform(({ join, leave }) => ({ ...understood(join), leave })),
  account_data: z
    .object({ events: z.array(z.object({ type: z.string(), content: z.record(z.string(), z.unknown()) })) })
    .catch({ events: [] }),
});
export type MatrixSync = z.infer<typeof Sync>;
