import type { SourceCheck } from "./check.ts";
import type { KitEngine } from "./engine.ts";
import type { KitFixture } from "./fixture.ts";

export const engine: SourceCheck = {
  id: "engine",
  title:
    "in the server itself people read what they read at the remote, before and after it changed, and no longer what is refused",
  async run(fixture) {
    // The whole server: loaded by the one check that wants it, so that programs which others start come from a small process.
    const { openEngine } = await import("./engine.ts");
    const server = await openEngine(fixture);
    await server.readPeople();
    await server.work();
    const faults = await readerFaults(fixture, server, "After the first run");
    const steps = [
      ["an access changed", fixture.changeAccess],
      ["an item moved", fixture.moveItem],
      ["somebody left", fixture.removePerson],
    ] as const;
    for (const [what, change] of steps) {
      if (!change || faults.length > 0) continue;
      await change();
      await server.readPeople();
      await server.sync();
      faults.push(...(await readerFaults(fixture, server, `After ${what}`)));
    }
    const failing = await fixture.fail?.("one_container");
    if (!failing || faults.length > 0 || fixture.source.spec.acl === "connector") return faults;
    await server.sync("full");
    for (const externalId of failing.externalIds) {
      const readers = await server.whoSees(externalId);
      if (readers.length > 0) faults.push(`${externalId} is refused, and ${readers.join(", ")} can read it.`);
    }
    await failing.heal();
    await server.sync("full");
    return [...faults, ...(await readerFaults(fixture, server, "After a refusal that is over"))];
  },
};

async function readerFaults(fixture: KitFixture, server: KitEngine, what: string): Promise<string[]> {
  const faults: string[] = [];
  const rows = await server.rows();
  if (rows.length < fixture.minItems)
    return [`${what} ${rows.length} of at least ${fixture.minItems} items are stored.`];
  const people = new Set(((await fixture.people?.()) ?? []).map(({ id }) => id));
  for (const { externalId } of rows) {
    if (!fixture.whoSees) {
      if (!(await server.isOpenToOwner(externalId))) faults.push(`${what} the owner can't read ${externalId}.`);
      continue;
    }
    const there = [...(await fixture.whoSees(externalId))].sort().join(", ");
    // Who left the remote is a member still, and reads what everybody reads.
    const here = (await server.whoSees(externalId)).filter((id) => people.has(id)).join(", ");
    if (here !== there)
      faults.push(`${what} ${externalId} is for ${here || "nobody"}, and for ${there || "nobody"} at the remote.`);
  }
  return faults.slice(0, 3);
}
