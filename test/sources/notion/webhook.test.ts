import { describe, expect, test } from "vitest";
import { notionWebhook } from "#sources/notion/webhook.ts";
import { openEngine } from "../../kit/engine.ts";
import { event, makeWorld, openNotion, signed } from "./fixture.ts";

const HOUR_MS = 3_600_000;
const TOGETHER_MS = 5_000;
const TOKEN = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl";
const OTHER = "secret_of_an_attacker_0123456789";

async function open() {
  const notion = await openNotion(makeWorld());
  const engine = await openEngine(notion.fixture);
  await engine.work();
  const { kb, connectorId } = engine;
  const api = `/api/connectors/${connectorId}/webhook`;
  const path = `/hooks/notion/${connectorId}`;
  const owner = kb.as(engine.owner);
  const send = async (body: object, secret?: string, at = path) => {
    const raw = JSON.stringify(body);
    const headers = secret === undefined ? {} : signed(secret, raw);
    return (await kb.anyone().request("POST", at, { raw, headers })).status;
  };
  const offer = (verification_token: unknown, at = path) => send({ verification_token }, undefined, at);
  const shown = async () => (await owner.get(api)).json.webhook;
  const later = () => engine.pass(TOGETHER_MS);
  return { ...notion, ...engine, api, path, as: owner, send, offer, shown, later };
}

describe("the secret that Notion makes", () => {
  test("is taken once someone asked, shown for an hour, and stored sealed", async () => {
    const { kb, as, api, send, offer, shown } = await open();
    expect(await shown()).toMatchObject({ secretFrom: "app", secretCreatedAt: null, offered: null });
    expect((await as.post(api)).json).toMatchObject({ secret: null, webhook: { offered: { secret: null } } });
    expect(await offer(TOKEN)).toBe(200);
    expect(await shown()).toMatchObject({ secretCreatedAt: expect.any(String), offered: { secret: TOKEN } });
    expect(await send(event("page.created", "x"), TOKEN)).toBe(200);
    const stored = await kb.database.read.selectFrom("connector_webhooks").selectAll().execute();
    expect(stored).toHaveLength(1);
    expect(JSON.stringify([stored, kb.log.lines])).not.toContain(TOKEN);
    expect(JSON.stringify((await as.get("/api/audit")).json)).not.toContain(TOKEN);
    kb.clock.advance(HOUR_MS);
    expect(await shown()).toMatchObject({ secretCreatedAt: expect.any(String), offered: null });
    expect(await send(event("page.created", "y"), TOKEN)).toBe(200);
  });

  test("is taken from no one while no one asked, or an hour later", async () => {
    const { kb, as, api, send, offer, shown } = await open();
    expect(await offer(OTHER)).toBe(404);
    await as.post(api);
    kb.clock.advance(HOUR_MS);
    expect(await offer(OTHER)).toBe(404);
    expect(await shown()).toMatchObject({ secretCreatedAt: null, offered: null });
    expect(await send(event("page.created", "x"), OTHER)).toBe(404);
  });

  test("is never replaced by another that comes unsigned, even at the same time", async () => {
    const { as, api, send, offer, shown } = await open();
    await as.post(api);
    const answers = await Promise.all([offer(TOKEN), offer(OTHER), offer(OTHER)]);
    expect(answers).toEqual([200, 404, 404]);
    expect(await offer(OTHER)).toBe(404);
    expect(await offer(TOKEN)).toBe(404);
    expect((await shown()).offered.secret).toBe(TOKEN);
    expect([await send(event("page.created", "x"), OTHER), await send(event("page.created", "x"), TOKEN)]).toEqual([
      404, 200,
    ]);
  });

  test("ends when someone asks for another, and only who manages the connector can ask and see", async () => {
    const { kb, owner, as, api, send, offer, shown } = await open();
    const member = kb.as(await kb.addMember(owner.workspaceId, "member"));
    await as.post(api);
    await offer(OTHER);
    expect([(await member.post(api)).status, (await member.get(api)).status]).toEqual([404, 404]);
    await as.post(api);
    expect(await send(event("page.created", "x"), OTHER)).toBe(404);
    expect(await shown()).toMatchObject({ secretCreatedAt: null, offered: { secret: null } });
    expect(await offer(TOKEN)).toBe(200);
    expect(await send(event("page.created", "x"), TOKEN)).toBe(200);
    expect((await as.get("/api/audit?action=connector.webhook_rotated")).json.entries).toHaveLength(2);
  });

  test.each([
    ["too short", { verification_token: "short" }],
    ["too long", { verification_token: "s".repeat(513) }],
    ["in a request that is too large", { verification_token: `${TOKEN}${" ".repeat(1_024)}` }],
    ["with a space", { verification_token: `${TOKEN} x` }],
    ["no text", { verification_token: 1 }],
    ["among other things", { verification_token: TOKEN, id: "1" }],
  ])("is not taken when it is %s", async (_what, body) => {
    const { as, api, send, shown } = await open();
    await as.post(api);
    expect(await send(body)).toBe(404);
    expect(await shown()).toMatchObject({ secretCreatedAt: null });
  });

  test("is taken for its own connector alone, and not while that is being deleted", async () => {
    const { kb, connectorId, as, api, offer } = await open();
    await as.post(api);
    const wrong = [`/hooks/notion`, `/hooks/push/${connectorId}`, `/hooks/notion/con_${"0".repeat(26)}`];
    for (const at of wrong) expect(await offer(TOKEN, at)).toBe(404);
    await as.delete(`/api/connectors/${connectorId}`);
    expect(await offer(TOKEN)).toBe(404);
    expect(await kb.database.read.selectFrom("connector_webhooks").selectAll().execute()).toEqual([]);
  });
});

describe("a notification of Notion", () => {
  test("has the page read with its files and comments, and what is gone of it removed", async () => {
    const { as, api, send, offer, later, connectorId, rows, textOf, world, guide, paper } = await open();
    await as.post(api);
    await offer(TOKEN);
    const ids = async () => (await rows()).map(({ externalId }) => externalId);
    const report = world.file("report.txt", "The report.");
    guide.blocks.splice(guide.blocks.indexOf(paper), 1, report);
    const [comment] = guide.comments.splice(0);
    await send(event("page.content_updated", guide.id), TOKEN);
    await later();
    const { syncs } = (await as.get(`/api/connectors/${connectorId}/syncs`)).json;
    expect(syncs).toContainEqual(expect.objectContaining({ mode: "items", trigger: "webhook", state: "succeeded" }));
    expect(await ids()).toContain(`${guide.id}.f${report.id}`);
    for (const gone of [`${guide.id}.f${paper.id}`, `${guide.id}.c${comment?.id ?? ""}`])
      expect(await ids()).not.toContain(gone);
    guide.comments.push({ id: world.id(), text: "Better now.", at: world.now() });
    await send({ ...event("comment.created", world.id()), data: { page_id: guide.id } }, TOKEN);
    await later();
    expect(await textOf(`${guide.id}.c${guide.comments[0]?.id ?? ""}`)).toBe("Better now.");
    guide.isTrashed = true;
    await send(event("page.deleted", guide.id), TOKEN);
    await later();
    expect((await ids()).filter((id) => id.startsWith(guide.id))).toEqual([]);
  });

  test("wakes no one by a wrong signature, and once by a replay", async () => {
    const { as, api, send, offer, later, notion, alone } = await open();
    await as.post(api);
    await offer(TOKEN);
    const body = event("page.content_updated", alone.id);
    const before = notion.requests.length;
    expect([await send(body), await send(body, OTHER)]).toEqual([404, 404]);
    await later();
    expect(notion.requests.length).toBe(before);
    await send(body, TOKEN);
    await later();
    const after = notion.requests.length;
    expect(after).toBeGreaterThan(before);
    expect(await send(body, TOKEN)).toBe(200);
    await later();
    expect(notion.requests.length).toBe(after);
  });

  test.each([
    ["data_source.content_updated", [{ t: "delta" }]],
    ["database.created", [{ t: "delta" }]],
    ["page.moved", [{ t: "items", externalIds: ["11111111-2222-3333-4444-555555555555"] }]],
    ["view.created", []],
  ])("says of %s what it asks for", (type, changes) => {
    const raw = JSON.stringify(event(type, "11111111222233334444555555555555"));
    const request = { headers: new Headers(signed(TOKEN, raw)), rawBody: Buffer.from(raw), receivedAt: 0 };
    expect(notionWebhook.verify(TOKEN, request)).toMatchObject({ changes });
    expect(notionWebhook.verify(OTHER, request)).toBe("refused");
  });
});
