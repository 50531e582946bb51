let count = 0;

/** A new account. */
export async function register(url: string, name: string) {
  const username = `${name}-${++count}`;
  const body = { username, password: `secret of ${username}`, auth: { type: "m.login.dummy" } };
  const { user_id: id, access_token: token } = await call(url, "POST", "/register", body);
  return personWith(url, { id: String(id), token: String(token), username });
}

function personWith(url: string, { id, token, username }: { id: string; token: string; username: string }) {
  let sent = 0;
  const ask = (method: string, path: string, body?: unknown) => call(url, method, path, body, token);
  const at = (room: string, rest: string) => `/rooms/${encodeURIComponent(room)}/${rest}`;

  async function send(room: string, content: unknown): Promise<string> {
    const answer = await ask("PUT", at(room, `send/m.room.message/t${++sent}`), content);
    return String(answer.event_id);
  }

  const text = (body: string, more: object = {}) => ({ msgtype: "m.text", body, ...more });
  return {
    id,
    token,
    async createRoom(name: string | undefined, more: object = {}): Promise<string> {
      const body = { preset: "private_chat", ...(name !== undefined && { name }), ...more };
      return String((await ask("POST", "/createRoom", body)).room_id);
    },
    join: (room: string) => ask("POST", at(room, "join"), {}),
    leave: (room: string) => ask("POST", at(room, "leave"), {}),
    invite: (room: string, who: { id: string }) => ask("POST", at(room, "invite"), { user_id: who.id }),
    kick: (room: string, who: { id: string }) => ask("POST", at(room, "kick"), { user_id: who.id }),
    ban: (room: string, who: { id: string }) => ask("POST", at(room, "ban"), { user_id: who.id }),
    say: (room: string, body: string, more?: object) => send(room, text(body, more)),
    reply: (room: string, root: string, body: string) =>
      send(room, text(body, { "m.relates_to": { rel_type: "m.thread", event_id: root } })),
    edit: (room: string, message: string, body: string) =>
      send(
        room,
        text(`* ${body}`, {
          "m.new_content": text(body),
          "m.relates_to": { rel_type: "m.replace", event_id: message },
        }),
      ),
    send,
    redact: (room: string, message: string) =>
      ask("PUT", at(room, `redact/${encodeURIComponent(message)}/r${++sent}`), {}),
    setState: (room: string, type: string, content: unknown) => ask("PUT", at(room, `state/${type}/`), content),
    async upload(name: string, content: string): Promise<string> {
      const answer = await fetch(`${url}/_matrix/media/v3/upload?filename=${encodeURIComponent(name)}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "text/plain" },
        body: content,
      });
      const { content_uri: address } = (await answer.json()) as { content_uri: string };
      return address;
    },
    async sendFile(room: string, name: string, content: string): Promise<string> {
      const address = await this.upload(name, content);
      return send(room, {
        msgtype: "m.file",
        body: name,
        url: address,
        info: { mimetype: "text/plain", size: content.length },
      });
    },
    deactivate: () =>
      ask("POST", "/account/deactivate", {
        auth: {
          type: "m.login.password",
          identifier: { type: "m.id.user", user: id },
          password: `secret of ${username}`,
        },
      }),
    /** Whether the server shows them an event of a room that they are in. */
    async mayRead(room: string, event: string): Promise<boolean> {
      const answer = await fetch(`${url}/_matrix/client/v3${at(room, `event/${encodeURIComponent(event)}`)}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      await answer.arrayBuffer();
      return answer.status === 200;
    },
    async rooms(): Promise<string[]> {
      const answer = await ask("GET", "/joined_rooms");
      return Array.isArray(answer.joined_rooms) ? answer.joined_rooms.map(String) : [];
    },
  };
}

async function call(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  token?: string,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}/_matrix/client/v3${path}`, {
    method,
    headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  // Every answer of this API is an object.
  return JSON.parse(text) as Record<string, unknown>;
}
