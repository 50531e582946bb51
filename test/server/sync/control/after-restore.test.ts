/** What becomes of what is stored when the data is a copy of before; how that is noticed: `storage/folder-mark.test.ts`. */
import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { upsert } from "../harness.ts";
import { HOUR_MS, listed, makeMirror, OPEN } from "../mirror.ts";
import { BASE_URL, makeForge, openTo, person, WHOLE } from "../people/forge.ts";

const UNREACHABLE = () => {
  throw new ApiError("source_unavailable", { message: "The forge can't be reached." });
};

describe("restored data", () => {
  test("shows what is mirrored once it was read again, whatever its clocks and its feed say", async ({ expect }) => {
    const cursors: unknown[] = [];
    const kb = await makeMirror(
      (run) => {
        cursors.push(run.cursor);
        const told = { t: "checkpoint", cursor: { told: cursors.length } } as const;
        return [...listed("a", "b")].toSpliced(2, 0, told);
      },
      ["workspace"],
      { freshness: "feed" },
    );
    await kb.work();
    expect([await kb.readable(), cursors]).toEqual([["a", "b"], [null]]);
    kb.kb.clock.advance(HOUR_MS);
    await kb.kb.deps.invalidateEverything();
    expect(await kb.readable()).toEqual([]);
    // `b` is hidden by now, and the source tells of it no more.
    kb.world.script = (run) => {
      cursors.push(run.cursor);
      return [upsert("a", "text of a", { access: OPEN }), { t: "end", listing: "partial", permissions: "current" }];
    };
    await kb.work();
    expect([kb.world.runs, cursors]).toEqual([
      ["full", "full"],
      [null, null],
    ]);
    expect(await kb.readable()).toEqual(["a"]);
    kb.world.script = () => listed("a", "b");
    await kb.sync();
    expect(await kb.readable()).toEqual(["a", "b"]);
  });

  test("stays readable where kb says who may read, and is read from the beginning", async ({ expect }) => {
    const cursors: unknown[] = [];
    const script = ({ cursor }: { cursor: unknown }) => {
      cursors.push(cursor);
      return [...listed("a")].toSpliced(1, 0, { t: "checkpoint", cursor: 7 });
    };
    const kb = await makeMirror(script, ["workspace"], { acl: "connector" });
    await kb.work();
    await kb.sync();
    await kb.kb.deps.invalidateEverything();
    expect(await kb.readable()).toEqual(["a"]);
    await kb.work();
    expect(cursors).toEqual([null, 7, null]);
  });

  test("ends the runs that were going on, and reads a paused connector once it is resumed", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a"));
    await kb.work();
    kb.kb.clock.advance(1);
    const act = (path: string) => kb.kb.as(kb.owner).post(`/api/connectors/${kb.connectorId}/${path}`, {});
    const { json } = await act("syncs");
    await kb.kb.database.write
      .updateTable("syncs")
      .set({ state: "running", startedAt: kb.kb.clock.now(), attempt: 1 })
      .where("syncId", "=", json.sync.id)
      .execute();
    await kb.kb.deps.invalidateEverything();
    const { sync } = (await kb.kb.as(kb.owner).get(`/api/connectors/${kb.connectorId}/syncs/${json.sync.id}`)).json;
    expect(sync.state).toBe("cancelled");
    await kb.work();
    expect(await kb.readable()).toEqual(["a"]);
    await act("pause");
    await kb.kb.deps.invalidateEverything();
    await kb.work();
    expect(await kb.readable()).toEqual([]);
    await act("resume");
    await kb.work();
    expect([await kb.readable(), kb.world.runs]).toEqual([["a"], ["full", "full", "full"]]);
  });

  test("lets no one in by a group before it is read again", async ({ expect }) => {
    let isGone = false;
    const kb = await makeForge({
      [BASE_URL]: {
        items: ({ group }) => [openTo("plan", group("team"))],
        *people({ user, group }) {
          if (isGone) UNREACHABLE();
          yield person(user("1"), "ann@acme.test");
          yield { t: "group", group: group("team"), members: [user("1")] };
          yield WHOLE;
        },
      },
    });
    const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
    await kb.verify(ann);
    await kb.setDomains(["acme.test"]);
    await kb.register();
    await kb.connect(kb.owner);
    expect(await kb.readable(ann)).toEqual(["plan"]);
    isGone = true;
    kb.clock.advance(1);
    await kb.deps.invalidateEverything();
    await kb.work();
    expect(await kb.readable(ann)).toEqual([]);
    isGone = false;
    await kb.pass(HOUR_MS);
    expect(await kb.readable(ann)).toEqual(["plan"]);
    expect(kb.runs.map(({ mode }) => mode)).toEqual(["whole", "whole", "whole"]);
  });
});
