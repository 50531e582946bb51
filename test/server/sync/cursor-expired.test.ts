/** A source that no longer knows how far a run came: everything is read again, at once and by itself. */
import { test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { BASE_URL, makeForge, openTo, person, WHOLE } from "./people/forge.ts";
import { listed, makeMirror } from "./mirror.ts";

const HOUR_MS = 3_600_000;
const expired = () => new ApiError("cursor_expired", { message: "The source forgot the cursor." });

test("items are listed again at once, and what was missed is there", async ({ expect }) => {
  const kb = await makeMirror(() => listed("a", "b"));
  await kb.work();
  kb.world.script = (run) => {
    if (run.mode === "incremental") throw expired();
    return listed("b", "c");
  };
  await kb.sync();
  expect(kb.world.runs).toEqual(["full", "incremental", "full"]);
  expect(await kb.readable()).toEqual(["b", "c"]);
  expect(await kb.connector()).toMatchObject({ state: "active", stateReason: null });
});

test("a listing of everything that is told so again waits, as after any failure", async ({ expect }) => {
  const kb = await makeMirror(() => listed("a"));
  await kb.work();
  kb.world.script = () => {
    throw expired();
  };
  await kb.sync();
  expect(kb.world.runs).toEqual(["full", "incremental", "full"]);
  expect((await kb.connector()).activity).toMatchObject({ type: "failing", failures: 2 });
});

test("users and groups are read as a whole by the next run, and no one is dark meanwhile", async ({ expect }) => {
  let isForgotten = false;
  const kb = await makeForge({
    [BASE_URL]: {
      items: ({ user }) => [openTo("plan", user("1"))],
      people: function* ({ user }, run) {
        if (isForgotten && run.mode === "changes") throw expired();
        yield person(user("1"), "ann@acme.test");
        yield { t: "checkpoint", cursor: { at: 1 } };
        yield run.mode === "whole" ? WHOLE : { t: "end", listing: "partial" };
      },
    },
  });
  const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
  await kb.verify(ann);
  await kb.setDomains(["acme.test"]);
  await kb.register();
  await kb.connect(kb.owner);
  isForgotten = true;
  await kb.pass(HOUR_MS);
  await kb.pass(HOUR_MS);
  const modes = kb.runs.map(({ mode }) => mode);
  const failed = modes.indexOf("changes");
  expect(modes.slice(failed, failed + 2)).toEqual(["changes", "whole"]);
  expect(kb.runs[failed + 1]?.cursor).toBeNull();
  expect(await kb.readable(ann)).toEqual(["plan"]);
});
