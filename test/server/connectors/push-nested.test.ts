import { describe, test } from "vitest";
import type { ExtractRequest } from "#extract/extractor.ts";
import { type Tree, treeExtractor } from "../sync/tree-files.ts";
import { form, interceptBatches, makePushServer } from "./push-harness.ts";
import { pushed } from "./server.ts";
import { verifies } from "../../requirements.ts";

const ids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i).padStart(3, "0"));
const files = (from: number, to: number) => Object.fromEntries(ids(from, to).map((id) => [`p${id}`, `text of ${id}`]));
const MAIL: Tree = { text: "mail", children: { a: "alpha", z: { text: "zip", children: { y: "deep" } } } };
const ALL = ["m", "m!//a", "m!//z", "m!//z!//y"];

/** A push server whose documents are trees; what is read is noted. */
async function makeTreeServer(config?: Record<string, unknown>, onRead?: (request: ExtractRequest) => void) {
  const state = { read: [] as string[], archives: [] as string[] };
  const extractor = treeExtractor((request) => {
    state.read.push(request.fileName);
    if (request.readsArchives === true) state.archives.push(request.fileName);
    onRead?.(request);
  });
  const kb = await makePushServer(extractor, config);
  const send = (externalId: string, tree: Tree, more: Record<string, unknown> = {}, query = "") => {
    const { text: _text, ...item } = pushed(externalId, { kind: "file", version: undefined, ...more }).item;
    const line = JSON.stringify({ t: "upsert", item });
    const children = [
      { name: "line", text: line },
      { name: "file", text: JSON.stringify(tree), fileName: `${externalId}.eml` },
    ];
    return kb.send("POST", `/documents${query}`, form(children));
  };
  return {
    ...kb,
    state,
    sendRaw: send,
    document: async (...args: Parameters<typeof send>) => (await send(...args)).json,
    rows: () =>
      kb.database.read
        .selectFrom("items")
        .select(["externalId", "kbId", "version", "aclId", "indexState", "path"])
        .where("removedAt", "is", null)
        .orderBy("externalId")
        .execute(),
  };
}

describe("what an older reader has read of pushed items", () => {
  test("is counted to their owner, and read again when the same version is pushed again", async ({ expect }) => {
    const kb = await makeTreeServer();
    const markdown = pushed("page", { mimeType: "text/markdown", text: JSON.stringify("# Tides"), version: "1" });
    await kb.push([markdown, pushed("plain")]);
    await kb.document("m", MAIL, { version: "1" });
    const left = async () => {
      const { json } = await kb.as(kb.owner).get(`/api/connectors/${kb.id}`);
      return [json.connector.isPushed, json.connector.counts.toReadAgain];
    };
    expect(await left()).toEqual([true, 0]);
    // What a line brings as plain text was read by nothing.
    const read = kb.database.write.updateTable("items").where("reader", "is not", null);
    await read.set({ readerVersion: 0 }).execute();
    expect(await left()).toEqual([true, 1 + ALL.length]);

    kb.state.read.length = 0;
    await kb.push([markdown, pushed("plain")]);
    expect(await left()).toEqual([true, ALL.length]);
    await kb.document("m", MAIL, { version: "1" });
    expect(await left()).toEqual([true, 0]);
    expect(kb.state.read.toSorted()).toEqual(["a", "item", "m.eml", "y", "z"]);
    // Once is enough.
    expect((await kb.document("m", MAIL, { version: "1" })).result).toBe("unchanged");
    expect(kb.state.read).toHaveLength(5);
  });
});

describe("files inside a pushed document", () => {
  verifies("push:parts", "are items of their own, and one line of the answer", async ({ expect }) => {
    const kb = await makeTreeServer();
    expect(await kb.document("m", MAIL, { path: ["Inbox"] })).toEqual({ line: 1, externalId: "m", result: "upserted" });
    const rows = await kb.rows();
    expect(rows.map((row) => row.externalId)).toEqual(ALL);
    expect(rows.at(-1)?.path).toBe('["Inbox","Task m","z"]');
    expect(new Set(rows.map((row) => row.aclId)).size).toBe(1);
    expect(await kb.readableBy(kb.member)).toEqual(ALL);
  });

  verifies(
    "push:parts",
    "are read once a version, and not again where they stayed as they were",
    async ({ expect }) => {
      const kb = await makeTreeServer();
      await kb.document("m", MAIL);
      const before = await kb.rows();
      kb.state.read = [];
      expect((await kb.document("m", MAIL)).result).toBe("unchanged");
      expect([kb.state.read, await kb.rows()]).toEqual([[], before]);
      await kb.document("m", { text: "new", children: { a: "alpha", z: { text: "zip", children: { x: "other" } } } });
      expect(kb.state.read).toEqual(["m.eml", "z", "x"]);
      const after = await kb.rows();
      expect(after.map((row) => row.externalId)).toEqual(["m", "m!//a", "m!//z", "m!//z!//x"]);
      expect(after.slice(0, 3).map((row) => row.kbId)).toEqual(before.slice(0, 3).map((row) => row.kbId));
    },
  );

  test("go when the item has no bytes any more, and with a delete", async ({ expect }) => {
    const kb = await makeTreeServer();
    await kb.document("m", MAIL);
    expect(await kb.results([pushed("m", { text: "only words now", version: "9" })])).toEqual(["upserted"]);
    expect(await kb.living()).toEqual(["m"]);
    await kb.document("m", MAIL);
    expect(await kb.living()).toEqual(ALL);
    expect(await kb.results([{ t: "delete", externalId: "m" }])).toEqual(["removed"]);
    expect(await kb.living()).toEqual([]);
    await kb.document("m", MAIL);
    expect((await kb.send("DELETE", "/items/m")).json).toEqual({ result: "removed" });
    expect(await kb.living()).toEqual([]);
  });

  test("go with a line that was planned before they were there", async ({ expect }) => {
    const kb = await makeTreeServer();
    let isDone = false;
    interceptBatches(kb.store, async () => {
      if (isDone) return true;
      isDone = true;
      await kb.document("m", MAIL, { version: "1" });
      return true;
    });
    expect(await kb.results([pushed("m", { text: "only words", version: "9" })])).toEqual(["upserted"]);
    expect((await kb.rows()).map((row) => [row.externalId, row.version])).toEqual([["m", "9"]]);
    expect((await kb.document("m", MAIL, { version: "9" })).result).toBe("unchanged");
  });

  test("stay while a new version can't be read", async ({ expect }) => {
    const kb = await makeTreeServer();
    await kb.document("m", MAIL);
    expect((await kb.document("m", "FAIL")).result).toBe("failed");
    expect(await kb.living()).toEqual(ALL);
  });

  test("that can't be read now are read again with the same version", async ({ expect }) => {
    const kb = await makeTreeServer();
    await kb.document("m", { text: "mail", children: { a: "LATER", b: "beta" } }, { version: "1" });
    kb.state.read = [];
    await kb.document("m", { text: "mail", children: { a: "now", b: "beta" } }, { version: "1" });
    expect(kb.state.read).toEqual(["m.eml", "a"]);
    expect((await kb.rows()).map((row) => [row.indexState, row.version === null])).toEqual([
      ["indexed", false],
      ["indexed", false],
      ["indexed", false],
    ]);
  });

  verifies(
    "push:parts-access",
    "may be read by anyone who may read the document, whatever is said of its access",
    async ({ expect }) => {
      const kb = await makeTreeServer();
      const known = (...all: string[][]) => ({ known: true, all });
      await kb.document("m", MAIL);
      const acl = (access: unknown) => kb.results([{ t: "acl", externalId: "m", access }]);
      expect(await acl(known([`user:${kb.member.userId}`]))).toEqual(["upserted"]);
      expect([await kb.readableBy(kb.member), await kb.readableBy(kb.owner)]).toEqual([ALL, []]);
      expect(await acl(known(["user:github:api.github.com:1"]))).toEqual(["acl_unknown"]);
      expect(await kb.readableBy(kb.member)).toEqual([]);
      // The same version with another access, and a new one that names whom it may not name.
      expect((await kb.document("m", MAIL)).result).toBe("upserted");
      expect(await kb.readableBy(kb.owner)).toEqual(ALL);
      const grown: Tree = { text: "new", children: { a: "alpha", b: "beta" } };
      const refused = await kb.document("m", grown, { access: known(["group:connector:con_2222222222222222"]) });
      expect(refused.result).toBe("acl_unknown");
      expect((await kb.rows()).map((row) => [row.externalId, row.aclId])).toEqual([
        ["m", 0],
        ["m!//a", 0],
        ["m!//b", 0],
      ]);
      expect(await kb.readableBy(kb.owner)).toEqual([]);
    },
  );

  test("in archives are read where the connector says so; secret names never are unless it does", async ({
    expect,
  }) => {
    const plain = await makeTreeServer();
    await plain.document("m", MAIL);
    expect(plain.state.archives).toEqual([]);
    const kb = await makeTreeServer({ archives: true });
    const { notes } = await kb.document("m", { text: "zip", children: { a: "alpha", "keys/id_rsa": "key" } });
    expect(kb.state.archives).toEqual(["m.eml", "a"]);
    expect(await kb.living()).toEqual(["m", "m!//a"]);
    expect(notes).toEqual(["m!//keys/id_rsa: The name suggests keys or passwords."]);
    const open = await makeTreeServer({ archives: true, secretFiles: true });
    await open.document("m", { text: "zip", children: { id_rsa: "key" } });
    expect(await open.living()).toEqual(["m", "m!//id_rsa"]);
  });

  test("have ids that no line can take", async ({ expect }) => {
    const kb = await makeTreeServer();
    await kb.document("m", MAIL);
    const [refused] = await kb.push([pushed("m!//a", { text: "planted" })]);
    expect(refused).toMatchObject({ result: "error", error: { code: "invalid_request" } });
    expect(await kb.living()).toEqual(ALL);
  });
});

describe("a whole set", () => {
  verifies(
    "push:parts-in-sets",
    "that names a document keeps what is in it: unchanged, seen, failed or refused",
    async ({ expect }) => {
      const kb = await makeTreeServer();
      const names = ["same", "seen", "acl", "fails", "refused", "gone"];
      for (const name of names) await kb.document(name, MAIL);
      const set = await kb.begin({ mode: "set" });
      const query = `?upload=${set.id}`;
      expect((await kb.document("same", MAIL, {}, query)).result).toBe("unchanged");
      expect((await kb.document("fails", "FAIL", {}, query)).result).toBe("failed");
      const lines = [
        { t: "seen", externalId: "seen" },
        { t: "acl", externalId: "acl", access: { known: false } },
        { t: "upsert", item: { externalId: "refused", kind: "nonsense" } },
      ];
      await kb.push(lines, `${query}&firstLine=1`);
      const { upload } = (await kb.end(set.id, 3)).json;
      expect(upload).toMatchObject({ swept: { removed: 4, held: 0 }, counts: { unchanged: 2, failed: 1, error: 1 } });
      const kept = names.slice(0, -1).flatMap((name) => ALL.map((id) => id.replace("m", name)));
      expect(await kb.living()).toEqual(kept.sort());
    },
  );

  verifies(
    "push:parts-in-sets",
    "that does not name it takes both, or holds both; a push that names it again keeps both",
    async ({ expect }) => {
      const kb = await makeTreeServer();
      await kb.document("m", { text: "mail", children: files(1, 30) });
      const set = await kb.begin({ mode: "set" });
      expect((await kb.end(set.id, 0)).json.upload.swept).toEqual({ removed: 0, held: 31 });
      const held = () => kb.database.read.selectFrom("removals").selectAll().execute();
      expect(await held()).toHaveLength(31);
      await kb.push([{ t: "seen", externalId: "m" }]);
      expect([(await kb.living()).length, (await held()).length]).toEqual([31, 0]);
      const again = await kb.begin({ mode: "set" });
      await kb.end(again.id, 0);
      const [parent] = await kb.rows();
      await kb.as(kb.owner).post(`/api/connectors/${kb.id}/removals/approve`, { kbIds: [parent?.kbId] });
      expect([await kb.living(), await held()]).toEqual([[], []]);
    },
  );
});

describe("a document of many files", () => {
  const MANY: Tree = { text: "many", children: files(1, 60) };

  test("is stored in several transactions, and whole only with the last", async ({ expect }) => {
    const kb = await makeTreeServer();
    await kb.document("m", { text: "one", children: files(1, 10) });
    let left = 2;
    const calls = interceptBatches(kb.store, () => left-- > 0);
    expect((await kb.sendRaw("m", MANY)).status).toBe(500);
    expect((await kb.rows()).length).toBeLessThan(61);
    left = Number.POSITIVE_INFINITY;
    // The same bytes are no repeat yet.
    kb.state.read = [];
    await kb.document("m", MANY);
    expect(kb.state.read[0]).toBe("m.eml");
    expect([(await kb.rows()).length, calls.count > 3]).toEqual([61, true]);
    kb.state.read = [];
    expect((await kb.document("m", MANY)).result).toBe("unchanged");
    expect(kb.state.read).toEqual([]);
  });

  test("counts as one line of its upload", async ({ expect }) => {
    const kb = await makeTreeServer();
    const upload = await kb.begin({});
    expect((await kb.document("m", MANY, {}, `?upload=${upload.id}`)).result).toBe("upserted");
    const { counts, lines } = (await kb.end(upload.id)).json.upload;
    expect([counts.upserted, counts.unchanged, lines]).toEqual([1, 0, 0]);
  });

  test("that an archive holds beyond what is read are told by their number", async ({ expect }) => {
    const kb = await makeTreeServer({ archives: true });
    const inner: Tree = { text: "pdf", children: { b: "beta" }, leftOut: 2, isPdf: true };
    const { notes } = await kb.document("m", { text: "zip", children: { a: "alpha", inner }, leftOut: 40 });
    expect(notes).toEqual([expect.stringContaining("m: 42 of the files inside it were left out")]);
  });

  test("are no business of lines: none narrows, names or removes one by itself", async ({ expect }) => {
    const kb = await makeTreeServer({ archives: true });
    await kb.document("m", MAIL);
    const lines = ["acl", "seen", "delete"].map((t) => ({
      t,
      externalId: "m!//a",
      ...(t === "acl" && { access: { known: false } }),
    }));
    for (const answer of await kb.push(lines)) {
      expect(answer).toMatchObject({ result: "error", error: { code: "invalid_request" } });
    }
    const removal = await kb.send("DELETE", `/items/${encodeURIComponent("m!//a")}`);
    expect([removal.status, removal.json.code]).toEqual([400, "invalid_request"]);
    // What lies below a path does not hold what lies in a file.
    expect(await kb.results([{ t: "delete", externalId: "m!", subtree: true }])).toEqual(["absent"]);
    expect(await kb.living()).toEqual(ALL);
    expect(await kb.results([{ t: "delete", externalId: "m" }])).toEqual(["removed"]);
    expect(await kb.living()).toEqual([]);
  });

  test("that another push overtakes is refused, and nothing of it stays beside the other", async ({ expect }) => {
    const kb = await makeTreeServer();
    let isDone = false;
    const overtaken = interceptBatches(kb.store, async (count) => {
      if (count === 3 && !isDone) {
        isDone = true;
        await kb.push([pushed("m", { text: "overtook", version: "9" })]);
      }
      return true;
    });
    const answer = await kb.sendRaw("m", MANY);
    expect([answer.status, answer.json.code]).toEqual([503, "unavailable"]);
    expect(await kb.living()).toEqual(["m"]);
    expect(overtaken.count).toBeGreaterThan(3);
    expect((await kb.document("m", MANY)).result).toBe("upserted");
    expect(await kb.living()).toHaveLength(61);
  });
});
