import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What came to the front. */
export interface Asked {
  method: string;
  path: string;
  /** The last part of the path, such as `conversations.list`. */
  name: string;
  values: URLSearchParams;
  token: string | undefined;
}

/** What the emulator does not have. */
export interface More {
  /** Tokens that Slack gave out, and to whom. */
  tokens: Map<string, string>;
  bots: Set<string>;
  guests: Set<string>;
  deactivated: Map<string, Record<string, unknown>>;
  /** Public channels that were made private. */
  closed: Set<string>;
}

type Json = Record<string, unknown>;

/**
 * A fake of ours before the emulator, from Slack's published API, for what that lacks: tokens that are not accepted, guests
 * and deactivated users, confirmed addresses, `oldest` and `latest`. It can fail in the emulator's place, too.
 */
export async function startFront(emulator: string, more: More) {
  const front = {
    port: 0,
    requests: 0,
    /** Answers in Slack's place; false = Slack does. */
    instead: undefined as ((asked: Asked, response: ServerResponse) => boolean) | undefined,
    /** Where files are said to be. */
    filesAt: undefined as string | undefined,
    stop: () => undefined as void,
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  // People of a test speak seldom, over connections that they keep.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens over TCP has such an address.
  front.port = (server.address() as AddressInfo).port;
  front.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  const origin = `http://127.0.0.1:${front.port}`;
  return front;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    front.requests++;
    const body = await readBody(request);
    const path = request.url ?? "/";
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const name = path.split("?")[0]?.split("/").at(-1) ?? "";
    const asked = { method: request.method ?? "GET", path, name, values: new URLSearchParams(body.toString()), token };
    if (front.instead?.(asked, response)) return;
    const isApi = path.startsWith("/api/");
    const no = isApi ? (refusal(asked) ?? (await hidden(asked))) : undefined;
    if (no !== undefined) return json(response, { ok: false, error: no });
    if (name === "conversations.history") return json(response, await history(asked));
    if (name === "users.list" || name === "users.info") return json(response, users(await ask(asked), name));
    const passed = await fetch(`${emulator}${path}`, {
      method: asked.method,
      headers: {
        "content-type": request.headers["content-type"] ?? "application/octet-stream",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const type = passed.headers.get("content-type") ?? "";
    if (!type.includes("json")) {
      response.writeHead(passed.status, { "content-type": type }).end(Buffer.from(await passed.arrayBuffer()));
      return;
    }
    const text = closedIn((await passed.text()).replaceAll(emulator, origin));
    const led =
      front.filesAt === undefined ? text : text.replaceAll(`${origin}/files-pri`, `${front.filesAt}/files-pri`);
    response.writeHead(passed.status, { "content-type": "application/json" }).end(led);
  }

  async function ask({ path, values, token }: Pick<Asked, "path" | "values" | "token">): Promise<Json> {
    const headers = { "content-type": "application/x-www-form-urlencoded", authorization: `Bearer ${token}` };
    const passed = await fetch(`${emulator}${path}`, { method: "POST", headers, body: values.toString() });
    return JSON.parse((await passed.text()).replaceAll(emulator, origin)) as Json;
  }

  function refusal({ token, path }: Asked): string | undefined {
    if (path.startsWith("/api/files.completeUpload")) return undefined;
    if (token === undefined) return "not_authed";
    const user = more.tokens.get(token);
    if (user === undefined) return "invalid_auth";
    return more.deactivated.has(user) ? "account_inactive" : undefined;
  }

  /** A guest sees no channel that they are not in. */
  async function hidden({ token, values, name }: Asked): Promise<string | undefined> {
    const user = more.tokens.get(token ?? "") ?? "";
    const channel = values.get("channel");
    if (!more.guests.has(user) || channel === null || !name.startsWith("conversations.")) return undefined;
    const { members } = await ask({
      path: "/api/conversations.members",
      values: new URLSearchParams({ channel }),
      token,
    });
    return Array.isArray(members) && members.includes(user) ? undefined : "channel_not_found";
  }

  function closedIn(text: string): string {
    const told = JSON.parse(text) as Json;
    if (more.closed.size === 0 || !Array.isArray(told["channels"])) return text;
    const channels = (told["channels"] as Json[]).map((channel) =>
      more.closed.has(String(channel["id"])) ? { ...channel, is_private: true } : channel,
    );
    return JSON.stringify({ ...told, channels });
  }

  async function history(asked: Asked): Promise<Json> {
    const { values } = asked;
    const all = await ask({
      ...asked,
      values: new URLSearchParams({ channel: values.get("channel") ?? "", limit: "1000" }),
    });
    if (all["ok"] !== true || !Array.isArray(all["messages"])) return all;
    const [oldest, latest] = [values.get("oldest"), values.get("latest")];
    const isInclusive = values.get("inclusive") === "true";
    const found = (all["messages"] as { ts: string }[]).filter(({ ts }) => {
      const isLate = oldest === null || Number(ts) > Number(oldest) || (isInclusive && ts === oldest);
      const isEarly = latest === null || Number(ts) < Number(latest) || (isInclusive && ts === latest);
      return isLate && isEarly;
    });
    const limit = Math.min(Number(values.get("limit") ?? 100), PAGE);
    return { ok: true, messages: found.slice(0, limit), has_more: found.length > limit };
  }

  function users(told: Json, name: string): Json {
    const complete = (user: Json): Json => {
      const id = String(user["id"]);
      return {
        ...user,
        deleted: more.deactivated.has(id),
        is_bot: more.bots.has(id),
        is_restricted: more.guests.has(id),
        is_email_confirmed: true,
      };
    };
    if (told["ok"] !== true) return told;
    if (name === "users.info") return { ...told, user: complete(told["user"] as Json) };
    return { ...told, members: (told["members"] as Json[]).map(complete) };
  }
}

/** Short pages, so that there are several. */
const PAGE = 3;

function json(response: ServerResponse, body: Json): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
