import { expect } from "vitest";
import type { openEngine } from "../../kit/engine.ts";

type Kb = Awaited<ReturnType<typeof openEngine>>;

const sumOf = (counts: { indexed: number; unsearchable: number }[]) =>
  counts.reduce((sum, { indexed, unsearchable }) => sum + indexed + unsearchable, 0);

/** What is in `kb` for somebody: by the list, by a search for everything, and by the counts. */
export async function shownTo(kb: Kb, id: string) {
  const client = kb.kb.as(kb.memberOf(id));
  const listed = (await client.get("/api/connectors/all-files?limit=100")).json.files;
  const found = (await client.get("/api/connectors/search?after=2020-01-01&limit=50")).json;
  const counts = (await client.get("/api/connectors/file-counts-by-source")).json;
  return { listed, found, counts };
}

/** Lists, searches, counts and contents of each of these people are what they may read at the remote. */
export async function expectSame(
  kb: Kb,
  people: readonly { id: string }[],
  whoSees: (externalId: string) => Promise<readonly string[]>,
): Promise<void> {
  const rows = await kb.rows();
  const readers = new Map<string, readonly string[]>();
  for (const { externalId } of rows) readers.set(externalId, await whoSees(externalId));
  for (const { id } of people) {
    const client = kb.kb.as(kb.memberOf(id));
    const mayRead = (externalId: string) => readers.get(externalId)?.includes(id) === true;
    const kbIds = rows.flatMap(({ externalId, kbId }) => (mayRead(externalId) ? [kbId] : [])).sort();
    const { listed, found, counts } = await shownTo(kb, id);
    const idsOf = (files: { kbId: string }[]) => files.map(({ kbId }) => kbId).sort();
    expect(idsOf(listed), `list of ${id}`).toEqual(kbIds);
    expect(idsOf(found.results), `search of ${id}`).toEqual(kbIds);
    expect(found.total, `total of ${id}`).toBe(kbIds.length);
    expect(sumOf(counts.counts), `counts of ${id}`).toBe(kbIds.length);
    for (const { externalId, kbId } of rows) {
      const { status } = await client.get(`/api/connectors/files/${kbId}/content`);
      expect(status !== 404, `content of ${externalId} for ${id}`).toBe(mayRead(externalId));
    }
  }
}
