import { describe, test } from "vitest";
import { startServer } from "../../leaks/build.ts";
import { mayRead } from "../../leaks/model.ts";
import { makeModel } from "../../leaks/worlds.ts";
import { attachment } from "#server/files/original.ts";

const ID_AND_DATE = new Set(["x-request-id", "date"]);
const headersOf = (headers: Headers) => [...headers].filter(([name]) => !ID_AND_DATE.has(name));

describe("GET /api/connectors/files/:fileId", () => {
  test("gives an item's record, the one that lists give", async ({ expect }) => {
    const { clients, model } = await startServer(makeModel(11, 40));
    const open = model.items.find((item) => mayRead(model, "inside", item));
    const listed = (await clients.inside.get("/api/connectors/all-files?limit=200")).json.files;
    const { file } = (await clients.inside.get(`/api/connectors/files/${open?.kbId}`)).json;
    expect(file).toEqual(listed.find((one: { kbId: string }) => one.kbId === open?.kbId));
  });

  test("names whom its access names: to members their own way in, to admins everyone in it", async ({ expect }) => {
    const { clients, model } = await startServer(makeModel(11, 40));
    const idsOf = (principals: string[]) => principals.map((one) => one.split(":").at(-1));
    for (const persona of ["inside", "owner"] as const) {
      const named = new Set<string>();
      for (const item of model.items.filter((one) => mayRead(model, persona, one))) {
        const { lists, names, userId, connectorId } = (
          await clients[persona].get(`/api/connectors/files/${item.kbId}/access`)
        ).json;
        const told = idsOf(
          lists.flatMap((list: { chain: string[]; principals: string[] }) => [
            ...(list.chain ?? []),
            ...(list.principals ?? []),
          ]),
        );
        expect(Object.keys(names).filter((id) => ![...told, userId, connectorId].includes(id))).toEqual([]);
        expect([names[userId], names[connectorId]]).toEqual([expect.any(String), expect.any(String)]);
        for (const id of Object.keys(names)) named.add(id.slice(0, 3));
      }
      expect([...named].sort(), persona).toEqual(expect.arrayContaining(["con"]));
    }
  });
});

describe("GET /api/connectors/files/:fileId/content", () => {
  test("gives the text inert, by Accept and by range, and 304 only to a caller who may read", async ({ expect }) => {
    const { clients, model } = await startServer(makeModel(11, 40));
    const open = model.items.find((item) => mayRead(model, "inside", item) && !mayRead(model, "outside", item));
    if (!open) return expect.fail("no such item in this world");
    const path = `/api/connectors/files/${open.kbId}/content`;
    const whole = await clients.inside.get(path);
    expect(whole.text).toBe(open.text);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "private, no-store",
      "x-total-chars": String(open.text.length),
    });
    const markdown = await clients.inside.request("GET", path, { headers: { accept: "text/markdown" } });
    expect(markdown.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const range = await clients.inside.get(`${path}?offset=5&limit=7`);
    expect(range.text).toBe(open.text.slice(5, 12));
    expect(range.headers.get("x-next-offset")).toBe("12");

    const etag = whole.headers.get("etag") ?? "";
    const again = await clients.inside.request("GET", path, { headers: { "if-none-match": etag } });
    expect([again.status, again.text]).toEqual([304, ""]);
    const other = await clients.inside.request("GET", `${path}?offset=5`, { headers: { "if-none-match": etag } });
    expect(other.status).toBe(200);
    const refused = await clients.outside.request("GET", path, { headers: { "if-none-match": etag } });
    expect(refused.status).toBe(404);
  });

  test("reads hidden and absent alike: status, headers and body", async ({ expect }) => {
    const { clients, model } = await startServer(makeModel(12, 40));
    const hidden = model.items.filter((item) => !mayRead(model, "outside", item));
    const absent = "kbi_2222222222222222";
    expect(hidden.length).toBeGreaterThan(10);
    for (const tail of [
      "",
      "content",
      "content?find=ledger",
      "content?original=true",
      "content?offset=999999",
      "access",
    ]) {
      const nothing = await clients.outside.get(`/api/connectors/files/${absent}${tail && `/${tail}`}`);
      expect(nothing.status).toBe(404);
      for (const item of hidden.slice(0, 8)) {
        const answer = await clients.outside.get(`/api/connectors/files/${item.kbId}${tail && `/${tail}`}`);
        const text = answer.text.replaceAll(item.kbId, absent).replace(answer.json.requestId, nothing.json.requestId);
        expect([answer.status, headersOf(answer.headers), text]).toEqual([
          404,
          headersOf(nothing.headers),
          nothing.text,
        ]);
      }
    }
  });

  test("refuses arguments that exclude each other, and bad ones", async ({ expect }) => {
    const { clients, model } = await startServer(makeModel(13, 5));
    const kbId = model.items[0]?.kbId ?? "";
    const path = `/api/connectors/files/${kbId}/content`;
    for (const query of ["original=true&find=x", "find=x&offset=2", "offset=-1", "limit=0", "limit=x", "colour=red"]) {
      expect((await clients.inside.get(`${path}?${query}`)).status, query).toBe(400);
    }
    expect((await clients.inside.get("/api/connectors/files/kbi_NOPE/content")).status).toBe(404);
    expect((await clients.inside.get("/api/connectors/all-files?since=yesterday")).status).toBe(400);
    expect((await clients.inside.get("/api/connectors/all-files?limit=0")).status).toBe(400);
    expect((await clients.inside.get("/api/connectors/all-files?cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAAA")).status).toBe(
      400,
    );
  });
});

describe("an original's file name", () => {
  test("can't leave its header or name a path", ({ expect }) => {
    expect(attachment('a"b\r\nSet-Cookie: x=1/../ü.html')).toBe(
      "attachment; filename=\"a_b Set-Cookie_ x_1_.._u_.html\"; filename*=UTF-8''a%22b%20Set-Cookie%3A%20x%3D1_.._%C3%BC.html".replace(
        'u_.html"',
        '_.html"',
      ),
    );
    expect(attachment("")).toBe("attachment; filename=\"file\"; filename*=UTF-8''file");
  });
});
