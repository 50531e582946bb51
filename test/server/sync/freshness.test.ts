import { describe, test } from "vitest";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { RefusalCode, Source, SyncEvent, SyncRequest } from "#sources/contract.ts";
import type { SourceAccess } from "#core/principals.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { fakeExtractor, upsert } from "./harness.ts";

const HOUR_MS = 3_600_000;
const OPEN: SourceAccess = { known: true, all: [["workspace"]] };

type Script = (run: SyncRequest<unknown>) => Iterable<SyncEvent>;

/** A server with one connector that mirrors the permissions of its source, which says what `world.script` says. */
async function makeMirror(script: Script, readers: readonly string[] = ["workspace"]) {
  const world = { script, runs: [] as string[] };
  const source: Source = {
    spec: {
      providerId: "mirror",
      name: "Mirror",
      kinds: ["file"],
      auth: [{ type: "none" }],
      config: z.strictObject({ readers: z.array(z.string()) }),
      acl: "container",
      namedIn: ["readers"],
    },
    check: async () => ({ ok: true }),
    async *sync(_ctx, run) {
      world.runs.push(run.mode);
      yield* world.script(run);
    },
  };
  const sources = { find: async (id: string) => (id === "mirror" ? source : undefined), list: async () => [source] };
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, { sources, extractor: fakeExtractor }),
  );
  const owner = await kb.addOwner();
  const body = { providerId: "mirror", name: "Wiki", config: { readers }, access: { visibility: "workspace" } };
  const { json } = await kb.as(owner).post("/api/connectors", body);
  const id: string = json.connector.id;
  return {
    world,
    work: () => kb.deps.worker.runUntilIdle(),
    async pass(ms: number) {
      kb.clock.advance(ms);
      await kb.deps.worker.runUntilIdle();
    },
    async sync() {
      // Runs are listed by the time of their request.
      kb.clock.advance(1);
      await kb.as(owner).post(`/api/connectors/${id}/syncs`, {});
      await kb.deps.worker.runUntilIdle();
    },
    lastSync: async () => (await kb.as(owner).get(`/api/connectors/${id}/syncs`)).json.syncs[0],
    async readable() {
      const rows = await kb.database.read.selectFrom("items").select(["kbId", "externalId"]).execute();
      const open = await kb.deps.policy.mayRead(
        await kb.actor(owner),
        rows.map((row) => row.kbId),
      );
      return rows.flatMap((row) => (open.has(row.kbId) ? [row.externalId] : [])).sort();
    },
  };
}

function* listed(...ids: string[]): Iterable<SyncEvent> {
  for (const id of ids) yield upsert(id, `text of ${id}`, { access: OPEN });
  yield { t: "end", listing: "complete", permissions: "current" };
}

function refused(externalId: string, code: RefusalCode): SyncEvent {
  return { t: "refused", what: { externalId }, code };
}

test("what a full run names is readable, increments come hourly, and a refusal ends its run", async ({ expect }) => {
  const kb = await makeMirror((run) =>
    run.mode === "full" ? listed("a", "b") : [{ t: "end", listing: "partial", permissions: "not_checked" }],
  );
  await kb.work();
  expect(await kb.readable()).toEqual(["a", "b"]);
  for (let hour = 0; hour < 11; hour++) await kb.pass(HOUR_MS);
  expect(await kb.readable()).toEqual(["a", "b"]);
  expect(kb.world.runs).toEqual(["full", ...Array.from({ length: 11 }, () => "incremental")]);
  kb.world.script = () => {
    throw new ApiError("source_unauthorized", { message: "401" });
  };
  await kb.sync();
  expect(await kb.lastSync()).toMatchObject({ state: "failed", problem: { code: "auth_required" } });
});

describe("what a source refuses", () => {
  test("with 401 withholds all that the connector has", async ({ expect }) => {
    const kb = await makeMirror(() => listed("a", "b"));
    await kb.work();
    kb.world.script = () => {
      throw new ApiError("source_unauthorized", { message: "401" });
    };
    await kb.sync();
    expect(await kb.readable()).toEqual([]);
  });

  test.for(["source_forbidden", "source_gone"] as const)(
    "for one item (%s) withholds that item alone",
    async (code, { expect }) => {
      const kb = await makeMirror(() => listed("a", "b"));
      await kb.work();
      kb.world.script = function* () {
        yield { t: "seen", externalIds: ["a"] };
        yield refused("b", code);
        yield { t: "end", listing: "partial", permissions: "not_checked" };
      };
      await kb.sync();
      expect(await kb.readable()).toEqual(["a"]);
    },
  );
});

describe("whether mirrored permissions are still true", () => {
  test("is asked in time: 26 hours of good increments leave everything readable", async ({ expect }) => {
    const kb = await makeMirror((run) =>
      run.mode === "full" ? listed("a") : [{ t: "end", listing: "partial", permissions: "not_checked" }],
    );
    await kb.work();
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["a"]);
  });

  test("is known of each item when it is read, not only when the first full run ends", async ({ expect }) => {
    const kb = await makeMirror(function* () {
      yield upsert("a", "text", { access: OPEN });
      yield { t: "checkpoint", cursor: 1 };
      throw new ApiError("source_rate_limited", { message: "429", retryAfterMs: 12 * HOUR_MS });
    });
    await kb.work();
    expect(await kb.readable()).toEqual(["a"]);
  });
});

describe("an access that names somebody who is not known here", () => {
  const stranger = "user:mirror:wiki.test:77";
  const naming = (all: string[][]): Script =>
    function* () {
      yield upsert("a", "text", { access: { known: true, all } });
      yield { t: "end", listing: "complete", permissions: "current" };
    };

  test("is still open to the others whom it names", async ({ expect }) => {
    const kb = await makeMirror(naming([[stranger, "workspace"]]));
    await kb.work();
    expect(await kb.readable()).toEqual(["a"]);
  });

  test("is told with the run that met it, which has not failed for that", async ({ expect }) => {
    const kb = await makeMirror(naming([[stranger]]));
    await kb.work();
    expect(await kb.lastSync()).toMatchObject({
      state: "succeeded",
      problem: { code: "names_nobody", message: expect.stringMatching(/1 item.* nobody/u) },
    });
    expect(await kb.readable()).toEqual([]);
    kb.world.script = naming([["workspace"]]);
    await kb.sync();
    expect((await kb.lastSync()).problem).toBeNull();
  });

  test("is open to the workspace only where the config says so", async ({ expect }) => {
    const kb = await makeMirror(naming([["workspace"]]), []);
    await kb.work();
    expect(await kb.readable()).toEqual([]);
    expect((await kb.lastSync()).problem).toMatchObject({ code: "names_nobody" });
  });
});
