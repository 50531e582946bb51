import { describe, test } from "vitest";
import { form, makePushServer } from "./push-harness.ts";
import { pushed } from "./server.ts";
import { verifies } from "../../requirements.ts";

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i).padStart(3, "0"));
const upserts = (from: number, to: number) => numbers(from, to).map((id) => pushed(id));

describe("an upload", () => {
  verifies(
    "push:resumable",
    "says which lines are stored, so that a lost answer can be asked again",
    async ({ expect }) => {
      const kb = await makePushServer();
      const upload = await kb.begin({ name: "nightly" });
      expect(upload).toMatchObject({ mode: "add", state: "open", lines: 0 });
      await kb.push([pushed("1"), "{", pushed("2")], `?upload=${upload.id}&firstLine=1`);
      const after = (await kb.send("GET", `/uploads/${upload.id}`)).json.upload;
      expect(after).toMatchObject({ lines: 3, counts: { upserted: 2, error: 1, unchanged: 0 } });
      expect(after.failures).toMatchObject([{ line: 2, externalId: null, code: "invalid_request" }]);
      // The same lines again are no new ones; a gap is refused.
      const again = await kb.push([pushed("2"), pushed("3")], `?upload=${upload.id}&firstLine=3`);
      expect(again.map((each) => [each.line, each.result])).toEqual([
        [3, "unchanged"],
        [4, "upserted"],
      ]);
      expect(await kb.results([pushed("9")], `?upload=${upload.id}&firstLine=6`)).toEqual([
        "409 push_upload_incomplete",
      ]);
      expect(await kb.results([pushed("9")], `?upload=${upload.id}`)).toEqual(["400 invalid_request"]);
      const resumed = await kb.begin({ name: "nightly", resume: true });
      expect(resumed).toMatchObject({ id: upload.id, lines: 4 });
      expect((await kb.end(upload.id)).json.upload).toMatchObject({ state: "done", swept: null, lines: 4 });
      expect(await kb.results([pushed("9")], `?upload=${upload.id}&firstLine=5`)).toEqual(["409 push_upload_over"]);
      expect((await kb.begin({ name: "nightly", resume: true })).id).not.toBe(upload.id);
    },
  );

  test("waits a day for its next line", async ({ expect }) => {
    const kb = await makePushServer();
    const upload = await kb.begin({ mode: "set" });
    kb.clock.advance(23 * 3_600_000);
    expect(await kb.results([pushed("1")], `?upload=${upload.id}&firstLine=1`)).toEqual(["upserted"]);
    kb.clock.advance(25 * 3_600_000);
    const answer = await kb.send("POST", `/items?upload=${upload.id}&firstLine=2`, {
      raw: JSON.stringify(pushed("2")),
    });
    expect([answer.status, answer.json.code]).toEqual([409, "push_upload_over"]);
    expect(answer.json.detail).toContain("24 hours");
    expect((await kb.end(upload.id, 1)).status).toBe(409);
    expect((await kb.send("GET", `/uploads/${upload.id}`)).json.upload.state).toBe("expired");
  });

  test("is its connector's alone", async ({ expect }) => {
    const [one, other] = [await makePushServer(), await makePushServer()];
    const upload = await one.begin({});
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/end"],
    ] as const) {
      const body = method === "POST" ? { body: { lines: 0 } } : {};
      expect((await other.send(method, `/uploads/${upload.id}${path}`, body)).status).toBe(404);
    }
    expect(await other.results([pushed("1")], `?upload=${upload.id}&firstLine=1`)).toEqual(["404 not_found"]);
    expect((await one.as(one.owner).get(`/api/connectors/${one.id}/uploads/${upload.id}`)).status).toBe(401);
  });
});

describe("a whole set", () => {
  verifies("push:whole-set", "removes at its end what was not sent, and nothing before", async ({ expect }) => {
    const kb = await makePushServer();
    await kb.push(upserts(1, 30));
    const set = await kb.begin({ mode: "set" });
    const at = (line: number) => `?upload=${set.id}&firstLine=${line}`;
    // New, changed, the same, only seen, only its access, refused with its id: all are named.
    const lines = [
      pushed("031"),
      pushed("001", { version: "2" }),
      ...upserts(2, 20),
      { t: "seen", externalId: "021" },
      { t: "acl", externalId: "022", access: { known: false } },
      { t: "upsert", item: { externalId: "023", kind: "nonsense" } },
      { t: "delete", externalId: "024" },
    ];
    await kb.push(lines, at(1));
    // Beside the set, and later than its beginning.
    await kb.push([pushed("025"), pushed("040")]);
    expect((await kb.living()).length).toBe(31);
    const ended = await kb.end(set.id, lines.length);
    expect(ended.json.upload).toMatchObject({ state: "done", swept: { removed: 5, held: 0 }, sweepRefused: null });
    expect(await kb.living()).toEqual([...numbers(1, 23), "025", "031", "040"]);
    expect((await kb.end(set.id, lines.length)).json).toEqual(ended.json);
    const { entries } = (await kb.as(kb.owner).get("/api/audit?action=connector.set_pushed")).json;
    expect(entries).toMatchObject([{ details: { uploadId: set.id, removed: 5 } }]);
  });

  verifies("push:whole-set", "keeps what it names after it has deleted something", async ({ expect }) => {
    const kb = await makePushServer();
    await kb.push(upserts(1, 3));
    const set = await kb.begin({ mode: "set" });
    const lines = [
      { t: "delete", externalId: "001" },
      { t: "seen", externalId: "002" },
    ];
    await kb.push(lines, `?upload=${set.id}&firstLine=1`);
    expect((await kb.end(set.id, 2)).json.upload.swept).toEqual({ removed: 1, held: 0 });
    expect(await kb.living()).toEqual(["002"]);
  });

  verifies("push:whole-set", "that is half sent removes nothing", async ({ expect }) => {
    const kb = await makePushServer();
    await kb.push(upserts(1, 10));
    const set = await kb.begin({ mode: "set" });
    await kb.push(upserts(1, 5), `?upload=${set.id}&firstLine=1`);
    const early = await kb.end(set.id, 10);
    expect([early.status, early.json.code]).toEqual([409, "push_upload_incomplete"]);
    expect(early.json.detail).toContain("Send the lines from 6 on");
    expect((await kb.end(set.id, 4)).status).toBe(409);
    expect((await kb.end(set.id)).json.code).toBe("invalid_request");
    expect(await kb.living()).toEqual(numbers(1, 10));
    await kb.push(upserts(6, 9), `?upload=${set.id}&firstLine=6`);
    expect((await kb.end(set.id, 9)).json.upload.swept).toEqual({ removed: 1, held: 0 });
  });

  verifies(
    "push:set-held",
    "that would remove more than a fifth and more than 20 holds all of it for approval",
    async ({ expect }) => {
      const kb = await makePushServer();
      await kb.push(upserts(1, 60));
      const set = await kb.begin({ mode: "set" });
      await kb.push(upserts(1, 30), `?upload=${set.id}&firstLine=1`);
      expect((await kb.end(set.id, 30)).json.upload.swept).toEqual({ removed: 0, held: 30 });
      expect((await kb.living()).length).toBe(60);
      const removals = (await kb.as(kb.owner).get(`/api/connectors/${kb.id}/removals`)).json.removals;
      expect([removals.length, removals[0].syncId]).toEqual([30, null]);
      // The next set has some of them again: those are kept. The others wait on, and are not counted twice.
      const next = await kb.begin({ mode: "set" });
      await kb.push(upserts(1, 50), `?upload=${next.id}&firstLine=1`);
      expect((await kb.end(next.id, 50)).json.upload.swept).toEqual({ removed: 0, held: 0 });
      await kb.as(kb.owner).post(`/api/connectors/${kb.id}/removals/approve`, {});
      expect(await kb.living()).toEqual(numbers(1, 50));
    },
  );

  test("with a line that no one can read removes nothing, and says why", async ({ expect }) => {
    const kb = await makePushServer();
    await kb.push(upserts(1, 5));
    const set = await kb.begin({ mode: "set" });
    const people = { t: "member", group: "group:connector:con_x", member: "workspace" };
    await kb.push([pushed("001"), people, '{"t":"upsert","item":{"exter'], `?upload=${set.id}&firstLine=1`);
    const { upload } = (await kb.end(set.id, 3)).json;
    expect(upload).toMatchObject({ state: "done", swept: null, counts: { error: 2 } });
    expect(upload.sweepRefused).toContain("1 line could not be read");
    expect(await kb.living()).toEqual(numbers(1, 5));
  });

  test("gives way to a later one, which counts for itself alone", async ({ expect }) => {
    const kb = await makePushServer();
    await kb.push(upserts(1, 10));
    const [older, later] = [await kb.begin({ mode: "set" }), await kb.begin({ mode: "set" })];
    const late = await kb.send("POST", `/items?upload=${older.id}&firstLine=1`, { raw: JSON.stringify(pushed("001")) });
    expect([late.status, late.json.code]).toEqual([409, "push_upload_over"]);
    expect(late.json.detail).toContain("a later upload replaced it");
    expect((await kb.end(older.id, 0)).status).toBe(409);
    await kb.push(upserts(2, 10), `?upload=${later.id}&firstLine=1`);
    expect((await kb.end(later.id, 9)).json.upload.swept).toEqual({ removed: 1, held: 0 });
    // One that is begun in the middle of another's lines: what the older one sent does not count.
    const third = await kb.begin({ mode: "set" });
    await kb.push(upserts(2, 4), `?upload=${third.id}&firstLine=1`);
    const fourth = await kb.begin({ mode: "set" });
    await kb.push(upserts(5, 10), `?upload=${fourth.id}&firstLine=1`);
    await kb.end(fourth.id, 6);
    expect(await kb.living()).toEqual(numbers(5, 10));
  });

  verifies("push:key-overlap", "goes on with its key rotated, and with documents beside lines", async ({ expect }) => {
    const kb = await makePushServer();
    await kb.push(upserts(1, 4));
    const set = await kb.begin({ mode: "set" });
    await kb.push(upserts(1, 1), `?upload=${set.id}&firstLine=1`);
    const { old, key } = await kb.rotate(600);
    kb.useKey(old);
    expect(await kb.results(upserts(2, 2), `?upload=${set.id}&firstLine=2`)).toEqual(
      ["upserted"].map(() => "unchanged"),
    );
    kb.clock.advance(601_000);
    expect(await kb.results(upserts(3, 3), `?upload=${set.id}&firstLine=3`)).toEqual(["401 unauthenticated"]);
    kb.useKey(key);
    const { text: _text, ...item } = pushed("003").item;
    const line = JSON.stringify({ t: "upsert", item });
    const document = form([
      { name: "line", text: line },
      { name: "file", text: "its words", fileName: "3.txt" },
    ]);
    expect((await kb.send("POST", `/documents?upload=${set.id}`, document)).json.result).toBe("unchanged");
    // A document that is refused is in the set all the same.
    const refused = form([
      { name: "line", text: JSON.stringify(pushed("004")) },
      { name: "file", text: "x" },
    ]);
    expect((await kb.send("POST", `/documents?upload=${set.id}`, refused)).status).toBe(400);
    expect((await kb.end(set.id, 2)).json.upload).toMatchObject({ swept: { removed: 0 }, counts: { error: 1 } });
    expect(await kb.living()).toEqual(numbers(1, 4));
  });
});

describe("a document", () => {
  const line = (more: Record<string, unknown> = {}) => {
    const { text: _text, ...item } = pushed("report", {
      kind: "file",
      title: "Report.pdf",
      version: undefined,
      ...more,
    }).item;
    return JSON.stringify({ t: "upsert", item });
  };
  const document = (lineText: string, text: string) =>
    form([
      { name: "line", text: lineText },
      { name: "file", text, fileName: "Report.pdf" },
    ]);

  verifies(
    "push:idempotent",
    "is its line and the text of its bytes; the same bytes again change nothing",
    async ({ expect }) => {
      const kb = await makePushServer();
      const send = async (text: string) => (await kb.send("POST", "/documents", document(line(), text))).json;
      expect(await send("Revenue rose in Q3.")).toEqual({ line: 1, externalId: "report", result: "upserted" });
      expect((await send("Revenue rose in Q3.")).result).toBe("unchanged");
      expect((await send("Revenue fell in Q3.")).result).toBe("upserted");
      const texts = await kb.database.read.selectFrom("item_texts").select("text").execute();
      expect(texts).toEqual([{ text: "Revenue fell in Q3." }]);
      const failed = await send("FAIL");
      expect(failed).toMatchObject({ result: "failed", notes: ["it has no text: Broken."] });
      const found = (await kb.as(kb.member).get("/api/connectors/all-files")).json.files[0];
      const original = await kb.as(kb.member).get(`/api/connectors/files/${found.kbId}/content?original=true`);
      expect([original.status, original.json.code]).toEqual([422, "no_text"]);
    },
  );

  test.for([
    ["no form", { raw: "{}", headers: { "content-type": "application/json" } }, 415, "unsupported_media_type"],
    [
      "a form without a boundary",
      { raw: "", headers: { "content-type": "multipart/form-data" } },
      415,
      "unsupported_media_type",
    ],
    ["no line", form([{ name: "file", text: "x" }]), 400, "invalid_request"],
    ["no file", form([{ name: "line", text: line() }]), 400, "invalid_request"],
    [
      "two lines",
      form([
        { name: "line", text: line() },
        { name: "line", text: line() },
      ]),
      400,
      "invalid_request",
    ],
    ["an unknown part", form([{ name: "attachment", text: "x" }]), 400, "invalid_request"],
    ["a line that is no JSON", document("{", "x"), 400, "invalid_request"],
    ["a line that is no upsert", document('{"t":"delete","externalId":"1"}', "x"), 400, "invalid_request"],
    ["a line with a text", document(JSON.stringify(pushed("1")), "x"), 400, "invalid_request"],
    [
      "a form without an end",
      { ...document(line(), "x"), raw: document(line(), "x").raw.slice(0, -8) },
      400,
      "invalid_request",
    ],
    ["a line over 1 MiB", document(`{"t":"${"x".repeat(1_100_000)}"}`, "x"), 413, "payload_too_large"],
    [
      "more than it may be",
      { ...document(line(), "x"), headers: { ...document(line(), "x").headers, "content-length": "60000000" } },
      413,
      "payload_too_large",
    ],
  ] as const)("with %s is refused", async ([, request, status, code], { expect }) => {
    const kb = await makePushServer();
    const answer = await kb.send("POST", "/documents", request);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(await kb.living()).toEqual([]);
  });
});

test.for([
  ["POST", "/items?firstLine=2", { raw: "" }, 400],
  ["POST", "/items?firstLine=0", { raw: "" }, 400],
  ["POST", "/items?upload=upl_x&firstLine=1", { raw: "" }, 400],
  ["POST", "/items?upload=upl_2222222222222222&firstLine=1", { raw: "" }, 404],
  ["POST", "/items?batch=1", { raw: "" }, 400],
  ["POST", "/documents?firstLine=1", { raw: "" }, 400],
  ["POST", "/uploads", { body: { mode: "half" } }, 400],
  ["POST", "/uploads", { body: { name: "" } }, 400],
  ["POST", "/uploads", { body: { colour: "red" } }, 400],
  ["POST", "/uploads", { body: [] }, 400],
  ["GET", "/uploads/upl_2222222222222222", {}, 404],
  ["GET", "/uploads/nonsense", {}, 404],
  ["GET", "/uploads", {}, 405],
  ["POST", "/uploads/upl_2222222222222222/end", { body: { lines: 0 } }, 404],
  ["POST", "/uploads/upl_2222222222222222/end", { body: { lines: -1 } }, 400],
  ["POST", "/uploads/upl_2222222222222222/end", { body: { lines: "all" } }, 400],
  ["DELETE", "/items/", {}, 404],
] as const)("%s %s with bad input is refused in words", async ([method, path, request, status], { expect }) => {
  const kb = await makePushServer();
  const answer = await kb.send(method, path, request);
  expect(answer.status).toBe(status);
  expect(answer.json.detail.length).toBeGreaterThan(10);
});
