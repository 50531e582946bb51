import type { Extractor } from "#extract/extractor.ts";
import type { Store } from "#storage/records/store.ts";
import type { TestAnswer, TestServerOptions } from "../../helpers.ts";
import { makeConnectorServer } from "./server.ts";

interface Result {
  line?: number;
  externalId?: string | null;
  result: string;
  error?: { code: string; message: string };
  notes?: string[];
}

/** A server with a push connector that everybody of the workspace may see, and ways to push to it. */
export async function makePushServer(
  extractor?: Pick<Extractor, "extract">,
  config: Record<string, unknown> = {},
  options: TestServerOptions = {},
) {
  const kb = await makeConnectorServer(extractor, options);
  const body = { providerId: "push", name: "CI", config, access: { visibility: "workspace" } };
  const { json } = await kb.as(kb.owner).post("/api/connectors", body);
  const id: string = json.connector.id;
  const base = `/api/connectors/${id}`;
  let key: string = json.key;
  const send = (method: string, path: string, request = {}): Promise<TestAnswer> =>
    kb.withToken(key).request(method, base + path, request);

  /** The results of these lines; of a refused request its code. */
  async function push(lines: readonly unknown[], query = "") {
    const raw = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
    const answer = await send("POST", `/items${query}`, { raw, headers: { "content-type": "application/x-ndjson" } });
    if (answer.status !== 200) return [{ result: `${answer.status} ${answer.json.code}` } as Result];
    const found = answer.text.split("\n").filter(Boolean);
    // The contract's PushResult, of which tests look into every field.
    return found.map((line) => JSON.parse(line) as Result);
  }

  /** What the caller's role may read now, by externalId. */
  async function readableBy(user: (typeof kb)["owner"]): Promise<string[]> {
    const rows = await kb.database.read
      .selectFrom("items")
      .select(["kbId", "externalId"])
      .orderBy("externalId")
      .execute();
    const open = await kb.deps.policy.mayRead(
      await kb.actor(user),
      rows.map((row) => row.kbId),
    );
    return rows.filter((row) => open.has(row.kbId)).map((row) => row.externalId);
  }

  return {
    ...kb,
    id,
    push,
    send,
    readableBy,
    caller: async () => ({ workspaceId: kb.owner.workspaceId, connectorId: id, keyId: await keyIdOf() }),
    results: async (lines: readonly unknown[], query?: string) => (await push(lines, query)).map((each) => each.result),
    begin: async (body: Record<string, unknown>) => (await send("POST", "/uploads", { body })).json.upload,
    end: async (uploadId: string, lines?: number) =>
      send("POST", `/uploads/${uploadId}/end`, { body: { ...(lines !== undefined && { lines }) } }),
    async rotate(overlapSeconds: number) {
      const old = key;
      key = (await kb.as(kb.owner).post(`${base}/rotate-key`, { overlapSeconds })).json.key;
      return { old, key };
    },
    useKey: (other: string) => void (key = other),
    living: async () => {
      const rows = await kb.database.read
        .selectFrom("items")
        .select("externalId")
        .where("removedAt", "is", null)
        .orderBy("externalId")
        .execute();
      return rows.map((row) => row.externalId);
    },
  };

  async function keyIdOf(): Promise<string> {
    const [newest] = await kb.store.in(kb.owner.workspaceId).connectors.listKeys(id, kb.clock.now());
    if (!newest) throw new Error("The connector has no key.");
    return newest.keyId;
  }
}

/** A form of a document as programs send it. */
export function form(parts: readonly { name: string; text: string; fileName?: string }[]) {
  const boundary = "----kb-test-boundary";
  const raw = parts
    .map(({ name, text, fileName }) => {
      const file = fileName === undefined ? "" : `; filename="${fileName}"`;
      return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`;
    })
    .join("");
  return { raw: `${raw}--${boundary}--\r\n`, headers: { "content-type": `multipart/form-data; boundary=${boundary}` } };
}

/** Asks before each batch whether it may be stored; a batch that may not fails. */
export function interceptBatches(
  store: Store,
  mayApply: (count: number) => boolean | Promise<boolean>,
): { count: number } {
  const make = store.in.bind(store);
  const calls = { count: 0 };
  // Requests in a row get the same records.
  const intercepted = new WeakSet<object>();
  store.in = (workspaceId) => {
    const inner = make(workspaceId);
    if (intercepted.has(inner)) return inner;
    intercepted.add(inner);
    const { itemWrites } = inner;
    const applyBatch: typeof itemWrites.applyBatch = async (batch) => {
      calls.count += 1;
      if (!(await mayApply(calls.count))) throw new Error("The disk is full.");
      return itemWrites.applyBatch(batch);
    };
    return Object.defineProperty(inner, "itemWrites", { value: { ...itemWrites, applyBatch } });
  };
  return calls;
}
