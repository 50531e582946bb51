import { describe, test } from "vitest";
import { z } from "zod";
import { seesLeftOut } from "#server/connectors/left-out.ts";
import { item } from "../sync/harness.ts";
import { FOLDER, makeConnectorServer } from "./server.ts";

const GENERATED = { reason: "generated", message: "A generated folder.", retryable: false } as const;
const SECRET = { reason: "excluded_by_policy", message: "Has canary-b in it.", retryable: false } as const;
const NAMELESS = { externalId: null, message: null };

const FROM_A_CONNECTION = {
  spec: { acl: "connector", auth: [{ type: "connection" }], config: z.object({}) },
};

/** A folder of an admin's that leaves out two things which are no items. */
async function makeLeftOut() {
  const kb = await makeConnectorServer();
  kb.world.skips = [
    { t: "skip", externalId: "canary-a/dist", ...GENERATED },
    { t: "skip", externalId: "canary-b/id_rsa", ...SECRET },
  ];
  const { connector } = (
    await kb.as(kb.admin).post("/api/connectors", { ...FOLDER, access: { visibility: "private" } })
  ).json;
  const { syncs, connectors } = kb.store.in(kb.owner.workspaceId);
  const sync = async (user = kb.admin) => {
    kb.clock.advance(1_000);
    await kb.as(user).post(`/api/connectors/${connector.id}/syncs`, { mode: "full" });
    await kb.worker.runUntilIdle();
    return (await syncs.list(connector.id, 1))[0]?.syncId ?? "";
  };
  const see = async (user: typeof kb.owner, syncId: string) =>
    (await kb.as(user).get(`/api/connectors/${connector.id}/syncs/${syncId}`)).json.sync;
  return { ...kb, id: connector.id as string, connectors, sync, see };
}

describe("what a sync left out, and stored nothing of", () => {
  test("is named to the owner of a folder, with the reason", async ({ expect }) => {
    const kb = await makeLeftOut();
    const { skips, counts } = await kb.see(kb.admin, await kb.sync());
    expect(skips).toEqual([
      { externalId: "canary-a/dist", ...GENERATED },
      { externalId: "canary-b/id_rsa", ...SECRET },
    ]);
    expect([counts.skipped, counts.reasons]).toEqual([2, { generated: 1, excluded_by_policy: 1 }]);
  });

  test("is a number with its reason for everyone else who manages the connector", async ({ expect }) => {
    const kb = await makeLeftOut();
    const syncId = await kb.sync();
    const { skips, counts } = await kb.see(kb.owner, syncId);
    expect(skips).toEqual([
      { ...GENERATED, ...NAMELESS },
      { ...SECRET, ...NAMELESS },
    ]);
    expect([counts.skipped, counts.reasons]).toEqual([2, { generated: 1, excluded_by_policy: 1 }]);
    for (const path of ["", "/syncs", `/syncs/${syncId}`]) {
      const { text } = await kb.as(kb.owner).get(`/api/connectors/${kb.id}${path}`);
      expect(text, path).not.toContain("canary");
    }
    expect((await kb.as(kb.member).get(`/api/connectors/${kb.id}/syncs/${syncId}`)).status).toBe(404);
  });

  test("stays under the permissions of the item that it is, or is in", async ({ expect }) => {
    const kb = await makeLeftOut();
    kb.world.items = [item("closed.zip", "words", { access: { known: false } }), item("open.zip", "words")];
    kb.world.skips = ["closed.zip", "closed.zip!//in.txt", "open.zip!//in.txt"].map((externalId) => ({
      t: "skip",
      externalId,
      ...SECRET,
    }));
    await kb.sync();
    const { skips } = await kb.see(kb.admin, await kb.sync());
    const named = skips.flatMap((skip: { externalId: string | null }) => skip.externalId ?? []);
    expect([skips.length, named]).toEqual([3, ["open.zip!//in.txt"]]);
  });

  test("is not named where the source has permissions of its own", async ({ expect }) => {
    const kb = await makeLeftOut();
    const syncId = await kb.sync();
    kb.world.acl = "per_item";
    expect((await kb.see(kb.admin, syncId)).skips).toMatchObject([NAMELESS, NAMELESS]);
  });

  test("is not named to who took the connector over since; of their own runs it is", async ({ expect }) => {
    const kb = await makeLeftOut();
    const before = await kb.sync();
    kb.clock.advance(1_000);
    await kb.connectors.update(kb.id, { state: "needs_owner" });
    expect((await kb.see(kb.admin, before)).skips).toMatchObject([NAMELESS, NAMELESS]);
    expect((await kb.as(kb.owner).patch(`/api/connectors/${kb.id}`, { takeOver: true })).status).toBe(200);
    expect((await kb.see(kb.owner, before)).skips).toMatchObject([NAMELESS, NAMELESS]);
    const after = await kb.sync(kb.owner);
    const named = [{ externalId: "canary-a/dist" }, { externalId: "canary-b/id_rsa" }];
    expect((await kb.see(kb.owner, after)).skips).toMatchObject(named);
    expect((await kb.see(kb.admin, after)).skips).toMatchObject([NAMELESS, NAMELESS]);
  });

  test("is not named to an owner who may not choose the folder any more", async ({ expect }) => {
    const kb = await makeLeftOut();
    const syncId = await kb.sync();
    const role = await kb.as(kb.owner).patch(`/api/workspace/members/${kb.admin.userId}`, { role: "member" });
    expect(role.status).toBe(200);
    expect((await kb.see(kb.admin, syncId)).skips).toMatchObject([NAMELESS, NAMELESS]);
  });

  test("is not named where it was read through a connection that a server's secret lends", async ({ expect }) => {
    const kb = await makeLeftOut();
    const syncId = await kb.sync();
    const workspace = kb.store.in(kb.owner.workspaceId);
    const [connector, sync] = [await workspace.connectors.find(kb.id), await workspace.syncs.find(syncId)];
    if (!connector || !sync) throw new Error("There is no run.");
    const asked = async (way: "server" | "oauth") => {
      const lent = { ...workspace, connections: { find: async () => ({ way }) } };
      const deps = {
        sources: { find: async () => FROM_A_CONNECTION },
        judgeAct: () => "yes",
      };
      const actor = { userId: kb.admin.userId };
      // Only what the rule asks of them.
      return seesLeftOut(deps as never, lent as never, actor as never, { ...connector, connectionId: "x" }, sync);
    };
    expect([await asked("server"), await asked("oauth")]).toEqual([false, true]);
  });
});
