import { describe, test } from "vitest";
import { form, makePushServer } from "./push-harness.ts";
import { pushed } from "./server.ts";

type World = Awaited<ReturnType<typeof makePushServer>>;

/** A push connector whose owner was an owner of the workspace, beside another owner. */
async function makeWorld() {
  const kb = await makePushServer();
  const boss = await kb.addMember(kb.owner.workspaceId, "owner");
  const setRole = async (role: string) => {
    const { status, text } = await kb.as(boss).patch(`/api/workspace/members/${kb.owner.userId}`, { role });
    if (status !== 200) throw new Error(text);
  };
  return { ...kb, boss, setRole };
}

/** Every request that a key opens and that changes something, or reads what was pushed. */
const ACTS: Record<string, (kb: World) => Promise<{ status: number; json: { code?: string; detail?: string } }>> = {
  lines: (kb) =>
    kb.send("POST", "/items", {
      raw: JSON.stringify(pushed("b")),
      headers: { "content-type": "application/x-ndjson" },
    }),
  document: (kb) =>
    kb.send(
      "POST",
      "/documents",
      form([
        { name: "line", text: JSON.stringify({ ...pushed("d"), item: { ...pushed("d").item, text: undefined } }) },
        { name: "file", text: "its words", fileName: "d.txt" },
      ]),
    ),
  removal: (kb) => kb.send("DELETE", "/items/a"),
  upload: (kb) => kb.send("POST", "/uploads", { body: { mode: "add" } }),
};

describe("the key of a push connector", () => {
  test.for(Object.keys(ACTS))("%s: rests while the owner is a member, and says why", async (name, { expect }) => {
    const kb = await makeWorld();
    expect(await kb.results([pushed("a")])).toEqual(["upserted"]);
    await kb.setRole("member");
    const act = ACTS[name];
    if (!act) throw new Error(name);
    expect(await act(kb)).toMatchObject({
      status: 403,
      json: { code: "forbidden", detail: expect.stringContaining("no longer an admin") },
    });
    expect(await kb.living()).toEqual(["a"]);
    await kb.setRole("admin");
    expect((await act(kb)).status).toBeLessThan(300);
  });

  test("is rotated by no one who is no admin any more", async ({ expect }) => {
    const kb = await makeWorld();
    await kb.setRole("member");
    const rotate = () => kb.as(kb.owner).post(`/api/connectors/${kb.id}/rotate-key`, { overlapSeconds: 0 });
    expect(await rotate()).toMatchObject({ status: 403, json: { code: "forbidden" } });
    await kb.setRole("admin");
    expect((await rotate()).json.key).toEqual(expect.any(String));
  });

  test("goes on with an owner who becomes an admin", async ({ expect }) => {
    const kb = await makeWorld();
    await kb.setRole("admin");
    expect(await kb.results([pushed("a")])).toEqual(["upserted"]);
  });

  test("stops within a push that began before", async ({ expect }) => {
    const kb = await makeWorld();
    const { pushItems } = await import("#server/connectors/push.ts");
    async function* lines() {
      yield Buffer.from(`${JSON.stringify(pushed("a"))}\n`.repeat(1));
      for (let n = 0; n < 60; n++) yield Buffer.from(`${JSON.stringify(pushed(`a${n}`))}\n`);
      await kb.setRole("member");
      for (let n = 0; n < 60; n++) yield Buffer.from(`${JSON.stringify(pushed(`b${n}`))}\n`);
    }
    const results = await pushItems(kb.deps.connectorDeps, await kb.caller(), lines(), {});
    const found: string[] = [];
    for await (const some of results) found.push(...some.map(({ result, error }) => error?.code ?? result));
    expect(found).toContain("upserted");
    expect(found).toContain("forbidden");
    expect((await kb.living()).some((id) => id.startsWith("b5"))).toBe(false);
  });

  test("pushes again after someone took the connector over from an owner who left", async ({ expect }) => {
    const kb = await makeWorld();
    expect(await kb.results([pushed("a")])).toEqual(["upserted"]);
    await kb.setRole("member");
    await kb.as(kb.boss).delete(`/api/workspace/members/${kb.owner.userId}`);
    const taken = await kb.as(kb.boss).post(`/api/connectors/${kb.id}/rotate-key`, { overlapSeconds: 0 });
    expect(taken.json.key).toEqual(expect.any(String));
    kb.useKey(taken.json.key);
    expect(await kb.results([pushed("c")])).toEqual(["upserted"]);
  });
});
