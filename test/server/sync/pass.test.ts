import { expect, test } from "vitest";
import { end, makeHarness, type Script, upsert } from "./harness.ts";

/** Lists the folders of `tree` from the cursor on, at most `most` in a run, as a source with a bound does. */
function bounded(tree: { folders: string[][]; most: number }, seen: (string | undefined)[] = []): Script {
  return async function* ({ cursor, runId }) {
    const former = cursor as { runId: string; at: number } | null;
    let at = former && former.runId === runId ? former.at : 0;
    seen.push(`${runId === former?.runId ? "on" : "new"} ${at}`);
    for (let done = 0; at < tree.folders.length; done++) {
      if (done === tree.most) {
        yield { t: "end", listing: "partial", goesOn: true, why: "Stopped at a bound.", permissions: "not_checked" };
        return;
      }
      for (const name of tree.folders[at] ?? []) yield upsert(name, name);
      at += 1;
      yield { t: "checkpoint", cursor: { runId, at } };
    }
    yield { t: "checkpoint", cursor: { runId: null, at: 0 } };
    yield end();
  };
}

const living = async (kb: Awaited<ReturnType<typeof makeHarness>>) =>
  (await kb.items()).filter(({ removedAt }) => removedAt === null).map(({ externalId }) => externalId);

test("a listing that stops at a bound goes on in the next run, and only its end removes what none of them named", async () => {
  const tree = { folders: [["a", "gone"], ["b"], ["c"], ["d"], ["e"]], most: 9 };
  const seen: string[] = [];
  const kb = await makeHarness(bounded(tree, seen));
  expect(await kb.sync("full")).toMatchObject({ state: "succeeded" });
  tree.folders = [["a"], ["b"], ["c"], ["d"], ["e"]];
  tree.most = 2;
  for (const state of ["partial", "partial"]) {
    expect(await kb.sync("full")).toMatchObject({ state, problem: { message: "Stopped at a bound." } });
    expect(await living(kb)).toEqual(["a", "b", "c", "d", "e", "gone"]);
    expect((await kb.connector()).lastFullAt).toBeNull();
  }
  expect(await kb.sync("full")).toMatchObject({ state: "succeeded", counts: { deleted: 1 } });
  expect(await living(kb)).toEqual(["a", "b", "c", "d", "e"]);
  // The next begins again.
  tree.most = 9;
  expect(await kb.sync("full")).toMatchObject({ state: "succeeded" });
  expect(seen).toEqual(["new 0", "new 0", "on 2", "on 4", "new 0"]);
});

test("another scope begins the listing again", async () => {
  const tree = { folders: [["a"], ["b"], ["c"]], most: 2 };
  const seen: string[] = [];
  const kb = await makeHarness(bounded(tree, seen));
  await kb.sync("full");
  const { connectorId, scopeVersion } = await kb.connector();
  const { connectors } = kb.store.in(
    (await kb.database.read.selectFrom("workspaces").selectAll().execute())[0]?.workspaceId ?? "",
  );
  await connectors.update(connectorId, { scopeVersion: scopeVersion + 1 });
  await kb.sync("full");
  expect(seen).toEqual(["new 0", "new 0"]);
});
