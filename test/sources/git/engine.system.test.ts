import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeSourceRegistry } from "#sources/registry.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { NO_NETWORK } from "../../network.ts";
import { fakeExtractor } from "../../server/sync/harness.ts";
import { makeRepository, SEARCH_PATH } from "./fixture.ts";

/** The whole program over a repository of this machine. */
async function makeKb() {
  const repository = makeRepository();
  const dataFolder = join(repository.base, "kb");
  const sources = makeSourceRegistry({
    allowedRoots: async () => [repository.base],
    dataFolder,
    isOpenToStrangers: false,
    guard: NO_NETWORK,
    searchPath: SEARCH_PATH,
  });
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, { sources, extractor: fakeExtractor }),
  );
  const owner = await kb.addOwner();
  const { workspaceId } = owner;
  const files = async () => {
    const rows = await kb.database.read
      .selectFrom("items")
      .select(["externalId", "kbId"])
      .where("workspaceId", "=", workspaceId)
      .where("removedAt", "is", null)
      .execute();
    return new Map(rows.map(({ externalId, kbId }) => [externalId, kbId]));
  };
  return { ...kb, repository, dataFolder, owner, files, worker: kb.deps.worker };
}

test("a repository is connected by its path, synced, renamed in, read and forgotten", async () => {
  const kb = await makeKb();
  const { write, commit, root } = kb.repository;
  write("docs/guide.md", "The guide says hello.\n".repeat(40));
  write("notes.md", "notes");
  commit("First");
  const owner = kb.as(kb.owner);
  const body = { providerId: "git", name: "Code", config: { url: root }, access: { visibility: "workspace" } };
  const made = await owner.post("/api/connectors", body);
  expect([made.status, made.json.connector?.config]).toMatchObject([
    201,
    { url: root, commits: false, history: 10_000 },
  ]);
  await kb.worker.runUntilIdle();
  const before = await kb.files();
  expect([...before.keys()]).toEqual(["docs/guide.md", "notes.md"]);

  kb.repository.git("mv", "docs", "handbook");
  write("handbook/guide.md", `${"The guide says hello.\n".repeat(40)}And goodbye.`);
  commit("Rename");
  const { id } = made.json.connector;
  await owner.post(`/api/connectors/${id}/syncs`, {});
  await kb.worker.runUntilIdle();
  const after = await kb.files();
  expect(after.get("handbook/guide.md")).toBe(before.get("docs/guide.md"));
  expect([...after.keys()].toSorted()).toEqual(["handbook/guide.md", "notes.md"]);

  const original = await owner.get(`/api/connectors/files/${after.get("notes.md")}/content?original=true`);
  expect([original.status, original.text]).toEqual([200, "notes"]);
  const mirror = join(kb.dataFolder, "git", id);
  expect(existsSync(mirror)).toBe(true);
  await owner.delete(`/api/connectors/${id}`);
  await kb.worker.runUntilIdle();
  expect([existsSync(mirror), (await kb.files()).size]).toEqual([false, 0]);
});

test("a member connects no path and nothing without credentials; a bad one stores nothing", async () => {
  const kb = await makeKb();
  const member = kb.as(await kb.addMember(kb.owner.workspaceId, "member"));
  const create = (config: object, more: object = {}) =>
    member.post("/api/connectors", {
      providerId: "git",
      name: "x",
      config,
      access: { visibility: "private" },
      ...more,
    });
  const answers = [
    await create({ url: kb.repository.root }),
    await create({ url: kb.repository.root }, { credentials: { token: "kb-canary" } }),
    await create({ url: "https://code.test/a/b" }),
    await create({ url: "https://ana:kb-canary@code.test/a/b" }),
    await create({ url: "ext::sh" }, { credentials: { token: "kb-canary" } }),
  ];
  expect(answers.map(({ status, json }) => [status, json.code])).toEqual([
    [403, "forbidden"],
    [403, "forbidden"],
    [403, "forbidden"],
    [422, "connector_config_invalid"],
    [422, "connector_config_invalid"],
  ]);
  expect(answers.filter(({ text }) => text.includes("canary"))).toEqual([]);
  expect(await kb.database.read.selectFrom("connectors").selectAll().execute()).toEqual([]);
});
