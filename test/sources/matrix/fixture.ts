import { makeMatrixSource } from "#sources/matrix/index.ts";
import { fileId, parseId, threadId } from "#sources/matrix/map.ts";
import { AT_EACH_PAGE, type Failing, type Failure, type KitFixture } from "../../kit/fixture.ts";
import type { TestProxy } from "../proxy.ts";
import { register } from "./people.ts";

/** People who are in many worlds: an account is made slowly. */
export async function makeCrowd(url: string) {
  const [ann, ben, cid, dan] = await Promise.all(["ann", "ben", "cid", "dan"].map((name) => register(url, name)));
  if (!ann || !ben || !cid || !dan) throw new Error("No one registered.");
  return { ann, ben, cid, dan };
}
export type Crowd = Awaited<ReturnType<typeof makeCrowd>>;

/**
 * Four people and three rooms of a real homeserver, and the account that reads them: `general` for ann, ben and dan, `team`
 * for ann and dan, `lobby` for ann and ben, which others may look into. Cid is in none.
 */
export async function makeWorld(url: string, { ann, ben, cid, dan }: Crowd) {
  const bot = await register(url, "bot");
  const room = async (name: string | undefined, members: readonly (typeof ann)[], more: object = {}) => {
    const id = await ann.createRoom(name, { invite: members.map((each) => each.id), ...more });
    await Promise.all(members.map((member) => member.join(id)));
    return id;
  };
  const state = (type: string, content: object) => ({ initial_state: [{ type, state_key: "", content }] });
  const general = await room("General", [bot, ben, dan]);
  const team = await room("Team", [bot, dan]);
  const lobby = await room(
    "Lobby",
    [bot, ben],
    state("m.room.history_visibility", { history_visibility: "world_readable" }),
  );

  const root = await ann.say(general, "Where do we deploy the blue service?");
  await ben.reply(general, root, "To the second cluster.");
  const reply = await dan.reply(general, root, "Since Monday, yes.");
  const alone = await ben.say(general, "Lunch at noon?");
  const edited = await ann.say(general, "The password policy is frist.");
  await ann.edit(general, edited, "The password policy comes first.");
  const file = await dan.sendFile(general, "notes.txt", "Notes of the deployment, 0.");
  const secret = await dan.say(team, "The offer goes out on Friday.");
  await ann.reply(team, secret, "Not before the board agrees.");
  const budget = await dan.say(team, "Budget is fine.");
  const welcome = await ben.say(lobby, "Welcome to everyone.");
  return {
    people: { bot, ann, ben, cid, dan },
    all: [ann, ben, cid, dan],
    rooms: { general, team, lobby },
    messages: { root, reply, alone, edited, file, secret, budget, welcome },
    room,
  };
}
export type World = Awaited<ReturnType<typeof makeWorld>>;

/** The kit's fixture over a real homeserver. */
export function makeMatrixFixture(world: World, proxy: TestProxy, url: string): KitFixture {
  const { people, rooms, messages } = world;
  const { bot, ann, ben, dan } = people;
  const source = makeMatrixSource({ batching: AT_EACH_PAGE });
  const config = source.spec.config.parse({ url: `http://127.0.0.1:${proxy.port}` });
  const inTeam = [messages.secret, messages.budget].map((id) => threadId(rooms.team, id));
  let count = 0;
  let isInTeam = true;
  const about = (path: string, room: string) => path.includes(encodeURIComponent(room));
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config,
    credentials: { token: bot.token },
    badCredentials: { token: "kb-canary-wrong-77e1" },
    badConfigs: [
      {},
      { url: "" },
      { url: "matrix.example.com" },
      { url: "ftp://127.0.0.1/" },
      { ...config, historyDays: 0 },
      { ...config, rooms: [] },
      { ...config, url: `http://127.0.0.1:${proxy.port}/nothing` },
    ],
    endMarks: { "/messages .chunk": "end", "m.thread .chunk": "next_batch" },
    minItems: 8,
    lists: [{ at: /\/joined_members$/, has: () => false, isOfNames: true }],
    narrowerScope: { include: [], exclude: [rooms.team] },
    async add() {
      const id = await ben.say(rooms.general, `One more, ${++count}.`);
      // A thread grows, too.
      await dan.reply(rooms.general, messages.root, `And another answer, ${count}.`);
      return threadId(rooms.general, id);
    },
    async edit() {
      const name = "notes.txt";
      // As long as before.
      const url = await dan.upload(name, `Notes of the deployment, ${++count % 10}.`);
      const content = { msgtype: "m.file", body: name, url, info: { mimetype: "text/plain", size: 27 } };
      await dan.send(rooms.general, {
        ...content,
        "m.new_content": content,
        "m.relates_to": { rel_type: "m.replace", event_id: messages.file },
      });
      return fileId(rooms.general, messages.file);
    },
    async remove() {
      await ben.redact(rooms.general, messages.alone);
      // A reply goes without saying in which thread it was.
      await dan.redact(rooms.general, messages.reply);
      return threadId(rooms.general, messages.alone);
    },
    async addOdd() {
      const ids: string[] = [];
      for (const body of ["", "   ", "日本語 🗂️ עברית", "🗂️".repeat(200), "x".repeat(10_000), "\n\nsecond\u0000line"]) {
        ids.push(threadId(rooms.general, await ann.say(rooms.general, body.replace("\u0000", " "))));
      }
      return ids;
    },
    async changeAccess() {
      isInTeam = !isInTeam;
      if (isInTeam) {
        await ann.invite(rooms.team, dan);
        await dan.join(rooms.team);
      } else await ann.kick(rooms.team, dan);
      return threadId(rooms.team, messages.secret);
    },
    async removeGroup() {
      await ann.kick(rooms.team, dan);
      await ann.leave(rooms.team);
      return [ann.id, dan.id];
    },
    people: async () => world.all.map(({ id }) => ({ id })),
    whoSees: (externalId) => whoSees(world, externalId),
    async expireCursor() {
      let isForgotten = true;
      proxy.instead = ({ path }, response) => {
        if (!path.includes("/sync?")) return false;
        if (!/[?&]since=/.test(path)) isForgotten = false;
        if (!isForgotten) return false;
        response.writeHead(400, { "content-type": "application/json" }).end('{"errcode":"M_UNKNOWN"}');
        return true;
      };
    },
    async swapAccount() {
      const other = await register(url, "other");
      await ann.invite(rooms.team, other);
      await other.join(rooms.team);
      return { credentials: { token: other.token }, externalIds: inTeam };
    },
    async leadAway(origin) {
      proxy.instead = ({ path }, response) =>
        path.includes("/media/") && (response.writeHead(307, { location: `${origin}/file` }).end(), true);
    },
    requests: () => proxy.requests.length,
    async fail(kind: Failure): Promise<Failing> {
      const heal = () => void (proxy.instead = undefined);
      const answer =
        (status: number, errcode: string, headers = {}): TestProxy["instead"] =>
        (_passed, response) => {
          response
            .writeHead(status, { "content-type": "application/json", ...headers })
            .end(JSON.stringify({ errcode }));
          return true;
        };
      const refused = answer(403, "M_FORBIDDEN");
      switch (kind) {
        case "unreachable":
          proxy.instead = (_passed, response) => (response.destroy(), true);
          return { externalIds: [], heal };
        case "unauthorized":
          proxy.instead = answer(401, "M_UNKNOWN_TOKEN");
          return { externalIds: [], heal };
        case "rate_limited":
          proxy.instead = answer(429, "M_LIMIT_EXCEEDED", { "retry-after": "3600" });
          return { externalIds: [], heal };
        case "hang":
          proxy.instead = () => true;
          return { externalIds: [], heal };
        case "one_container":
          proxy.instead = (passed, response) =>
            about(passed.path, rooms.team) && (refused?.(passed, response) ?? false);
          return { externalIds: inTeam, heal };
        case "two_containers": {
          const broken = answer(500, "M_UNKNOWN");
          proxy.instead = (passed, response) => {
            const failing = about(passed.path, rooms.team)
              ? refused
              : about(passed.path, rooms.lobby)
                ? broken
                : undefined;
            return failing?.(passed, response) ?? false;
          };
          return { externalIds: [...inTeam, threadId(rooms.lobby, messages.welcome)], heal };
        }
        case "one_item":
          proxy.instead = (passed, response) =>
            passed.path.includes("/media/") && (refused?.(passed, response) ?? false);
          return { externalIds: [fileId(rooms.general, messages.file)], heal };
      }
    },
  };
}

/** Who is in the room now, and is shown the message there. Who was removed may be shown it still, by the app. */
export async function whoSees({ all }: World, externalId: string): Promise<string[]> {
  const { room = externalId, event } = parseId(externalId) ?? {};
  const seen: string[] = [];
  for (const person of all) {
    if (!(await person.rooms()).includes(room)) continue;
    if (event === undefined || (await person.mayRead(room, event))) seen.push(person.id);
  }
  return seen.sort();
}
