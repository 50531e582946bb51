import { createHmac } from "node:crypto";
import { createEmulator } from "emulate";
import { onTestFinished } from "vitest";
import { makeSlackSource } from "#sources/slack/index.ts";
import { parseId, threadId } from "#sources/slack/map.ts";
import { AT_EACH_PAGE, type Failing, type Failure, type KitFixture } from "../../kit/fixture.ts";
import { startFront } from "./front.ts";

const NAMES = ["kb", "ann", "ben", "cid", "dan", "oth"] as const;
type Name = (typeof NAMES)[number];
const tokenOf = (name: string) => `xoxp-of-${name}`;

interface Sent {
  ts: string;
  thread_ts?: string;
  files?: { id: string }[];
}

/** What the methods answer that are called here; which, is the caller's to know. */
interface SlackAnswer {
  ok: boolean;
  error?: string;
  user_id: string;
  channel: { id: string };
  ts: string;
  upload_url: string;
  file_id: string;
  messages: Sent[];
}

/**
 * A workspace of the emulator: `engineering` and `lobby` are public, `team` is private to ann and dan. Cid is a guest and
 * in `lobby` alone. The app is `kb`.
 */
export async function makeWorld() {
  const seed = {
    team: { name: "Acme", domain: "acme" },
    users: NAMES.map((name) => ({
      name,
      real_name: `${name[0]?.toUpperCase()}${name.slice(1)} Example`,
      email: `${name}@acme.test`,
    })),
    tokens: NAMES.map((name) => ({ token: tokenOf(name), user: name })),
  };
  const emulator = await createEmulator({ service: "slack", port: 0, seed: { slack: seed } } as never);
  const more = {
    tokens: new Map<string, string>(),
    bots: new Set<string>(),
    guests: new Set<string>(),
    deactivated: new Map(),
    closed: new Set<string>(),
  };
  const front = await startFront(emulator.url.replace(/\/$/, ""), more);
  onTestFinished(async () => {
    front.stop();
    await emulator.close();
  });
  const url = `http://127.0.0.1:${front.port}`;

  async function call(name: string, method: string, values: Record<string, string> = {}) {
    const answer = await fetch(`${url}/api/${method}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", authorization: `Bearer ${tokenOf(name)}` },
      body: new URLSearchParams(values).toString(),
    });
    // Every answer of this API is an object.
    return (await answer.json()) as SlackAnswer;
  }
  async function act(name: string, method: string, values: Record<string, string> = {}) {
    const answer = await call(name, method, values);
    if (!answer.ok) throw new Error(`${method} of ${name}: ${answer.error}`);
    return answer;
  }

  const ids = {} as Record<Name, string>;
  for (const name of NAMES) {
    more.tokens.set(tokenOf(name), "?");
    ids[name] = (await act(name, "auth.test")).user_id;
    more.tokens.set(tokenOf(name), ids[name]);
  }
  more.bots.add(ids.kb);
  more.guests.add(ids.cid);

  async function channel(name: string, isPrivate: boolean, members: readonly Name[]): Promise<string> {
    const { channel: made } = await act("ann", "conversations.create", { name, is_private: String(isPrivate) });
    await act("ann", "conversations.invite", { channel: made.id, users: members.map((each) => ids[each]).join(",") });
    return made.id;
  }
  const say = async (name: Name, where: string, text: string, root?: string) => {
    const values = { channel: where, text, ...(root !== undefined && { thread_ts: root }) };
    return (await act(name, "chat.postMessage", values)).ts;
  };
  async function share(name: Name, where: string, filename: string, content: string): Promise<string> {
    const ticket = await act(name, "files.getUploadURLExternal", { filename, length: String(content.length) });
    await fetch(ticket.upload_url, { method: "POST", headers: { "content-type": "text/plain" }, body: content });
    const files = JSON.stringify([{ id: ticket.file_id, title: filename }]);
    await act(name, "files.completeUploadExternal", { files, channel_id: where, initial_comment: "See the notes." });
    const { messages } = await act(name, "conversations.history", { channel: where });
    const sent = messages.find(({ files: sharedFiles }) => sharedFiles?.some(({ id }) => id === ticket.file_id));
    return `${threadId(where, sent?.ts ?? "")}#${ticket.file_id}`;
  }

  const engineering = await channel("engineering", false, ["kb", "ben", "dan"]);
  const team = await channel("team", true, ["kb", "dan"]);
  const lobby = await channel("lobby", false, ["kb", "cid"]);
  const root = await say("ann", engineering, "Where do we deploy the *blue* service? <@U000000001> &amp; all");
  await say("ben", engineering, "To the second cluster.", root);
  const reply = await say("dan", engineering, "Since Monday, yes.", root);
  const alone = await say("ben", engineering, "Lunch at noon?");
  const edited = await say("ann", engineering, "The password policy is frist.");
  const file = await share("dan", engineering, "notes.txt", "Notes of the deployment.");
  const secret = await say("dan", team, "The offer goes out on Friday.");
  await say("ann", team, "Not before the board agrees.", secret);
  const budget = await say("dan", team, "Budget is fine.");
  const welcome = await say("cid", lobby, "Welcome to everyone.");
  return {
    url,
    front,
    more,
    ids,
    channels: { engineering, team, lobby },
    messages: { root, reply, alone, edited, file, secret, budget, welcome },
    call,
    act,
    say,
  };
}
export type World = Awaited<ReturnType<typeof makeWorld>>;

export const SECRET = "kb-canary-signing-55d1";

/** A request of Slack's Events API, signed. */
export function signed(body: unknown, { at = Date.now(), secret = SECRET } = {}) {
  const rawBody = Buffer.from(JSON.stringify(body));
  const stamp = String(Math.floor(at / 1_000));
  const hash = createHmac("sha256", secret).update(`v0:${stamp}:`).update(rawBody).digest("hex");
  const headers = new Headers({ "x-slack-request-timestamp": stamp, "x-slack-signature": `v0=${hash}` });
  return { headers, rawBody, receivedAt: at };
}

/** Who may read an item there, by asking with each one's token. Nobody is known to read what the app is not shown. */
export async function whoSees({ call, ids, more }: World, externalId: string): Promise<string[]> {
  const { channel = "", ts = "" } = parseId(externalId) ?? {};
  const isShown = async (name: Name) => {
    const { ok, messages } = await call(name, "conversations.replies", { channel, ts });
    return ok && messages.some((message) => message.ts === ts || message.thread_ts === ts);
  };
  if (!(await isShown("kb"))) return [];
  const seen: string[] = [];
  for (const name of PEOPLE) if (!more.deactivated.has(ids[name]) && (await isShown(name))) seen.push(ids[name]);
  return seen.sort();
}

const PEOPLE = ["ann", "ben", "cid", "dan"] as const;

/** The kit's fixture over the emulator. */
export async function makeSlackFixture(world?: World): Promise<KitFixture> {
  const there = world ?? (await makeWorld());
  const { front, more, ids, channels, messages, act, say, url } = there;
  const source = makeSlackSource({ limits: { perMinute: 60_000, burst: 10_000 }, batching: AT_EACH_PAGE });
  const config = source.spec.config.parse({ url });
  const inTeam = [messages.secret, messages.budget].map((ts) => threadId(channels.team, ts));
  let count = 0;
  let isInTeam = true;
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config,
    credentials: { token: tokenOf("kb") },
    badCredentials: { token: "xoxb-kb-canary-wrong" },
    badConfigs: [
      { url: "" },
      { url: "slack.com" },
      { ...config, historyDays: 0 },
      { ...config, rooms: [] },
      { ...config, url: `${url}/no` },
    ],
    endMarks: { "conversations.list": "response_metadata.next_cursor" },
    minItems: 8,
    lists: [{ at: /conversations\.members$/, has: () => false, isOfNames: true }],
    narrowerScope: { include: [], exclude: [channels.team] },
    async add() {
      const ts = await say("ben", channels.engineering, `One more, ${++count}.`);
      await say("dan", channels.engineering, `And another answer, ${count}.`, messages.root);
      return threadId(channels.engineering, ts);
    },
    async edit() {
      await act("ann", "chat.update", {
        channel: channels.engineering,
        ts: messages.edited,
        text: `The password policy is #${++count}.`,
      });
      return threadId(channels.engineering, messages.edited);
    },
    async remove() {
      await act("ben", "chat.delete", { channel: channels.engineering, ts: messages.alone });
      await act("dan", "chat.delete", { channel: channels.engineering, ts: messages.reply });
      return threadId(channels.engineering, messages.alone);
    },
    async addOdd() {
      const odd = ["\u200b", "日本語 🗂️ עברית", "🗂️".repeat(200), "x".repeat(10_000), "\n\nsecond line"];
      const found: string[] = [];
      for (const text of odd) found.push(threadId(channels.engineering, await say("ann", channels.engineering, text)));
      return found;
    },
    async changeAccess() {
      isInTeam = !isInTeam;
      const [method, who] = isInTeam
        ? ["conversations.invite", { users: ids.dan }]
        : ["conversations.kick", { user: ids.dan }];
      await act("ann", method, { channel: channels.team, ...who });
      return threadId(channels.team, messages.secret);
    },
    async removePerson() {
      more.deactivated.set(ids.ben, {});
      return ids.ben;
    },
    async removeGroup() {
      await act("ann", "conversations.kick", { channel: channels.team, user: ids.kb });
      return [ids.ann, ids.dan];
    },
    people: async () => PEOPLE.map((name) => ({ id: ids[name] })).filter(({ id }) => !more.deactivated.has(id)),
    whoSees: (externalId) => whoSees(there, externalId),
    async swapAccount() {
      await act("ann", "conversations.invite", { channel: channels.team, users: ids.oth });
      return { credentials: { token: tokenOf("oth") }, externalIds: inTeam };
    },
    async notification(externalId) {
      const { channel, ts } = parseId(externalId) ?? {};
      const event = { type: "message", channel, ts, user: ids.ben, text: "Changed." };
      const body = { type: "event_callback", team_id: "T000000001", event_id: `Ev${++count}`, event };
      return { secret: SECRET, request: signed(body) };
    },
    leadAway: async (origin) => void (front.filesAt = origin),
    requests: () => front.requests,
    async fail(kind: Failure): Promise<Failing> {
      const heal = () => void (front.instead = undefined);
      const answer =
        (status: number, body: object, headers = {}): NonNullable<typeof front.instead> =>
        (_asked, response) => {
          response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
          return true;
        };
      const refused = answer(200, { ok: false, error: "not_in_channel" });
      switch (kind) {
        case "unreachable":
          front.instead = (_asked, response) => (response.destroy(), true);
          return { externalIds: [], heal };
        case "unauthorized":
          front.instead = answer(200, { ok: false, error: "token_revoked" });
          return { externalIds: [], heal };
        case "rate_limited":
          front.instead = answer(429, { ok: false, error: "ratelimited" }, { "retry-after": "3600" });
          return { externalIds: [], heal };
        case "hang":
          front.instead = () => true;
          return { externalIds: [], heal };
        case "one_container":
          front.instead = (asked, response) =>
            asked.values.get("channel") === channels.team && refused(asked, response);
          return { externalIds: inTeam, heal };
        case "two_containers":
          front.instead = (asked, response) => {
            const channel = asked.values.get("channel");
            if (channel === channels.team) return refused(asked, response);
            return channel === channels.lobby && answer(500, {})(asked, response);
          };
          return { externalIds: [...inTeam, threadId(channels.lobby, messages.welcome)], heal };
        case "one_item":
          front.instead = (asked, response) => asked.path.startsWith("/files-pri/") && answer(403, {})(asked, response);
          return { externalIds: [messages.file], heal };
      }
    },
  };
}
