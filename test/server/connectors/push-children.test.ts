import { describe, onTestFinished, test } from "vitest";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import type { TestServerOptions } from "../../helpers.ts";
import { interceptBatches, makePushServer } from "./push-harness.ts";
import { pushed } from "./server.ts";

const known = (...all: string[][]) => ({ known: true, all });
const OPEN = known(["workspace"]);
const NOBODY = { known: false };

async function makeFamily(options: TestServerOptions = {}) {
  const kb = await makePushServer(undefined, {}, options);
  const pool = makeSearchPool({ file: kb.database.file, size: 0 });
  onTestFinished(() => pool.close());
  const only = (who: "member" | "admin" | "owner") => known([`user:${kb[who].userId}`]);
  /** Pushes one item; `undefined` for an access that the line leaves out. */
  const put = async (externalId: string, parentId: string | undefined, access: unknown, more = {}) => {
    const [answer] = await kb.push([
      pushed(externalId, { ...(parentId !== undefined && { parentId }), access, ...more }),
    ]);
    if (!answer) throw new Error("A line without an answer.");
    return answer;
  };
  const acl = async (externalId: string, access: unknown) => (await kb.results([{ t: "acl", externalId, access }]))[0];
  const readers = async () => ({
    member: await kb.readableBy(kb.member),
    admin: await kb.readableBy(kb.admin),
  });
  const found = async (user: (typeof kb)["owner"], query: string) => {
    const { principals, epoch } = await kb.deps.policy.viewerOf(await kb.actor(user));
    const request = { workspaceId: user.workspaceId, viewer: { principals, epoch }, query, filters: {} };
    const { total, hits } = await pool.search({ ...request, order: "relevance", limit: 10 });
    return [total, hits.length];
  };
  return { ...kb, only, put, acl, readers, found };
}

describe("a pushed child with an access of its own", () => {
  test("is read by those whom its own access and its parent's let in, in search and in the records", async ({
    expect,
  }) => {
    const kb = await makeFamily();
    await kb.put("parent", undefined, OPEN);
    await kb.put("child", "parent", kb.only("member"), { text: "canary" });
    expect(await kb.readers()).toEqual({ member: ["child", "parent"], admin: ["parent"] });
    expect([await kb.found(kb.member, "canary"), await kb.found(kb.admin, "canary")]).toEqual([
      [1, 1],
      [0, 0],
    ]);
  });

  test("stays as narrow as it is when its parent comes later, or is widened", async ({ expect }) => {
    const kb = await makeFamily();
    const answer = await kb.put("child", "parent", kb.only("member"));
    expect(answer).toMatchObject({ result: "upserted", notes: [expect.stringContaining("parent_missing")] });
    expect(await kb.readers()).toEqual({ member: [], admin: [] });
    await kb.put("parent", undefined, kb.only("admin"));
    expect(await kb.readers()).toEqual({ member: [], admin: ["parent"] });
    expect(await kb.acl("parent", OPEN)).toBe("upserted");
    expect(await kb.readers()).toEqual({ member: ["child", "parent"], admin: ["parent"] });
  });

  test("follows no widening that is not its own; an acl line for it counts", async ({ expect }) => {
    const kb = await makeFamily();
    await kb.put("parent", undefined, OPEN);
    await kb.put("child", "parent", OPEN);
    for (const [access, readable] of [
      [kb.only("admin"), true],
      [NOBODY, false],
      [known([]), false],
      [OPEN, true],
    ] as const) {
      expect(await kb.acl("child", access)).toBe("upserted");
      expect((await kb.readers()).admin).toEqual(readable ? ["child", "parent"] : ["parent"]);
    }
    expect(await kb.acl("child", OPEN)).toBe("unchanged");
    // The same version with another access is none that is unchanged.
    expect((await kb.put("child", "parent", kb.only("member"))).result).toBe("upserted");
    expect(await kb.readers()).toEqual({ member: ["child", "parent"], admin: ["parent"] });
  });

  test("is not hidden from those whom a wider access lets in by a line that says nothing of it", async ({ expect }) => {
    const kb = await makeFamily();
    await kb.put("parent", undefined, kb.only("member"));
    await kb.put("child", "parent", OPEN);
    expect(await kb.readers()).toEqual({ member: ["child", "parent"], admin: [] });
    await kb.acl("parent", kb.only("admin"));
    expect(await kb.readers()).toEqual({ member: [], admin: ["child", "parent"] });
  });

  test("moves with its version unchanged: to another parent, and to none", async ({ expect }) => {
    const kb = await makeFamily();
    await kb.put("one", undefined, kb.only("member"));
    await kb.put("two", undefined, kb.only("admin"));
    await kb.put("child", "one", OPEN);
    await kb.put("grandchild", "child", undefined);
    expect((await kb.readers()).member).toEqual(["child", "grandchild", "one"]);
    expect((await kb.put("child", "two", OPEN)).result).toBe("upserted");
    expect(await kb.readers()).toEqual({ member: ["one"], admin: ["child", "grandchild", "two"] });
    expect((await kb.put("child", undefined, OPEN)).result).toBe("upserted");
    expect(await kb.readers()).toEqual({
      member: ["child", "grandchild", "one"],
      admin: ["child", "grandchild", "two"],
    });
  });
});

describe("a pushed child that names no access", () => {
  test("has its parent's, now and later; without a parent a line without access is refused", async ({ expect }) => {
    const kb = await makeFamily();
    await kb.put("parent", undefined, kb.only("member"));
    expect((await kb.put("child", "parent", undefined)).result).toBe("upserted");
    expect((await kb.readers()).member).toEqual(["child", "parent"]);
    await kb.acl("parent", kb.only("admin"));
    expect((await kb.readers()).admin).toEqual(["child", "parent"]);
    // An access of its own, and none again.
    await kb.acl("child", kb.only("member"));
    expect((await kb.readers()).admin).toEqual(["parent"]);
    expect((await kb.put("child", "parent", undefined)).result).toBe("upserted");
    expect((await kb.readers()).admin).toEqual(["child", "parent"]);
    expect((await kb.put("child", "parent", undefined)).result).toBe("unchanged");
    const refused = await kb.put("orphan", undefined, undefined);
    expect(refused).toMatchObject({ result: "error", error: { message: expect.stringContaining("access") } });
  });

  test("is no one's while its parent is not stored, removed, or no one's, and the answer says so", async ({
    expect,
  }) => {
    const kb = await makeFamily();
    const missing = await kb.put("child", "parent", undefined);
    expect(missing.notes).toEqual(['parent_missing: no one may read it for now: its parent "parent" is not stored']);
    const { json: before } = await kb.as(kb.owner).get(`/api/connectors/${kb.id}`);
    expect(before.connector.counts).toMatchObject({ parentMissing: 1, awaitingPush: 0 });
    await kb.put("parent", undefined, NOBODY);
    expect((await kb.put("child", "parent", undefined)).notes).toEqual([expect.stringContaining("parent_missing")]);
    expect(await kb.readers()).toEqual({ member: [], admin: [] });
    await kb.put("parent", undefined, OPEN);
    expect((await kb.readers()).member).toEqual(["child", "parent"]);
    const { json: after } = await kb.as(kb.owner).get(`/api/connectors/${kb.id}`);
    expect(after.connector.counts).toMatchObject({ parentMissing: 0, unsearchable: 0 });
  });

  test("is stored again when it is sent after its parent was removed, with the version it had", async ({ expect }) => {
    const kb = await makeFamily();
    const parent = pushed("parent", { access: OPEN, version: "1" });
    const child = pushed("child", { parentId: "parent", access: undefined, version: "1" });
    await kb.push([parent, child]);
    const removal = { t: "delete", externalId: "parent" };
    expect(await kb.results([removal, parent, child])).toEqual(["removed", "upserted", "upserted"]);
    expect((await kb.readers()).member).toEqual(["child", "parent"]);
    // Lines that are stored at once are told the same of what another slice of the request removes.
    const more = Array.from({ length: 600 }, (_, at) => ({ t: "seen", externalId: `none-${at}` }));
    expect((await kb.results([...more, removal, ...more, parent, child])).slice(-2)).toEqual(["upserted", "upserted"]);
    expect(await kb.results([removal, { t: "seen", externalId: "child", version: "1" }])).toEqual([
      "removed",
      "absent",
    ]);
    expect(await kb.living()).toEqual([]);
  });

  test("that a set keeps while it drops the parent is no one's, until the parent is there again", async ({
    expect,
  }) => {
    const kb = await makeFamily();
    await kb.put("parent", undefined, OPEN);
    await kb.put("child", "parent", undefined);
    const set = await kb.begin({ mode: "set" });
    await kb.push([{ t: "seen", externalId: "child" }], `?upload=${set.id}&firstLine=1`);
    await kb.end(set.id, 1);
    expect(await kb.living()).toEqual(["child"]);
    expect((await kb.readers()).member).toEqual([]);
    await kb.put("parent", undefined, OPEN);
    expect((await kb.readers()).member).toEqual(["child", "parent"]);
  });
});

describe("a version that another push replaces at the same time", () => {
  test("is opened by its own access only, never by that of the version before", async ({ expect }) => {
    const kb = await makeFamily();
    await kb.put("a", undefined, OPEN, { version: "1", text: "harmless" });
    let isDone = false;
    interceptBatches(kb.store, async () => {
      if (isDone) return true;
      isDone = true;
      await kb.put("a", undefined, kb.only("member"), { version: "2", text: "canary" });
      return true;
    });
    // Planned against version 1, of which only the access is news; it comes to be stored after version 2.
    expect(
      (await kb.put("a", undefined, known(["workspace", "everyone"]), { version: "1", text: "harmless" })).result,
    ).toBe("upserted");
    expect(await kb.found(kb.admin, "canary")).toEqual([0, 0]);
    expect(await kb.found(kb.admin, "harmless")).toEqual([1, 1]);
  });

  test("keeps the parent that its access was meant for", async ({ expect }) => {
    const kb = await makeFamily();
    await kb.put("top", undefined, kb.only("member"));
    await kb.put("a", "top", kb.only("owner"), { version: "1" });
    let isDone = false;
    interceptBatches(kb.store, async () => {
      if (isDone) return true;
      isDone = true;
      await kb.put("a", undefined, kb.only("owner"), { version: "1" });
      return true;
    });
    await kb.put("a", "top", OPEN, { version: "1" });
    expect(await kb.readers()).toEqual({ member: ["a", "top"], admin: [] });
  });
});

describe("children of children", () => {
  test("in a circle are no one's, and someone's again when it is cut", async ({ expect }) => {
    const kb = await makeFamily();
    await kb.put("a", undefined, OPEN);
    await kb.put("b", "a", undefined);
    await kb.put("c", "b", undefined);
    expect((await kb.put("a", "c", OPEN)).notes).toEqual([expect.stringContaining("cycle")]);
    expect((await kb.readers()).member).toEqual([]);
    await kb.put("self", "self", OPEN);
    expect((await kb.readers()).member).toEqual([]);
    await kb.put("b", undefined, OPEN);
    expect((await kb.readers()).member).toEqual(["a", "b", "c"]);
  });

  test("are no one's more than 16 below the first, whichever way the chain grew", async ({ expect }) => {
    const kb = await makeFamily();
    const name = (depth: number) => `d${String(depth).padStart(2, "0")}`;
    const chain = Array.from({ length: 20 }, (_, depth) => name(depth));
    const [first = "", ...rest] = chain;
    await kb.push([pushed(first), ...rest.map((id, at) => pushed(id, { parentId: chain[at], access: undefined }))]);
    expect((await kb.readers()).member).toEqual(chain.slice(0, 17));
    await kb.put("root", undefined, OPEN);
    const answer = await kb.put(first, "root", OPEN);
    expect(answer.notes).toBeUndefined();
    expect((await kb.readers()).member).toEqual([...chain.slice(0, 16), "root"]);
    expect((await kb.put("d18", "d17", undefined)).notes).toEqual([expect.stringContaining("parent_missing")]);
  });
});

describe("pushed children of whom there are many", () => {
  test("are no one's at once in every answer when their parent's access changes, until theirs is computed", async ({
    expect,
  }) => {
    const kb = await makeFamily({ inline: { settledAtOnce: 3, hasUpkeep: false } });
    const author = { name: "Anna Keller", email: "anna@acme.test" };
    await kb.put("parent", undefined, OPEN, { text: "canary" });
    const ids = ["1", "2", "3", "4"];
    await kb.push(ids.map((id) => pushed(id, { parentId: "parent", access: undefined, text: "canary", author })));
    const rows = await kb.database.read.selectFrom("items").select("kbId").where("externalId", "=", "2").execute();
    const kbId = rows[0]?.kbId ?? "";
    const sees = async (user: (typeof kb)["owner"]) => {
      const get = async (path: string) => (await kb.as(user).get(path)).json;
      const { status } = await kb.as(user).get(`/api/connectors/files/${kbId}`);
      const counts: { indexed: number; unsearchable: number }[] = (await get("/api/connectors/file-counts-by-source"))
        .counts;
      return {
        item: status,
        listed: (await get("/api/connectors/all-files")).files.length,
        counted: counts.reduce((sum, { indexed, unsearchable }) => sum + indexed + unsearchable, 0),
        people: (await get("/api/entities?q=anna")).entities.length,
        found: await kb.found(user, "canary"),
        permalink: (await kb.as(user).get(`/api/connectors/files/${encodeURIComponent(`/i/${kbId}`)}/content`)).status,
      };
    };
    const all = { item: 200, listed: 5, counted: 5, people: 1, found: [5, 5], permalink: 200 };
    const none = { item: 404, listed: 1, counted: 1, people: 0, found: [1, 1], permalink: 404 };
    const nothing = { ...none, listed: 0, counted: 0, found: [0, 0] };
    expect(await sees(kb.admin)).toEqual(all);
    expect(await kb.acl("parent", kb.only("admin"))).toBe("upserted");
    expect([await sees(kb.admin), await sees(kb.member)]).toEqual([none, nothing]);
    const { json } = await kb.as(kb.owner).get(`/api/connectors/${kb.id}`);
    expect(json.connector.counts).toMatchObject({ parentMissing: 0 });
    // Anyone who may not read them under the new access never does in between.
    while (await kb.database.writer.call<boolean>("settleWithheld", { items: 1 })) {
      expect(await sees(kb.member)).toEqual(nothing);
    }
    expect([await sees(kb.admin), await sees(kb.member)]).toEqual([all, nothing]);
  });
});
