/** What somebody finds of what they may not read any more, or may since a moment. */
import type { KitEngine } from "../kit/engine.ts";
import { shownTo } from "./chat/readers.ts";

/** How many of the items somebody finds in each way there is: in lists, by search, and by asking for the content. */
export async function countFound(
  engine: KitEngine,
  id: string,
  isOne: (externalId: string) => boolean,
): Promise<{ listed: number; searched: number; read: number }> {
  const rows = (await engine.rows()).filter(({ externalId }) => isOne(externalId));
  const kbIds = new Set(rows.map(({ kbId }) => kbId));
  const { listed, found } = await shownTo(engine, id);
  const client = engine.kb.as(engine.memberOf(id));
  let read = 0;
  for (const kbId of kbIds) {
    const { status } = await client.get(`/api/connectors/files/${kbId}/content`);
    if (status !== 404) read++;
  }
  const count = (files: { kbId: string }[]) => files.filter(({ kbId }) => kbIds.has(kbId)).length;
  return { listed: count(listed), searched: count(found.results), read };
}

/** The same number in each way. */
export const all = (count: number) => ({ listed: count, searched: count, read: count });

/** Asks for a sync as the button does, works until nothing is due, and gives the sync: it must have ended. */
export async function syncNow(engine: KitEngine, body: object = {}) {
  const { kb, owner, connectorId } = engine;
  const path = `/api/connectors/${connectorId}/syncs`;
  const { sync } = (await kb.as(owner).post(path, body)).json;
  await engine.work();
  return (await kb.as(owner).get(`${path}/${sync.id}`)).json.sync;
}
