import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { tempDir } from "../temp-dir.ts";
import { signInAdmin, startServerProcess } from "./server-process.ts";

type Admin = Awaited<ReturnType<typeof signInAdmin>>;

/** Waits until the connector has no run that is not over; gives the last one. */
async function settled(admin: Admin, connectorId: string) {
  for (;;) {
    const { syncs } = (await admin("GET", `/api/connectors/${connectorId}/syncs`)).json;
    if (syncs.every((sync: { finishedAt: string | null }) => sync.finishedAt !== null)) return syncs[0];
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe("the connector routes over a real folder", () => {
  test("connect, look, sync, narrow, read, rotate and delete", async ({ expect }) => {
    const dir = tempDir();
    const root = join(dir, "handbook");
    mkdirSync(join(root, "travel"), { recursive: true });
    writeFileSync(join(root, "rules.md"), "# House rules\n\nLeave the kitchen as you found it.\n");
    writeFileSync(join(root, "travel", "trains.md"), "# Trains\n\nBook the quiet carriage.\n");
    const server = await startServerProcess(join(dir, "data"), { KB_LOCAL_ROOTS: root });
    const admin = await signInAdmin(server.url);

    const { sources } = (await admin("GET", "/api/connectors/sources")).json;
    expect(sources.map((source: { providerId: string }) => source.providerId)).toContain("filesystem");
    const config = { root };
    const browsed = await admin("POST", "/api/connectors/browse", { providerId: "filesystem", config });
    expect(browsed.json.nodes.map((node: { id: string }) => node.id)).toContain("travel");

    const created = await admin("POST", "/api/connectors", {
      providerId: "filesystem",
      name: "Handbook",
      config,
      access: { visibility: "workspace" },
    });
    expect(created.status).toBe(201);
    const { id } = created.json.connector;
    expect(await settled(admin, id)).toMatchObject({ state: "succeeded", counts: { upserted: 2, failed: 0 } });

    const list = (await admin("GET", "/api/connectors")).json.connectors;
    expect(list).toMatchObject([{ id, name: "Handbook", state: "active", counts: { indexed: 2 } }]);
    expect((await admin("GET", "/api/connectors/mine")).json.connectors).toEqual(list);
    expect((await admin("GET", `/api/connectors/${id}`)).json.connector).toEqual({ ...list[0], openedByOthers: [] });
    expect((await admin("GET", "/api/connectors/all-files?sort=title")).json).toMatchObject({
      files: [
        { title: "House rules", key: "rules.md" },
        { title: "Trains", path: ["travel"] },
      ],
      total: 2,
    });
    expect((await admin("GET", `/api/connectors/${id}/files?q=train`)).json).toMatchObject({ total: 1 });
    expect((await admin("GET", "/api/connectors/file-counts-by-source")).json.counts).toEqual([
      { source: "filesystem:Handbook", providerId: "filesystem", kind: "file", indexed: 2, unsearchable: 0 },
    ]);
    const found = (await admin("GET", "/api/connectors/search?query=quiet%20carriage")).json;
    expect(found).toMatchObject({ total: 1, results: [{ title: "Trains", source: "filesystem:Handbook" }] });
    const content = await fetch(`${server.url}/api/connectors/files/${found.results[0].kbId}/content`, {
      headers: { Authorization: `Bearer ${(await admin("POST", "/api/api-tokens", { name: "t" })).json.plaintext}` },
    });
    expect(await content.text()).toContain("Book the quiet carriage.");

    writeFileSync(join(root, "rules.md"), "# House rules\n\nLeave the workshop as you found it.\n");
    rmSync(join(root, "travel"), { recursive: true });
    expect((await admin("POST", `/api/connectors/${id}/syncs`, {})).status).toBe(202);
    const { syncs } = (await admin("GET", "/api/connectors/progress")).json;
    expect(syncs.map((sync: { connectorId: string }) => sync.connectorId)).toContain(id);
    expect(await settled(admin, id)).toMatchObject({ state: "succeeded", counts: { upserted: 1, deleted: 1 } });
    expect((await admin("GET", "/api/connectors/search?query=workshop")).json.total).toBe(1);
    expect((await admin("GET", "/api/connectors/search?query=carriage")).json.total).toBe(0);

    const scope = { include: [], exclude: ["rules.md"] };
    expect((await admin("PATCH", `/api/connectors/${id}/scope`, scope)).status).toBe(202);
    await settled(admin, id);
    expect((await admin("GET", "/api/connectors/all-files")).json.total).toBe(0);

    const push = await admin("POST", "/api/connectors", {
      providerId: "push",
      name: "tracker",
      config: {},
      access: { visibility: "private" },
    });
    const rotated = await admin("POST", `/api/connectors/${push.json.connector.id}/rotate-key`, {
      overlapSeconds: 0,
    });
    expect(rotated.json.key).not.toBe(push.json.key);
    const line = '{"t":"delete","externalId":"T-1"}\n';
    const send = (key: string) =>
      fetch(`${server.url}/api/connectors/${push.json.connector.id}/items`, {
        method: "POST",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/x-ndjson" },
        body: line,
      });
    expect((await send(push.json.key)).status).toBe(401);
    expect((await send(rotated.json.key)).status).toBe(200);

    expect((await admin("DELETE", `/api/connectors/${id}`)).status).toBe(202);
    while ((await admin("GET", `/api/connectors/${id}`)).status !== 404) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await server.stop()).toBe(0);
  });
});
