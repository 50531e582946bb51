import { sql } from "kysely";
import { describe, test } from "vitest";
import { makePushServer } from "./push-harness.ts";
import { pushed } from "./server.ts";

/** A push connector of a member, with one item for its owner alone and one for a group that nobody is in. */
async function makeBoard() {
  const kb = await makePushServer();
  const other = await kb.addMember(kb.owner.workspaceId, "owner");
  const hr = `group:${kb.id}:hr`;
  await kb.push([
    pushed("board", { access: { known: true, all: [[`user:${kb.owner.userId}`]] } }),
    pushed("hr", { access: { known: true, all: [[hr]] } }),
  ]);
  const rotate = (user: typeof kb.owner) => kb.as(user).post(`/api/connectors/${kb.id}/rotate-key`, {});
  return { ...kb, other, hr, rotate };
}

describe("the key of a push connector", () => {
  test("is never given to an admin who does not own the connector, so no one makes themselves a reader", async ({
    expect,
  }) => {
    const kb = await makeBoard();
    for (const user of [kb.admin, kb.other]) {
      expect(await kb.rotate(user)).toMatchObject({ status: 200, json: { key: null } });
    }
    // The old one ended at once, without an overlap.
    const opened = [{ t: "acl", externalId: "board", access: { known: true, all: [["workspace"]] } }];
    expect(await kb.results(opened)).toEqual(["401 unauthenticated"]);
    expect([await kb.readableBy(kb.admin), await kb.readableBy(kb.other)]).toEqual([[], []]);
    const { connector } = (await kb.as(kb.owner).get(`/api/connectors/${kb.id}`)).json;
    expect(connector).toMatchObject({ hasKey: false, state: "active", stateReason: expect.stringContaining("admin") });
    expect((await kb.as(kb.owner).get("/api/audit?action=connector.key_revoked")).json.entries).toMatchObject([
      { actorUserId: kb.other.userId, details: { keys: 0 } },
      { actorUserId: kb.admin.userId, details: { keys: 1 } },
    ]);
  });

  test("leaves a trace of what it opens: which items, and to whom, without a name of the source", async ({
    expect,
  }) => {
    const kb = await makeBoard();
    await kb.push([
      { t: "acl", externalId: "board", access: { known: true, all: [["workspace"]] } },
      { t: "member", group: kb.hr, member: `user:${kb.member.userId}` },
    ]);
    const found = async (action: string) => (await kb.as(kb.owner).get(`/api/audit?action=${action}`)).json.entries;
    const [item] = (await kb.as(kb.member).get("/api/connectors/all-files?q=board")).json.files;
    const opened = await found("connector.access_pushed");
    expect(opened).toMatchObject([
      { targetId: kb.id, details: { changed: 1, openToWorkspace: 1, kbIds: [item.kbId] } },
    ]);
    const people = await found("connector.people_pushed");
    expect(people).toMatchObject([{ details: { added: { count: 1, ids: [`user:${kb.member.userId}`] } } }]);
    expect(JSON.stringify([opened, people])).not.toMatch(/board|:hr/);
  });

  test("leaves that trace whatever opens an item: a version of it, a document, or another parent", async ({
    expect,
  }) => {
    const kb = await makeBoard();
    const open = { known: true, all: [["workspace"]] };
    const found = async () => (await kb.as(kb.owner).get("/api/audit?action=connector.access_pushed")).json.entries;
    await kb.push([pushed("board", { access: open, version: "2", text: "Another text." })]);
    expect(await found()).toMatchObject([{ details: { changed: 1, openToWorkspace: 1 } }]);
    const form = new FormData();
    form.append(
      "line",
      JSON.stringify(pushed("hr", { access: open, version: "2", text: undefined, content: undefined })),
    );
    form.append("file", new File(["A text."], "hr.txt", { type: "text/plain" }));
    const request = new Response(form);
    const headers = { "content-type": request.headers.get("content-type") ?? "" };
    const sent = await kb.send("POST", "/documents", { raw: await request.text(), headers });
    expect(sent.json.result).toBe("upserted");
    expect(await found()).toMatchObject([{ details: { changed: 1, openToWorkspace: 1 } }, { details: { changed: 1 } }]);
    await kb.push([pushed("hr", { access: open, version: "3", parentId: "missing" })]);
    await kb.push([pushed("board", { access: open, version: "3", text: "A third text." })]);
    expect(await found()).toHaveLength(3);
  });

  test("says who was named before and is now, and whether that lets more people in", async ({ expect }) => {
    const kb = await makeBoard();
    const details = async () =>
      (await kb.as(kb.owner).get("/api/audit?action=connector.access_pushed")).json.entries[0].details;
    const [owner, member] = [`user:${kb.owner.userId}`, `user:${kb.member.userId}`];
    const acl = (...all: string[][]) => kb.push([{ t: "acl", externalId: "board", access: { known: true, all } }]);
    await acl([owner, member, `user:push:${kb.id}:7`]);
    expect(await details()).toMatchObject({
      isWidened: true,
      widened: 1,
      openToWorkspace: 0,
      before: { principals: [owner], others: 0 },
      after: { principals: [owner, member].sort(), others: 1 },
    });
    await acl([owner], [owner, member]);
    expect(await details()).toMatchObject({ isWidened: false, widened: 0, after: { others: 0 } });
    await acl(["workspace"]);
    await acl([owner]);
    expect(await details()).toMatchObject({ isWidened: false, before: { principals: ["workspace"] } });
    // Changed and changed back in one batch: what counts is what it comes to.
    const access = (...all: string[][]) => ({ t: "acl", externalId: "board", access: { known: true, all } });
    await kb.push([access(["workspace"]), access([owner])]);
    expect(await details()).toMatchObject({ isWidened: false, openToWorkspace: 0, after: { principals: [owner] } });
  });

  test("opens nothing without that trace: both are stored, or neither", async ({ expect }) => {
    const kb = await makeBoard();
    await sql`
      create trigger no_trace before insert on audit when new.action = 'connector.access_pushed'
      begin select raise(abort, 'the disk failed here'); end
    `.execute(kb.database.write);
    const opened = [{ t: "acl", externalId: "board", access: { known: true, all: [["workspace"]] } }];
    await kb.push(opened).catch(() => undefined);
    expect(await kb.readableBy(kb.member)).toEqual([]);
    await sql`drop trigger no_trace`.execute(kb.database.write);
    expect(await kb.results(opened)).toEqual(["upserted"]);
    expect(await kb.readableBy(kb.member)).toEqual(["board"]);
  });

  test("is made again by the connector's owner, who is then told nothing more", async ({ expect }) => {
    const kb = await makeBoard();
    await kb.rotate(kb.admin);
    await kb.rotate(kb.owner).then(({ json }) => kb.useKey(json.key));
    expect(await kb.results([pushed("new")])).toEqual(["upserted"]);
    const { connector } = (await kb.as(kb.owner).get(`/api/connectors/${kb.id}`)).json;
    expect(connector).toMatchObject({ hasKey: true, stateReason: null });
  });

  test("ends with its owner's membership; only the owner of the workspace takes the connector over", async ({
    expect,
  }) => {
    const kb = await makeBoard();
    await kb.as(kb.other).delete(`/api/workspace/members/${kb.owner.userId}`);
    const path = `/api/connectors/${kb.id}`;
    expect((await kb.as(kb.admin).get(path)).json.connector).toMatchObject({ state: "needs_owner", hasKey: false });
    expect((await kb.rotate(kb.admin)).status).toBe(403);
    const taken = await kb.rotate(kb.other);
    expect(taken.json.key).toMatch(/^kb_con_/);
    expect((await kb.as(kb.admin).get(path)).json.connector).toMatchObject({
      state: "active",
      owner: { id: kb.other.userId },
    });
    expect((await kb.as(kb.other).get("/api/audit?action=connector.taken_over")).json.entries).toHaveLength(1);
  });
});
