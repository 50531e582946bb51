import { describe, expect, test } from "vitest";
import type { SourceItem } from "#sources/item.ts";
import { textOfAdf } from "#sources/atlassian/adf.ts";
import { jiraWebhook } from "#sources/jira/webhook.ts";
import { textOfWiki } from "#sources/jira/wiki.ts";
import { contextOf, type KitFixture } from "../../kit/fixture.ts";
import { makePeopleReplica, runPeopleInto } from "../../kit/people-replica.ts";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { openSite } from "./fixture.ts";
import { OTHER_TOKEN } from "./world.ts";

// No Jira runs here: a fake of ours answers.
describe("jira and what is not known", { timeout: 60_000 }, () => {
  async function itemsOf(fixture: KitFixture): Promise<Map<string, SourceItem>> {
    const replica = makeReplica();
    await runInto(fixture, replica);
    return replica.items;
  }

  test("an issue is no one's when its level or its restriction can't be told", async () => {
    const { world, jira, fixture } = await openSite();
    const { made } = world;
    made.welcome.restricted = true;
    jira.rewrite = (text) => text.replaceAll('"security":null', '"kept":null').replaceAll('"id":"30000"', '"id":"x"');
    const items = await itemsOf(fixture);
    expect(items.get(made.plan.id)?.access).toEqual({ known: false });
    expect(items.get(made.secret.id)?.access).toEqual({ known: false });
    expect(items.get(made.welcome.id)?.access).toEqual({ known: false });
    expect(items.get(made.lunch.id)?.access?.known).toBe(true);
  });

  test("a comment for what is not understood, or for a role that is gone, is no one's", async () => {
    const { world, fixture } = await openSite();
    const { plan } = world.made;
    const strange = [
      { type: "planet", value: "Mars", identifier: "Mars" },
      { type: "role", value: "Nobodies", identifier: "Nobodies" },
      { type: "group", value: "", identifier: "" },
    ].map((visibility) => world.comment(plan, world.ids.dan, "Hush.", { visibility }));
    const items = await itemsOf(fixture);
    for (const { id } of strange) expect(items.get(`${plan.id}.c${id}`)?.access).toEqual({ known: false });
    const inside = items.get(`${world.made.outage.id}.c${world.made.internal.id}`)?.access;
    expect(inside?.known === true && inside.all.flat().every((each) => each.endsWith(":signed-in"))).toBe(true);
  });

  test("holders that are not understood, and schemes that are refused, let no one in", async () => {
    const { world, jira, fixture } = await openSite();
    world.project("LOBBY").browse = [{ type: "everyone on the moon" }, { type: "sd.customer.portal.only" }];
    const { id } = world.project("ENG");
    jira.instead = ({ path }, response) => {
      if (!path.endsWith(`/project/${id}/permissionscheme`)) return false;
      response.writeHead(403, { "content-type": "application/json" }).end("{}");
      return true;
    };
    const people = makePeopleReplica();
    await runPeopleInto(fixture, people);
    const membersOf = (name: string) =>
      [...people.groups].find(([group]) => group.endsWith(encodeURIComponent(name)))?.[1];
    for (const key of ["ENG", "LOBBY"]) expect([...(membersOf(`p${world.project(key).id}.browse`) ?? [])]).toEqual([]);
  });

  test("an account that does not administer Jira names no one, and check says which permission it lacks", async () => {
    const { fixture } = await openSite();
    const weak = { ...fixture, credentials: { email: "aud@corp.example", token: OTHER_TOKEN } };
    const people = makePeopleReplica();
    await runPeopleInto(weak, people);
    expect([...people.active]).toEqual([]);
    const answer = await fixture.source.check(contextOf(weak));
    expect(answer.ok && answer.warnings?.join(" ")).toMatch(/Administer Jira/);
    expect((await fixture.source.check(contextOf(fixture))).ok).toBe(true);
  });

  test("whatever the narrowing is answered with, only issues of the project that was asked for are taken", async () => {
    const { world, jira, fixture } = await openSite();
    const scope = { include: [world.project("LOBBY").id], exclude: [] };
    const { secret } = world.made;
    const stray = { id: secret.id, key: secret.key, fields: { project: { id: secret.project }, summary: "Stray" } };
    jira.instead = ({ path }, response) => {
      if (!path.endsWith("/search/jql")) return false;
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ issues: [stray], isLast: true }));
      return true;
    };
    const replica = makeReplica();
    await runInto(fixture, replica, { scope });
    expect([...replica.items.keys()]).toEqual([]);
  });

  test("a narrowing takes away what matches no more", async () => {
    const { world, fixture } = await openSite();
    const narrow = { ...fixture, config: { ...Object(fixture.config), jql: "labels != secretive" } };
    const replica = makeReplica();
    await runInto(narrow, replica);
    const { plan, file } = world.made;
    expect(replica.items.has(plan.id)).toBe(true);
    plan.labels.push("secretive");
    plan.updated = Date.now();
    await runInto(narrow, replica, { mode: "incremental" });
    expect(replica.items.has(plan.id)).toBe(false);
    expect(replica.items.has(`${plan.id}.a${file.id}`)).toBe(false);
  });

  test("a CAPTCHA is a matter of signing in, and no refusal", async () => {
    const { jira, fixture } = await openSite("data_center");
    jira.instead = (_asked, response) => {
      const headers = {
        "x-authentication-denied-reason": "CAPTCHA_CHALLENGE; login-url=https://jira.example/login.jsp",
      };
      response.writeHead(403, headers).end("Basic Authentication Failure - Reason : AUTHENTICATION_DENIED");
      return true;
    };
    const answer = await fixture.source.check(contextOf(fixture));
    expect(answer).toMatchObject({ ok: false, problem: { code: "source_unauthorized", field: "credentials" } });
    expect(JSON.stringify(answer)).toMatch(/CAPTCHA/);
  });

  test("an attachment comes only through an issue that has it and that the account sees", async () => {
    const { world, jira, fixture } = await openSite();
    const { plan, secret, file } = world.made;
    const read = (externalId: string) => fixture.source.fetchContent?.(contextOf(fixture), { externalId });
    expect(await read(`${plan.id}.a${file.id}`)).toMatchObject({ fileName: "notes.txt" });
    for (const id of [`${secret.id}.a${file.id}`, `${plan.id}.c${file.id}`, `${plan.id}.a1`, plan.id])
      await expect(read(id)).rejects.toMatchObject({ code: "source_not_found" });
    plan.attachments.length = 0;
    await expect(read(`${plan.id}.a${file.id}`)).rejects.toMatchObject({ code: "source_not_found" });
    expect(jira.requests.filter(({ path }) => path.includes("/attachment/content/")).length).toBe(1);
  });
});

describe("what Jira's documents say", () => {
  const doc = (...content: unknown[]) => ({ type: "doc", version: 1, content });
  const text = (said: string, more: object = {}) => ({ type: "text", text: said, ...more });

  test("a document is its text, with what stands in its nodes", () => {
    const link = { marks: [{ type: "link", attrs: { href: "https://a.example" } }] };
    const said = textOfAdf(
      doc(
        { type: "heading", content: [text("Plan")] },
        {
          type: "paragraph",
          content: [text("See "), text("this", link), { type: "mention", attrs: { text: "@Ann" } }],
        },
        {
          type: "bulletList",
          content: [{ type: "listItem", content: [{ type: "paragraph", content: [text("one")] }] }],
        },
        { type: "table", content: [{ type: "tableRow", content: [doc(text("a")), doc(text("b"))] }] },
        { type: "paragraph", content: [{ type: "date", attrs: { timestamp: "1700000000000" } }] },
        { type: "somethingNew", attrs: { text: "new" }, content: [text(" and old")] },
      ),
    );
    expect(said).toBe("Plan\nSee this (https://a.example)@Ann\n- one\n\na | b\n\n2023-11-14\nnew and old");
  });

  test("whatever comes has a text", () => {
    let deep: unknown = text("deep");
    for (let depth = 0; depth < 50_000; depth++) deep = { type: "panel", content: [deep] };
    for (const odd of [
      undefined,
      null,
      7,
      [],
      {},
      { type: 7, content: "x" },
      doc(null, 7, { marks: 3, type: "text" }),
      deep,
    ])
      expect(textOfAdf(odd)).toBe("");
    expect(textOfAdf("plain")).toBe("plain");
  });

  test("wiki markup loses its marks, and takes no time to do so", () => {
    const said = textOfWiki(
      "h1. Plan\n*bold* and [site|https://a.example] for [~ann]\n||a||b||\n{code:java}x{code}\n!shot.png!",
    );
    expect(said).toBe("Plan\nbold and site (https://a.example) for @ann\na | b\nx");
    expect(textOfWiki("bq. a\n* one\n** two\n* \n\nh2. B\n|a | b ||\nc  \n\n\n\n|")).toBe(
      "a\n- one\n- two\n-\n\nB\na | b\nc",
    );
    for (const odd of [
      "*".repeat(50_000),
      "[".repeat(50_000),
      "|".repeat(50_000),
      "!".repeat(50_000),
      "{code".repeat(9_000),
    ])
      expect(textOfWiki(odd).length).toBeLessThanOrEqual(odd.length * 2);
  });

  test("a webhook without its signature is refused", () => {
    const rawBody = Buffer.from('{"webhookEvent":"jira:issue_deleted","issue":{"id":"10001"}}');
    const request = { headers: new Headers(), rawBody, receivedAt: 0 };
    expect(jiraWebhook.verify("secret", request)).toBe("refused");
    expect(jiraWebhook.verify("", request)).toBe("refused");
  });
});
