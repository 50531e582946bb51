import { baseUrlOf } from "#sources/base-url.ts";
import { maybe, text, count, mimeType } from "#sources/lenient.ts";
import { z } from "zod";
import { ApiError, type ErrorCode } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SourceStream } from "#sources/http-contract.ts";
import { idAt, listed, makeOddRecords, many } from "#sources/listed.ts";
import { type SlackConfig } from "./config.ts";

export type SlackContext = SourceContext<SlackConfig>;

type Arguments = Readonly<Record<string, string | number | boolean | undefined>>;

/** Makes the client for all calls to Slack. Methods and response formats are known only in this file. */
export function makeClient({ config, http }: Pick<SlackContext, "config" | "http">) {
  const base = baseUrlOf(config);

  async function call<T extends z.ZodType>(method: string, schema: T, values: Arguments = {}): Promise<z.infer<T>> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) if (value !== undefined) body.set(name, String(value));
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    // All methods that are called here only read.
    const request = {
      method: "POST",
      url: `${base}/api/${method}`,
      headers,
      body: body.toString(),
      auth: true,
    } as const;
    const answer = (await http.request({ ...request, isIdempotent: true })).json(Answer);
    if (!answer.ok) throw failureOf(method, answer.error);
    const { data } = schema.safeParse(answer);
    if (data === undefined) throw failureOf(method, "unknown_answer");
    return data;
  }

  /** Yields every page of a method with a cursor. */
  async function* pages<T extends z.ZodType>(
    method: string,
    schema: T,
    values: Arguments,
  ): AsyncGenerator<z.infer<T>, void> {
    const seen = new Set<string>();
    for (let cursor = ""; ;) {
      if (seen.has(cursor)) throw failureOf(method, "the_same_page_again");
      seen.add(cursor);
      const page = await call(method, Paged, { ...values, ...(cursor !== "" && { cursor }) });
      const { data } = schema.safeParse(page);
      if (data === undefined) throw failureOf(method, "unknown_answer");
      yield data;
      cursor = page.response_metadata?.next_cursor ?? "";
      if (cursor === "") return;
    }
  }

  return {
    whoAmI: () => call("auth.test", WhoAmI),

    /**
     * Returns the channels that the account can see. `odd` are the ids of channels that could not be parsed, and
     * `isWhole` = all of these have an id.
     */
    async channels(): Promise<{ channels: SlackChannel[]; odd: string[]; isWhole: boolean }> {
      const types = ["public_channel", "private_channel", ...(config.directMessages ? ["im", "mpim"] : [])].join(",");
      const found: SlackChannel[] = [];
      const odd = makeOddRecords();
      for await (const { channels } of pages("conversations.list", Channels, { types, limit: 200 }))
        found.push(...odd.known(channels));
      const { ids, nameless } = odd.take();
      return { channels: found, odd: ids, isWhole: nameless === 0 };
    },

    /** Returns a page of messages, the newest first: from `oldest` (inclusive) to `latest` (exclusive). */
    history: (channel: string, { oldest, latest }: { oldest: string; latest?: string | undefined }) =>
      call("conversations.history", History, { channel, oldest, latest, inclusive: latest === undefined, limit: 200 }),

    /**
     * Returns a message with its replies; none if the message no longer exists. `isWhole` = each message was parsed.
     */
    async thread(channel: string, ts: string): Promise<{ messages: SlackMessage[]; isWhole: boolean }> {
      const found: SlackMessage[] = [];
      let isWhole = true;
      for await (const { messages } of pages("conversations.replies", Thread, { channel, ts, limit: 200 })) {
        isWhole &&= messages.known.length === messages.size;
        found.push(...messages.known);
      }
      return { messages: found, isWhole };
    },

    async members(channel: string): Promise<string[]> {
      const found: string[] = [];
      for await (const { members } of pages("conversations.members", Members, { channel, limit: 1_000 }))
        found.push(...members);
      return found;
    },

    users: () => pages("users.list", Users, { limit: 200 }),
    user: async (user: string) => (await call("users.info", z.object({ user: SlackUser }), { user })).user,
    file: async (file: string) => (await call("files.info", z.object({ file: SlackFile }), { file })).file,

    /** Downloads a file, only from Slack's own origins. @throws ApiError `address_not_allowed` */
    download: (url: string, maxBytes: number): Promise<SourceStream> => http.stream({ url, auth: true, maxBytes }),
  };
}
export type SlackClient = ReturnType<typeof makeClient>;

const Answer = z.looseObject({ ok: z.boolean(), error: maybe(z.string().max(200)) });
/**
 * A cursor that can't be parsed isn't treated as the end of the listing, since later records would then be treated as
 * deleted.
 */
const Paged = z.looseObject({ response_metadata: z.looseObject({ next_cursor: z.string().optional() }).nullish() });

const WhoAmI = z.object({
  team_id: z.string().min(1),
  user_id: z.string().min(1),
  url: maybe(z.url()),
  team: text,
});

const flag = z.boolean().catch(false);
const CHANNEL_ID = /^[A-Z][A-Z0-9]{1,30}$/;
const USER_ID = /^[A-Z][A-Z0-9]{1,30}$/;

const SlackChannel = z.object({
  id: z.string().regex(CHANNEL_ID),
  name: text,
  // These fields decide which channels are read.
  is_private: z.boolean().default(false),
  is_im: z.boolean().default(false),
  is_mpim: z.boolean().default(false),
  is_member: z.boolean().default(false),
});
export type SlackChannel = z.infer<typeof SlackChannel>;
const Channels = z.object({
  channels: listed(SlackChannel, idAt("id", z.string().regex(CHANNEL_ID))),
});

const SlackFile = z.object({
  id: z.string().regex(/^[A-Z][A-Z0-9]{1,30}$/),
  name: z.string().nullish().catch(undefined),
  title: z.string().nullish().catch(undefined),
  mimetype: mimeType,
  size: count,
  mode: text,
  is_external: flag,
  updated: maybe(z.number()),
  url_private: text,
  url_private_download: text,
  channels: z.array(z.string()).catch([]),
  groups: z.array(z.string()).catch([]),
  ims: z.array(z.string()).catch([]),
});
export type SlackFile = z.infer<typeof SlackFile>;

const Stamp = z.string().regex(/^\d{1,12}\.\d{1,9}$/);
const SlackMessage = z.object({
  ts: Stamp,
  user: maybe(z.string().regex(USER_ID)),
  username: text,
  bot_profile: maybe(z.object({ name: z.string() })),
  text: z.string().catch(""),
  subtype: text,
  thread_ts: text,
  reply_count: maybe(z.number()),
  edited: maybe(z.object({ ts: z.string() })),
  files: listed(SlackFile).nullish(),
  /** Parsed by `blocks.ts`, which accepts any value. */
  blocks: z.unknown().optional(),
  attachments: z.unknown().optional(),
});
export type SlackMessage = z.infer<typeof SlackMessage>;
const Messages = listed(SlackMessage, idAt("ts", Stamp));
const History = z.object({ messages: Messages, has_more: z.boolean() });
const Thread = z.object({ messages: Messages });
const Members = z.object({ members: z.array(z.string()) });

const SlackUser = z.object({
  id: z.string().regex(USER_ID),
  team_id: text,
  name: text,
  real_name: z.string().nullish().catch(undefined),
  deleted: flag,
  is_bot: flag,
  is_restricted: flag,
  is_ultra_restricted: flag,
  is_stranger: flag,
  is_email_confirmed: flag,
  profile: z
    .object({
      display_name: z.string().nullish().catch(undefined),
      real_name: z.string().nullish().catch(undefined),
      email: z.string().nullish().catch(undefined),
    })
    .catch({}),
});
export type SlackUser = z.infer<typeof SlackUser>;
const Users = z.object({ members: many(SlackUser) });

/** The failure for each of Slack's error names, since Slack returns errors with status 200. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  not_authed: "source_unauthorized",
  invalid_auth: "source_unauthorized",
  account_inactive: "source_unauthorized",
  token_revoked: "source_unauthorized",
  token_expired: "source_unauthorized",
  org_login_required: "source_unauthorized",
  not_in_channel: "source_forbidden",
  missing_scope: "source_forbidden",
  no_permission: "source_forbidden",
  access_denied: "source_forbidden",
  restricted_action: "source_forbidden",
  not_allowed_token_type: "source_forbidden",
  ekm_access_denied: "source_forbidden",
  channel_not_found: "source_not_found",
  thread_not_found: "source_not_found",
  message_not_found: "source_not_found",
  file_not_found: "source_not_found",
  file_deleted: "source_not_found",
  user_not_found: "source_not_found",
  user_not_visible: "source_not_found",
  ratelimited: "source_rate_limited",
};

function failureOf(method: string, word = "unknown_error"): ApiError {
  const code = CODES[word] ?? "source_unavailable";
  const message = `Slack answered ${method} with ${/^\w+$/.test(word) ? word : "an error"}.`;
  return new ApiError(code, {
    message,
    ...(code === "source_rate_limited" && { retryAfterMs: 60_000 }),
    // Slack answered, so the failure concerns the requested thing and not the server.
    ...(code === "source_unavailable" && { details: { status: 200 } }),
  });
}
