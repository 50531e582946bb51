import { pushItems } from "#server/connectors/push.ts";
import { describe, test } from "vitest";
import { interceptBatches, makePushServer } from "./push-harness.ts";
import { pushed } from "./server.ts";
import { verifies } from "../../requirements.ts";

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i).padStart(3, "0"));
const upserts = (from: number, to: number) => numbers(from, to).map((id) => pushed(id));

async function* bytesOf(...chunks: readonly (string | Error | (() => Promise<unknown>))[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk;
    if (typeof chunk === "string") yield new TextEncoder().encode(chunk);
    else await chunk();
  }
}
const textOf = (lines: readonly unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

describe("a stream of lines", () => {
  test("is read no faster than its results are taken", async ({ expect }) => {
    const kb = await makePushServer();
    let read = 0;
    async function* body() {
      for (const line of upserts(1, 900)) {
        read += 1;
        yield new TextEncoder().encode(`${JSON.stringify(line)}\n`);
      }
    }
    const results = await pushItems(kb.deps.connectorDeps, await kb.caller(), body(), {});
    await results.next();
    expect(read).toBeLessThan(300);
    let count = 0;
    for await (const slice of results) count += slice.length;
    expect([read, (await kb.living()).length]).toEqual([900, 900]);
    expect(count).toBeGreaterThan(600);
  });

  verifies("push:resumable", "that breaks off keeps what came whole, and says so", async ({ expect }) => {
    const kb = await makePushServer();
    const body = bytesOf(textOf(upserts(1, 3)), '{"t":"ups', new Error("socket hang up"));
    const found = [];
    for await (const slice of await pushItems(kb.deps.connectorDeps, await kb.caller(), body, {})) found.push(...slice);
    expect(found.map((each) => [each.line, each.result, each.error?.code])).toEqual([
      [1, "upserted", undefined],
      [2, "upserted", undefined],
      [3, "upserted", undefined],
      [4, "error", "push_cut"],
    ]);
    expect(await kb.living()).toEqual(["001", "002", "003"]);
  });

  test("whose reader is gone is no failure of the server", async ({ expect }) => {
    const kb = await makePushServer();
    const { key } = await kb.rotate(0);
    let [reach, goOn] = [() => {}, () => {}];
    const isReached = new Promise<void>((resolve) => (reach = resolve));
    const isTime = new Promise<void>((resolve) => (goOn = resolve));
    const pause = async () => [reach(), await isTime];
    const body = ReadableStream.from(bytesOf(textOf(upserts(1, 130)), pause, textOf(upserts(131, 200))));
    const answer = await kb.app.request(`/api/connectors/${kb.id}/items`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" },
      body,
      duplex: "half",
    });
    const reader = answer.body?.getReader();
    await reader?.read();
    await isReached;
    const gone = reader?.cancel();
    goOn();
    await gone;
    expect(kb.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  verifies(
    "push:key-overlap",
    "ends where its key ended or its connector was paused; what has a result stays",
    async ({ expect }) => {
      for (const act of ["rotate", "pause"] as const) {
        const kb = await makePushServer();
        const stop = () => (act === "rotate" ? kb.rotate(0) : kb.as(kb.owner).post(`/api/connectors/${kb.id}/pause`));
        const body = bytesOf(textOf(upserts(1, 100)), stop, textOf(upserts(101, 160)));
        const found = [];
        for await (const slice of await pushItems(kb.deps.connectorDeps, await kb.caller(), body, {}))
          found.push(...slice);
        const stored = found.filter((each) => each.result === "upserted").map((each) => each.externalId);
        expect(await kb.living()).toEqual(stored);
        expect(stored.length).toBeLessThan(160);
        expect(found.at(-1)).toMatchObject({
          result: "error",
          error: { code: act === "rotate" ? "unauthenticated" : "connector_state_conflict" },
        });
      }
    },
  );

  test("of two lines about one item the later one counts, however they are cut", async ({ expect }) => {
    const kb = await makePushServer();
    await kb.push([pushed("x", { version: "1", title: "One" })]);
    const filler = upserts(1, 120);
    const lines = [pushed("x", { version: "2", title: "Two" }), ...filler, pushed("x", { version: "1", title: "One" })];
    await kb.push(lines);
    await kb.push([pushed("y", { version: "2" }), { t: "delete", externalId: "y" }, { t: "seen", externalId: "y" }]);
    const rows = await kb.database.read
      .selectFrom("items")
      .select(["externalId", "title"])
      .where("externalId", "=", "x")
      .execute();
    expect(rows).toEqual([{ externalId: "x", title: "One" }]);
    expect(await kb.living()).not.toContain("y");
  });

  test("a line is told what the one just before it has made of its item, though that is still being stored", async ({
    expect,
  }) => {
    const kb = await makePushServer();
    await kb.push([pushed("x", { title: "One" })]);
    interceptBatches(kb.store, async (count) => {
      if (count === 1) await new Promise((resolve) => setTimeout(resolve, 100));
      return true;
    });
    const seen = { t: "seen", externalId: "x", version: "2" };
    const lines = [pushed("x", { version: "2", title: "Two" }), ...upserts(1, 60), seen, pushed("x", { title: "One" })];
    expect((await kb.results(lines)).slice(-2)).toEqual(["unchanged", "upserted"]);
    const { files } = (await kb.as(kb.owner).get("/api/connectors/all-files?q=One")).json;
    expect(files).toMatchObject([{ externalId: "x" }]);
  });

  test("has its results in the order of the lines, also where people stand between items", async ({ expect }) => {
    const kb = await makePushServer();
    const member = { t: "member", group: `group:${kb.id}:eng`, member: `user:${kb.member.userId}` };
    const results = await kb.push([pushed("a"), member, pushed("b"), member, { t: "delete", externalId: "a" }]);
    expect(results.map(({ line, result }) => [line, result])).toEqual([
      [1, "upserted"],
      [2, "upserted"],
      [3, "upserted"],
      [4, "unchanged"],
      [5, "removed"],
    ]);
  });

  test("that fails for no reason of the contract is no line of the answer: what went wrong stays here", async ({
    expect,
  }) => {
    const kb = await makePushServer();
    interceptBatches(kb.store, () => false);
    const results = await pushItems(kb.deps.connectorDeps, await kb.caller(), bytesOf(textOf(upserts(1, 3))), {});
    await expect(results.next()).rejects.toThrow("The disk is full.");
  });

  verifies("push:idempotent", "without versions an equal line changes nothing either", async ({ expect }) => {
    const kb = await makePushServer();
    const line = pushed("1", { version: undefined });
    expect(await kb.results([line])).toEqual(["upserted"]);
    const before = await kb.database.read.selectFrom("items").selectAll().execute();
    kb.clock.advance(60_000);
    expect(await kb.results([line])).toEqual(["unchanged"]);
    expect(await kb.database.read.selectFrom("items").selectAll().execute()).toEqual(before);
    expect(await kb.results([pushed("1", { version: undefined, text: "another" })])).toEqual(["upserted"]);
  });

  test("a seen line tells whether an item is stored in that version, and ends a hold", async ({ expect }) => {
    const kb = await makePushServer();
    await kb.push(upserts(1, 40));
    const seen = (externalId: string, version?: string) => ({ t: "seen", externalId, ...(version && { version }) });
    expect(await kb.results([seen("001"), seen("001", "1"), seen("001", "2"), seen("zzz")])).toEqual([
      "unchanged",
      "unchanged",
      "absent",
      "absent",
    ]);
    const deleted = await kb.results(numbers(1, 30).map((externalId) => ({ t: "delete", externalId })));
    expect(deleted.filter((result) => result === "held")).toHaveLength(10);
    await kb.push([seen("030"), pushed("029")]);
    const held = await kb.database.read.selectFrom("removals").selectAll().execute();
    expect(held).toHaveLength(8);
  });

  test("what is left out of a line is a note of its result", async ({ expect }) => {
    const kb = await makePushServer();
    const author = { name: "Mallory", principal: "user:github:api.github.com:583231" };
    const [url, person] = await kb.push([pushed("1", { url: "javascript:alert(1)" }), pushed("2", { author })]);
    expect(url?.notes).toEqual(["url was left out: only http and https are kept"]);
    expect(person?.notes).toEqual([expect.stringContaining("stored as claimed")]);
    const row = await kb.database.read
      .selectFrom("items")
      .select("author")
      .where("externalId", "=", "2")
      .executeTakeFirst();
    expect(JSON.parse(row?.author ?? "{}")).toMatchObject({ name: "Mallory", claimed: true });
    const identities = await kb.database.read.selectFrom("entities").select("identity").execute();
    expect(JSON.stringify(identities)).not.toContain("583231");
  });
});

describe("people and groups", () => {
  verifies(
    "push:people",
    "a member of a group of the connector reads its items from the next request on",
    async ({ expect }) => {
      const kb = await makePushServer();
      const group = `group:${kb.id}:eng`;
      const user = `user:push:${kb.id}:alice-17`;
      const member = `user:${kb.member.userId}`;
      await kb.push([
        pushed("a", { access: { known: true, all: [[group]] } }),
        pushed("b", { access: { known: true, all: [[user]] } }),
      ]);
      expect(await kb.readableBy(kb.member)).toEqual([]);
      expect(await kb.results([{ t: "member", group, member }])).toEqual(["upserted"]);
      expect(await kb.readableBy(kb.member)).toEqual(["a"]);
      expect(
        await kb.results([
          { t: "identity", principal: user, member },
          { t: "member", group, member },
        ]),
      ).toEqual(["upserted", "unchanged"]);
      expect([await kb.readableBy(kb.member), await kb.readableBy(kb.owner)]).toEqual([["a", "b"], []]);
      // A user of the pusher's system in a nested group.
      const all = `group:${kb.id}:all`;
      await kb.push([
        { t: "group", group: all, members: [user, `group:${kb.id}:nobody`] },
        { t: "acl", externalId: "a", access: { known: true, all: [[all]] } },
      ]);
      expect(await kb.readableBy(kb.member)).toEqual(["a", "b"]);
      expect(
        await kb.results([
          { t: "identity", principal: user, member: null },
          { t: "member", group, member, remove: true },
        ]),
      ).toEqual(["removed", "removed"]);
      expect(await kb.readableBy(kb.member)).toEqual([]);
      expect(await kb.results([{ t: "member", group, member, remove: true }])).toEqual(["absent"]);
      const { entries } = (await kb.as(kb.owner).get("/api/audit?action=connector.people_pushed")).json;
      expect(entries.length).toBeGreaterThanOrEqual(3);
      expect(entries[0].details).toMatchObject({ added: { count: 0 }, removed: { count: 1, ids: [member] } });
    },
  );

  test("a group or a user told as it is already changes nothing, and leaves no trace", async ({ expect }) => {
    const kb = await makePushServer();
    const [ann, group] = [`user:${kb.member.userId}`, `group:${kb.id}:eng`];
    const told = [
      { t: "group", group, members: [ann] },
      { t: "identity", principal: `user:push:${kb.id}:1`, member: ann },
    ];
    expect(await kb.results(told)).toEqual(["upserted", "upserted"]);
    expect(await kb.results(told)).toEqual(["unchanged", "unchanged"]);
    expect(await kb.results([{ ...told[0], members: [`user:${kb.admin.userId}`] }])).toEqual(["upserted"]);
    const { entries } = (await kb.as(kb.owner).get("/api/audit?action=connector.people_pushed")).json;
    expect(entries).toHaveLength(2);
  });

  verifies("push:authority", "nothing of another authority can be joined, filled or linked", async ({ expect }) => {
    const kb = await makePushServer();
    const me = `user:${kb.member.userId}`;
    const own = `group:${kb.id}:eng`;
    const foreign = [
      `group:connector:${kb.id}`,
      "group:connector:con_2222222222222222",
      "group:connection:cnx_2222222222222222",
      "group:con_2222222222222222:eng",
      "group:grp_2222222222222222",
      `${own} `,
      `group:${kb.id}:e%6Eg`,
      `group:${kb.id.toUpperCase()}:eng`,
      "workspace",
      "everyone",
      `user:push:${kb.id}:1`,
      "user:github:api.github.com:583231",
    ];
    const before = await kb.database.read.selectFrom("memberships").selectAll().execute();
    const lines = [
      ...foreign.flatMap((group) => [
        { t: "member", group, member: me },
        { t: "group", group, members: [me] },
      ]),
      ...[...foreign.filter((each) => !each.startsWith("user:push")), own, me].map((principal) => ({
        t: "identity",
        principal,
        member: me,
      })),
      { t: "identity", principal: `user:push:${kb.id}:1`, member: `user:${kb.stranger.userId}` },
      { t: "identity", principal: `user:push:${kb.id}:1`, member: own },
      { t: "member", group: own, member: `user:${kb.stranger.userId}` },
      { t: "member", group: own, member: "user:github:api.github.com:583231" },
      { t: "member", group: own, member: `group:connector:${kb.id}` },
      { t: "member", group: own, member: own },
    ];
    for (const result of await kb.push(lines)) {
      expect(result).toMatchObject({ result: "error", error: { code: "principal_not_allowed" } });
    }
    expect(await kb.database.read.selectFrom("memberships").selectAll().execute()).toEqual(before);
  });

  test("they end with the member and with the connector", async ({ expect }) => {
    const kb = await makePushServer();
    const group = `group:${kb.id}:eng`;
    await kb.push([{ t: "group", group, members: [`user:${kb.member.userId}`, `user:${kb.admin.userId}`] }]);
    const ours = () =>
      kb.database.read.selectFrom("memberships").select("memberPrincipal").where("reportedBy", "=", kb.id).execute();
    await kb.as(kb.owner).delete(`/api/workspace/members/${kb.member.userId}`);
    expect(await ours()).toEqual([{ memberPrincipal: `user:${kb.admin.userId}` }]);
    await kb.as(kb.owner).delete(`/api/connectors/${kb.id}`);
    expect(await ours()).toEqual([]);
  });
});
