import { expect, test } from "vitest";
import { FACTORS } from "#text/factors.ts";
import { makeKit } from "../mcp/kit.ts";

const PATH = "/api/connectors/search?query=travel%20rules&explain=true";

async function makeTravel() {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const admin = await kb.addMember(owner.workspaceId, "admin");
  const member = await kb.addMember(owner.workspaceId, "member");
  await kb.addItems(owner, [
    { title: "Travel rules", text: "Rules for travel by train.", url: "https://docs.test/travel" },
    { title: "Expenses", text: "Travel is paid.", labels: ["travel"] },
    { title: "Secret travel rules", text: "Travel to the rules.", readers: [`user:${member.userId}`] },
  ]);
  return { kb, owner, admin, member };
}

test("an admin is told how each score came about, by words and by factors that sum up to it", async () => {
  const { kb, admin } = await makeTravel();
  const { status, json } = await kb.as(admin).get(PATH);
  expect(status).toBe(200);
  expect(json.ranking.factors.map(({ factor }: { factor: string }) => factor)).toEqual(Object.keys(FACTORS));
  // The third item is not theirs to see: it counts nowhere.
  expect([json.ranking.items, json.total]).toEqual([2, 2]);
  const [first, second] = json.results;
  expect(first.explanation).toMatchObject({
    group: "all",
    words: [
      { word: "rules", term: "rule", items: 1, frequency: { title: 1, place: 0, text: 1 }, weight: 5 },
      { word: "travel", term: "travel", items: 2, frequency: { title: 1, place: 0, text: 1 }, weight: 5 },
    ],
  });
  expect(second.explanation).toMatchObject({ group: "some", words: [{ frequency: { title: 0, place: 1, text: 1 } }] });
  for (const { explanation } of json.results) {
    const sum = (parts: { score: number }[]) => parts.reduce((all, { score }) => all + score, 0);
    expect(sum(explanation.words)).toBe(explanation.score);
    expect(sum(explanation.factors)).toBeCloseTo(explanation.score, 9);
  }
});

test("an item that stands first by its address says so", async () => {
  const { kb, owner } = await makeTravel();
  const { json } = await kb.as(owner).get("/api/connectors/search?query=https://docs.test/travel&explain=true");
  expect(json.results[0]).toMatchObject({ title: "Travel rules", explanation: { group: "address", score: null } });
});

test("no one else is told: neither members nor tokens without kb:admin", async () => {
  const { kb, admin, owner, member } = await makeTravel();
  const refused = { status: 403, json: { code: "forbidden", detail: expect.stringContaining("kb:admin") } };
  expect(await kb.as(member).get(PATH)).toMatchObject(refused);
  for (const scopes of [["mcp:read"], ["kb:api"], ["mcp:read", "kb:api"]] as const) {
    expect(await kb.withToken(await kb.token(owner, [...scopes])).get(PATH)).toMatchObject(refused);
  }
  expect((await kb.withToken(await kb.token(admin, ["kb:api", "kb:admin"])).get(PATH)).status).toBe(200);
  // A role counts as it is now, not as it was when the token was made.
  const former = kb.withToken(await kb.token(admin, ["kb:api", "kb:admin"]));
  await kb.as(owner).patch(`/api/workspace/members/${admin.userId}`, { role: "member" });
  expect(await former.get(PATH)).toMatchObject({ status: 403 });
});

test("an answer says nothing of scores when it isn't asked, and kb_search can't ask", async () => {
  const { kb, owner } = await makeTravel();
  const plain = await kb.as(owner).get("/api/connectors/search?query=travel&explain=false");
  expect(plain.json).not.toHaveProperty("ranking");
  expect(plain.json.results[0]).not.toHaveProperty("explanation");
  const { text, isError } = await kb.tool(owner, "kb_search", { query: "travel", explain: true });
  expect([isError, text]).toEqual([true, expect.stringContaining("explain")]);
});

test("the next page can be explained, whether or not the first one was", async () => {
  const { kb, owner } = await makeTravel();
  const { json } = await kb.as(owner).get("/api/connectors/search?query=travel&limit=1");
  const next = await kb.as(owner).get(`/api/connectors/search?query=travel&explain=true&cursor=${json.nextCursor}`);
  expect(next.json.results).toHaveLength(1);
  expect(next.json.results[0].explanation.group).toBe("all");
});

test("words of the first hits are told, and pages of any size give each hit once in the order of one page", async () => {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const tea = (times: number) => "tea ".repeat(times);
  await kb.addItems(owner, [
    ...[1, 2, 3].map((n) => ({ title: `Report ${n}`, text: `wing panel flutter in the shock tunnel ${tea(20)}` })),
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({ title: `Note ${n}`, text: `wing panel ${tea(40 + n)}` })),
    { title: "Late", text: `wing panel flutter shock ${tea(70)}` },
    ...Array.from({ length: 50 }, (_, n) => ({ title: `Soup ${n}`, text: `soup ${tea(30)}` })),
  ]);
  const search = async (more: string) => {
    const { json } = await kb.as(owner).get(`/api/connectors/search?query=wing%20panel%20supersonic&${more}`);
    return json;
  };
  const titlesOf = (json: { results: { title: string }[] }) => json.results.map(({ title }) => title);
  const whole = await search("limit=50&explain=true");
  expect(whole.ranking.feedback.toSorted()).toEqual(["flutter", "report", "shock", "tunnel"]);
  expect(titlesOf(whole)[3]).toBe("Late");
  for (const { explanation } of whole.results) {
    const sum = explanation.factors.reduce((all: number, { score }: { score: number }) => all + score, 0);
    expect(sum).toBeCloseTo(explanation.score, 9);
    expect(explanation.factors.at(-1).factor).toBe("feedback");
  }
  for (const limit of [1, 5]) {
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await search(`limit=${limit}${cursor}`);
      expect(page.total).toBe(whole.total);
      seen.push(...titlesOf(page));
      cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
    } while (cursor !== "");
    expect(seen).toEqual(titlesOf(whole));
  }
});
