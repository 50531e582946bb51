import { runsOf } from "#server/sync/run/run-session.ts";
import { ApiError } from "#api/errors.ts";
import { scripted } from "../scripted.ts";
import type { SourceCheck } from "./check.ts";
import type { KitEngine } from "./engine.ts";
import type { KitFixture } from "./fixture.ts";

export const engine: SourceCheck = {
  id: "engine",
  title:
    "in the server itself people read what they read at the remote, during the first run, before and after it changed, and no longer what is refused",
  async run(fixture) {
    // The whole server: loaded by the one check that wants it, so that programs which others start come from a small process.
    const { openEngine } = await import("./engine.ts");
    const { source, cut, wait } = makeCuttable(fixture.source);
    const server = await openEngine({ ...fixture, source });
    wait(true);
    await server.readPeople();
    await server.work();
    const faults = await tooManyFaults(fixture, server);
    wait(false);
    await server.pass(WAIT_MS);
    await server.readPeople();
    faults.push(...(await readerFaults(fixture, server, "After the first run")));
    faults.push(...(await strangerFaults(server)));
    const steps = [
      ["an access changed", fixture.changeAccess],
      ["an item moved", fixture.moveItem],
      ["someone left", fixture.removePerson],
    ] as const;
    for (const [what, change] of steps) {
      if (!change || faults.length > 0) continue;
      await change();
      await server.readPeople();
      await server.sync();
      faults.push(...(await readerFaults(fixture, server, `After ${what}`)));
    }
    if (faults.length > 0) return faults;
    if (fixture.source.spec.acl !== "connector") faults.push(...(await refusalFaults(fixture, server)));
    return [...faults, ...(await cutFaults(server, cut)), ...(await limitFaults(fixture, server))];
  },
};

const WAIT_MS = 3_600_000;

/** The source; what breaks its next listing off after so many events; and what makes it wait once something was handed over. */
function makeCuttable(source: KitFixture["source"]) {
  let left = Infinity;
  let isWaiting = false;
  const sessions = scripted(async function* (ctx, run) {
    let items = 0;
    for await (const event of runsOf(source)?.(ctx, run) ?? []) {
      if (left-- <= 0) throw new ApiError("source_unavailable", { message: "The listing broke off." });
      yield event;
      if (event.t === "upsert") items += 1;
      if (isWaiting && event.t === "checkpoint" && items > 0)
        throw new ApiError("source_rate_limited", { message: "Too many requests.", retryAfterMs: WAIT_MS });
    }
  });
  return {
    source: { ...source, ...(source.sessions && { sessions }) },
    cut: (after: number) => void (left = after),
    wait: (is: boolean) => void (isWaiting = is),
  };
}

/** While the first run is under way nobody reads more than at the remote, however little of it is known yet. */
async function tooManyFaults(fixture: KitFixture, server: KitEngine): Promise<string[]> {
  const faults: string[] = [];
  const people = new Set(((await fixture.people?.()) ?? []).map(({ id }) => id));
  for (const [externalId, readers] of await server.whoSeesEach()) {
    const there = new Set(await fixture.whoSees?.(externalId));
    const here = readers.filter((id) => people.has(id) && !there.has(id));
    if (fixture.whoSees && here.length > 0)
      faults.push(`During the first run ${here.join(", ")} can read ${externalId}, and not at the remote.`);
  }
  return faults.slice(0, 3);
}

/** Wherever a listing of everything breaks off, nothing goes. */
async function cutFaults(server: KitEngine, cut: (after: number) => void): Promise<string[]> {
  const before = await server.rows();
  const faults: string[] = [];
  for (const after of [0, Math.ceil(before.length / 2)]) {
    cut(after);
    await server.sync("full");
    cut(Infinity);
    const left = new Set((await server.rows()).map(({ externalId }) => externalId));
    const lost = before.filter(({ externalId }) => !left.has(externalId));
    if (lost.length > 0) faults.push(`A listing that broke off after ${after} events removed ${lost.length} items.`);
  }
  await server.sync("full");
  return faults;
}

/** What is refused is nobody's, until it is shown again. */
async function refusalFaults(fixture: KitFixture, server: KitEngine): Promise<string[]> {
  const failing = await fixture.fail?.("one_container");
  if (!failing) return [];
  const faults: string[] = [];
  await server.sync("full");
  for (const externalId of failing.externalIds) {
    const readers = await server.whoSees(externalId);
    if (readers.length > 0) faults.push(`${externalId} is refused, and ${readers.join(", ")} can read it.`);
  }
  await failing.heal();
  await server.sync("full");
  return [...faults, ...(await readerFaults(fixture, server, "After a refusal that is over"))];
}

/** A limit is waited for: nobody is asked to sign in again, and nothing is removed. */
async function limitFaults(fixture: KitFixture, server: KitEngine): Promise<string[]> {
  const failing = await fixture.fail?.("rate_limited");
  if (!failing) return [];
  const faults: string[] = [];
  const before = await server.rows();
  await server.sync("full");
  const { syncs } = (await server.kb.as(server.owner).get(`/api/connectors/${server.connectorId}/syncs`)).json;
  const run = syncs.find(({ mode }: { mode: string }) => mode !== "identities");
  const { state, problem } = await server.connector();
  if (run.state !== "waiting" || run.problem?.code !== "rate_limited")
    faults.push(`At a limit the run is ${run.state}, for ${run.problem?.code ?? "nothing"}.`);
  if (state !== "active" || problem)
    faults.push(`At a limit the connector is ${state}, for ${problem?.code ?? "nothing"}.`);
  const left = new Set((await server.rows()).map(({ externalId }) => externalId));
  const lost = before.filter(({ externalId }) => !left.has(externalId));
  if (lost.length > 0) faults.push(`A limit has removed ${lost.length} items.`);
  await failing.heal();
  return faults;
}

/** Somebody of another workspace of the same server finds and reads nothing. */
async function strangerFaults({ kb, rows }: KitEngine): Promise<string[]> {
  const stranger = await kb.addOwner();
  const { files } = (await kb.as(stranger).get("/api/connectors/all-files")).json;
  const found = (await kb.as(stranger).get("/api/connectors/search?after=1990-01-01&limit=50")).json;
  const stored = await rows();
  const open = await kb.deps.policy.mayRead(
    await kb.actor(stranger),
    stored.map(({ kbId }) => kbId),
  );
  return files.length + found.total + open.size === 0 ? [] : ["Someone of another workspace finds or reads items."];
}

async function readerFaults(fixture: KitFixture, server: KitEngine, what: string): Promise<string[]> {
  const faults: string[] = [];
  const rows = await server.rows();
  if (rows.length < fixture.minItems)
    return [`${what} ${rows.length} of at least ${fixture.minItems} items are stored.`];
  const people = new Set(((await fixture.people?.()) ?? []).map(({ id }) => id));
  const readers = await server.whoSeesEach();
  for (const { externalId } of rows) {
    if (!fixture.whoSees) {
      if (!(await server.isOpenToOwner(externalId))) faults.push(`${what} the owner can't read ${externalId}.`);
      continue;
    }
    const there = [...(await fixture.whoSees(externalId))].sort().join(", ");
    // Who left the remote is a member still, and reads what everybody reads.
    const here = (readers.get(externalId) ?? []).filter((id) => people.has(id)).join(", ");
    if (here !== there)
      faults.push(`${what} ${externalId} is for ${here || "nobody"}, and for ${there || "nobody"} at the remote.`);
  }
  return faults.slice(0, 3);
}
