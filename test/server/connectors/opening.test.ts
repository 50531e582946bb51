import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeSourceRegistry } from "#sources/registry.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { NO_NETWORK } from "../../network.ts";
import { makeFolder } from "../../sources/filesystem/fixture.ts";
import { fakeExtractor } from "../sync/harness.ts";

/** A private connector on a real folder of which others of the machine may read only `open.md`. */
async function makePrivateFolder(closed: readonly string[]) {
  const folder = makeFolder();
  for (const rel of ["open.md", ...closed]) folder.write(rel);
  for (const rel of closed) chmodSync(join(folder.root, rel.includes("/") ? (rel.split("/")[0] ?? "") : rel), 0o700);
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, {
      extractor: fakeExtractor,
      sources: makeSourceRegistry({
        allowedRoots: async () => [folder.root],
        dataFolder: join(folder.base, "data"),
        isOpenToStrangers: false,
        guard: NO_NETWORK,
        searchPath: "",
      }),
    }),
  );
  const owner = await kb.addOwner();
  const member = await kb.addMember(owner.workspaceId, "member");
  const created = await kb.as(owner).post("/api/connectors", {
    providerId: "filesystem",
    name: "Mine",
    config: { root: folder.root },
    access: { visibility: "private" },
  });
  const { id } = created.json.connector;
  await kb.deps.worker.runUntilIdle();
  const seenBy = async (user: typeof owner) => {
    const { json } = await kb.as(user).get("/api/connectors/all-files?limit=200");
    return (json.files as { externalId: string }[]).map((file) => file.externalId).toSorted();
  };
  const change = async (body: object) =>
    expect((await kb.as(owner).patch(`/api/connectors/${id}`, body)).status).toBe(200);
  return { folder, kb, owner, member, seenBy, change, run: () => kb.deps.worker.runUntilIdle() };
}

test("a private folder that is opened shows no one a file that the machine keeps from others", async () => {
  const { owner, member, seenBy, change, run } = await makePrivateFolder(["key.md", "room/a.md"]);
  expect(await seenBy(owner)).toEqual(["key.md", "open.md", "room/a.md"]);
  await change({ access: { visibility: "workspace" } });
  // Before any run, and after the one that it asked for.
  expect(await seenBy(member)).toEqual(["open.md"]);
  await run();
  expect([await seenBy(member), await seenBy(owner)]).toEqual([["open.md"], ["open.md"]]);
});

test("what the guard holds back from removal stays with its owner", async () => {
  const closed = Array.from({ length: 30 }, (_, n) => `key${n}.md`);
  const { owner, member, seenBy, change, run } = await makePrivateFolder(closed);
  await change({ access: { visibility: "workspace" } });
  await run();
  expect(await seenBy(owner)).toHaveLength(31);
  expect(await seenBy(member)).toEqual(["open.md"]);
});

/** A folder that was opened and read, whose owner has left; another owner of the workspace can take it over. */
async function makeLeftFolder() {
  const closed = Array.from({ length: 30 }, (_, n) => `key${n}.md`);
  const folder = await makePrivateFolder(closed);
  const { kb, owner, change, run } = folder;
  await change({ access: { visibility: "workspace" } });
  await run();
  const [{ id }] = (await kb.as(owner).get("/api/connectors")).json.connectors;
  const other = await kb.addMember(owner.workspaceId, "owner");
  expect((await kb.as(other).delete(`/api/workspace/members/${owner.userId}`)).status).toBe(204);
  return {
    ...folder,
    async takeOver() {
      expect((await kb.as(other).patch(`/api/connectors/${id}`, { takeOver: true })).status).toBe(200);
    },
    async comeBack() {
      await kb.store.transaction((tx) =>
        tx.in(owner.workspaceId).members.insert({ userId: owner.userId, role: "admin", joinedAt: 0 }),
      );
      return kb.signIn(owner);
    },
  };
}

test("an owner who left and comes back reads nothing that was theirs alone", async () => {
  const { member, seenBy, comeBack, takeOver, run } = await makeLeftFolder();
  const back = await comeBack();
  expect([await seenBy(back), await seenBy(member)]).toEqual([[], ["open.md"]]);
  await takeOver();
  // Before the run of the new owner, and after it.
  expect(await seenBy(back)).not.toContain("key0.md");
  await run();
  expect([await seenBy(back), await seenBy(member)]).toEqual([["open.md"], ["open.md"]]);
});

test("nor does one who comes back between a take-over and the first run of the new owner", async () => {
  const { member, seenBy, comeBack, takeOver, run } = await makeLeftFolder();
  await takeOver();
  expect(await seenBy(member)).toEqual(["open.md"]);
  const back = await comeBack();
  expect([await seenBy(back), await seenBy(member)]).toEqual([[], ["open.md"]]);
  await run();
  expect([await seenBy(back), await seenBy(member)]).toEqual([["open.md"], ["open.md"]]);
});

test("with includeRestricted they are opened by the run, and closed files of a later day are its owner's again", async () => {
  const { folder, member, owner, seenBy, change, run } = await makePrivateFolder(["key.md"]);
  await change({ access: { visibility: "workspace" }, config: { root: folder.root, includeRestricted: true } });
  expect(await seenBy(member)).toEqual(["open.md"]);
  await run();
  expect(await seenBy(member)).toEqual(["key.md", "open.md"]);
  await change({ access: { visibility: "private" } });
  expect([await seenBy(member), await seenBy(owner)]).toEqual([[], ["key.md", "open.md"]]);
});

test("a change of rights alone is found by the next run", async () => {
  const { folder, owner, member, seenBy, change, run, kb } = await makePrivateFolder([]);
  folder.write("late.md");
  const [{ id }] = (await kb.as(owner).get("/api/connectors")).json.connectors;
  const sync = async () => {
    await kb.as(owner).post(`/api/connectors/${id}/syncs`, {});
    await run();
  };
  await sync();
  chmodSync(join(folder.root, "late.md"), 0o600);
  await sync();
  await change({ access: { visibility: "workspace" } });
  expect(await seenBy(member)).toEqual(["open.md"]);
});
