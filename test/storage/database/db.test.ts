import { join } from "node:path";
import { describe, test } from "vitest";
import { openDatabase } from "#storage/database/db.ts";
import { findSpawnEntry } from "#core/spawn.ts";
import { makeStore } from "#storage/records/store.ts";
import { openTestStore } from "../../helpers.ts";
import { tempDir } from "../../temp-dir.ts";
import { internIn } from "../access/intern.ts";

const workspace = (workspaceId: string) => ({ workspaceId, name: "Acme", timeZone: "UTC", createdAt: 1 });

describe("the database", () => {
  test("a transaction that throws leaves nothing behind", async ({ expect }) => {
    const { database, store } = await openTestStore();
    await database.write.insertInto("workspaces").values(workspace("wsp_1")).execute();
    await expect(
      store.transaction(async (tx) => {
        await tx.in("wsp_1").access.raiseEpoch();
        throw new Error("stop");
      }),
    ).rejects.toThrow("stop");
    expect(await store.in("wsp_1").access.epoch()).toBe(0);
  });

  test("a statement outside an open transaction waits for it and does not join it", async ({ expect }) => {
    const { database, store } = await openTestStore();
    await database.write.insertInto("workspaces").values(workspace("wsp_1")).execute();
    let outside: Promise<unknown> | undefined;
    await store
      .transaction(async (tx) => {
        await tx.in("wsp_1").access.raiseEpoch();
        outside = database.write.insertInto("workspaces").values(workspace("wsp_2")).execute();
        await new Promise((resolve) => setImmediate(resolve));
        throw new Error("stop");
      })
      .catch(() => undefined);
    await outside;
    const rows = await database.read.selectFrom("workspaces").select("workspaceId").orderBy("workspaceId").execute();
    expect(rows.map((row) => row.workspaceId)).toEqual(["wsp_1", "wsp_2"]);
  });

  test("a snapshot does not see what is committed after it began", async ({ expect }) => {
    const { database, store } = await openTestStore();
    await database.write.insertInto("workspaces").values(workspace("wsp_1")).execute();
    const seen = await store.snapshot(async (snapshot) => {
      const first = await snapshot.in("wsp_1").access.epoch();
      await store.in("wsp_1").access.raiseEpoch();
      return [first, await snapshot.in("wsp_1").access.epoch()];
    });
    expect(seen).toEqual([0, 0]);
    expect(await store.in("wsp_1").access.epoch()).toBe(1);
  });

  test("a database of a newer program is refused with what to do", async ({ expect }) => {
    const file = join(tempDir(), "kb.db");
    const database = await openDatabase({ file });
    await database.writer.request({
      type: "execute",
      sql: "insert into kysely_migration(name, timestamp) values ('9999-future', 'now')",
      parameters: [],
    });
    await database.close();
    await expect(openDatabase({ file })).rejects.toMatchObject({ code: "schema_too_new" });
  });

  test("a database is opened again as it was left", async ({ expect }) => {
    const file = join(tempDir(), "kb.db");
    const first = await openDatabase({ file });
    await first.write.insertInto("workspaces").values(workspace("wsp_1")).execute();
    await first.close();
    const again = await openDatabase({ file });
    expect(await again.read.selectFrom("workspaces").select("name").execute()).toEqual([{ name: "Acme" }]);
    await again.close();
  });

  test("the writer in its own thread gives the same answers", async ({ expect }) => {
    const database = await openDatabase({ file: join(tempDir(), "kb.db"), writerEntry: findSpawnEntry("writer") });
    const store = makeStore(database);
    await database.write.insertInto("workspaces").values(workspace("wsp_1")).execute();
    await Promise.all(Array.from({ length: 20 }, () => store.transaction((tx) => tx.in("wsp_1").access.raiseEpoch())));
    expect(await store.in("wsp_1").access.epoch()).toBe(20);
    await expect(database.write.insertInto("workspaces").values(workspace("wsp_1")).execute()).rejects.toThrow(
      /UNIQUE/,
    );
    await database.close();
  });
});

describe("accesses", () => {
  test("equal accesses get one number; no one is 0 and absorbs", async ({ expect }) => {
    const { database, store } = await openTestStore();
    await database.write.insertInto("workspaces").values(workspace("wsp_1")).execute();
    const { access } = store.in("wsp_1");
    const intern = (all: string[][], ...always: string[]) => internIn(database, "wsp_1", { known: true, all }, always);
    const a = intern([["user:b", "user:a"]], "group:connector:con_1");
    expect(intern([["user:a", "user:b", "user:a"]], "group:connector:con_1")).toBe(a);
    expect(intern([["group:connector:con_1"], ["user:b", "user:a"], ["user:a", "user:b"]])).toBe(a);
    expect(internIn(database, "wsp_1", { known: false }, ["workspace"])).toBe(0);
    expect(intern([], "workspace")).toBe(0);
    expect(intern([["workspace"], []])).toBe(0);
    expect(await access.visibleOf([a, 0], ["user:a"])).toEqual(new Set());
    expect(await access.visibleOf([a, 0], ["user:a", "group:connector:con_1"])).toEqual(new Set([a]));
  });

  test("memberships expand through groups of groups, and a loop ends", async ({ expect }) => {
    const { database, store } = await openTestStore();
    await database.write.insertInto("workspaces").values(workspace("wsp_1")).execute();
    const { access } = store.in("wsp_1");
    await access.setMembers("group:grp_a", ["user:usr_1"], "kb");
    await access.setMembers("group:grp_b", ["group:grp_a", "group:grp_c"], "kb");
    await access.setMembers("group:grp_c", ["group:grp_b"], "kb");
    expect(await access.expand(["user:usr_1"])).toEqual(["group:grp_a", "group:grp_b", "group:grp_c", "user:usr_1"]);
  });
});
