import { describe, test, vi } from "vitest";
import { startServer, type LeakServer } from "./build.ts";
import { compareWorlds, countLeaks } from "./compare.ts";
import { addConnections, connection, readThrough, SERVERS } from "./connections.ts";
import { makeRandom, mayRead, userIdOf, type Model, type ModelConnection, type Persona, type Random } from "./model.ts";
import { answersTo, keepParts } from "./oracle.ts";
import { makeModel, withHidden } from "./worlds.ts";

// A shared machine may take its time.
vi.setConfig({ testTimeout: 300_000 });

const ASKING: readonly Persona[] = ["owner", "inside", "outside"];
const NOTES = SERVERS[0].serverId;

interface Size {
  /** What happens to connections in one history. */
  steps: number;
  /** Histories, each of a world of its own. */
  seeds: readonly number[];
  /** Whose two worlds are compared. */
  personas: readonly Persona[];
}

/** What can happen to a connection; nothing for one that has ended. */
const ACTS = ["share", "lose", "disconnect", "connectAgain"] as const;

function isAble({ status }: ModelConnection, what: (typeof ACTS)[number]): boolean {
  if (what === "connectAgain") return true;
  return what === "lose" ? status === "active" : status !== "revoked";
}

/** Does it as people do it, and says the same of the model. */
async function act(
  server: LeakServer,
  random: Random,
  one: ModelConnection,
  what: (typeof ACTS)[number],
): Promise<void> {
  const at = `/api/mcp-servers/${NOTES}/connections`;
  const owner = server.clients[one.owner];
  const change = (patch: Partial<ModelConnection>) => {
    const connections = server.model.connections.map((each) => (each === one ? { ...each, ...patch } : each));
    server.model = { ...server.model, connections };
  };
  const must = ({ status, text }: { status: number; text: string }) => {
    if (status >= 300) throw new Error(`${what} answered ${status}: ${text}`);
  };
  if (what === "connectAgain") return connectAgain(server, random, one);
  if (what === "share") {
    const visibility = random.pick(["private", "members", "workspace"] as const);
    const members = visibility === "members" ? [random.pick(ASKING)] : [];
    const body = { visibility, memberIds: members.map(userIdOf) };
    must(await owner.patch(`${at}/${one.connectionId}/access`, body));
    return change({ visibility, members });
  }
  if (what === "lose") {
    server.others.refuse(one);
    must(await owner.get("/api/connectors/search?query=ledger&live=true"));
    return change({ status: "needs_reauth" });
  }
  const who = random.chance(0.5) ? owner : server.clients.owner;
  must(await who.delete(`${at}/${one.connectionId}`));
  change({ status: "revoked" });
  await server.settle();
}

/** The same person connects with another account: a connection of its own, with what is read through it. */
async function connectAgain(server: LeakServer, random: Random, one: ModelConnection): Promise<void> {
  const name = one.name.startsWith("hidden") ? "hidden again" : "again";
  const fresh = connection(`${name} ${random.int(1e9)}`, one.owner);
  const { status, json, text } = await server.clients[one.owner].post(`/api/mcp-servers/${NOTES}/connections`, {
    app: SERVERS[0].slug,
    name: fresh.name,
    credentials: { token: server.others.tokenOf(fresh) },
  });
  if (status !== 201) throw new Error(text);
  const added = { ...fresh, connectionId: json.connection.id as string };
  const model: Model = {
    ...server.model,
    connectors: [...server.model.connectors],
    connections: [...server.model.connections, added],
  };
  const items = readThrough(model, added, random, 2);
  server.model = { ...model, items: [...model.items, ...items] };
  const [where] = model.connectors.slice(-1);
  if (where) await server.add(where);
}

/** What a live search gives, and what it should: the words that the server has for each connection of theirs. */
async function liveOf(server: LeakServer, persona: Persona): Promise<{ shown: string[]; expected: string[] }> {
  const { live } = (await server.clients[persona].get("/api/connectors/search?query=ledger&live=true")).json;
  const titles = live.hits.map(({ title }: { title: string }) => title);
  const asked = live.connections.map(({ connectionId }: { connectionId: string }) => connectionId);
  const own = server.model.connections.filter(({ owner, status }) => owner === persona && status === "active");
  return {
    shown: [...titles, ...asked].sort(),
    expected: own.flatMap(({ liveCanary, connectionId }) => [`Live ${liveCanary}`, connectionId]).sort(),
  };
}

/** Plays a history; gives what somebody was shown that they may not see, or was not shown. */
async function playConnections(seed: number, steps: number): Promise<string[]> {
  const { plant, parts } = keepParts();
  const server = await startServer(addConnections(makeModel(seed, 12)), plant);
  const random = makeRandom(seed ^ 0x11_ee);
  const faults: string[] = [];
  const check = async (what: string) => {
    for (const persona of ASKING) {
      const { leaks } = await countLeaks(server, [persona], { seed, rounds: 1, isShort: true });
      faults.push(...leaks.map((leak) => `${what}: ${leak}`));
      const { shown, expected } = await liveOf(server, persona);
      if (shown.join() !== expected.join()) faults.push(`${what}: ${persona} found ${shown.join()} live`);
      const { answers, expected: wanted } = await answersTo(server, parts(), persona);
      if (JSON.stringify(answers) !== JSON.stringify(wanted)) faults.push(`${what}: ${persona} got other items`);
    }
  };
  await check("at first");
  for (let step = 0; step < steps && faults.length === 0; step++) {
    // Each once, then any.
    const what = ACTS[step] ?? random.pick([...ACTS, "share", "share"] as const);
    const whose = server.model.connections.filter(({ owner }) => owner === "inside" || owner === "outside");
    const able = whose.filter((each) => isAble(each, what));
    if (able.length === 0) continue;
    const one = random.pick(able);
    await act(server, random, one, what);
    await check(`${step}, ${what} of ${one.name}`);
  }
  return faults;
}

export function describeConnections({ steps, seeds, personas }: Size): void {
  describe("what is read through connections", () => {
    test.for(seeds)(
      "is shown to those who see it at each moment of history %i, and live to its owner alone",
      async (seed, { expect }) => {
        expect(await playConnections(seed, steps)).toEqual([]);
      },
    );

    test.for(personas)(
      "%s sees nothing of what happens to connections that are hidden from them",
      async (persona, { expect }) => {
        const model = addConnections(makeModel(7 + persona.length, 8));
        const worlds = [await startServer(model), await startServer(withHidden(model, persona, 8))] as const;
        const [, grown] = worlds;
        const random = makeRandom(persona.length);
        for (let step = 0; step < steps; step++) {
          const hidden = grown.model.connections.filter(({ name }) => name.startsWith("hidden"));
          const one = random.pick(hidden);
          const before = grown.model;
          await actHidden(grown, random, one, persona);
          const seen = (of: Model) => of.items.filter((item) => mayRead(of, persona, item)).map(({ kbId }) => kbId);
          expect(seen(grown.model)).toEqual(seen(before));
        }
        const report = await compareWorlds(worlds, persona, { seed: 11, rounds: 1 });
        expect(report.differences).toEqual([]);
        expect(report.asked).toBeGreaterThan(50);
      },
    );
  });
}

/** Anything that leaves the connection hidden from this person. */
async function actHidden(server: LeakServer, random: Random, one: ModelConnection, persona: Persona): Promise<void> {
  const what = random.pick(ACTS);
  if (!isAble(one, what)) return;
  if (what === "share") {
    const members = random.some(
      ASKING.filter((other) => other !== persona),
      2,
    );
    const body = { visibility: "members", memberIds: members.map(userIdOf) };
    const path = `/api/mcp-servers/${NOTES}/connections/${one.connectionId}/access`;
    const { status, text } = await server.clients[one.owner].patch(path, body);
    if (status >= 300) throw new Error(text);
    return;
  }
  await act(server, random, one, what);
}
