import { describe, expect, test } from "vitest";
import { mentionedIn, textOfStorage } from "#sources/confluence/storage.ts";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { openSite } from "./fixture.ts";
import { confluenceWebhook } from "#sources/confluence/webhook.ts";

test("a page is its text as Markdown, with what stands in its macros and nothing of how they look", async () => {
  const said = await textOfStorage(
    `<h1>Plan</h1><p>Caf&eacute;&nbsp;<strong>opens</strong> <a href="https://a.example/x">here</a> on
      <time datetime="2026-01-02" />.<br/>Late &amp; <ac:emoticon ac:name="smile" ac:emoji-fallback="🙂" /></p>
      <ul><li><p>one</p></li><li>two<ul><li>three</li></ul></li></ul>
      <table><tbody><tr><th>Name</th><th><p>Port</p></th></tr><tr><td><p>blue</p><p>green</p></td><td>8080</td></tr></tbody></table>
      <ac:structured-macro ac:name="code" ac:macro-id="1"><ac:parameter ac:name="language">sh</ac:parameter>
        <ac:plain-text-body><![CDATA[if [ $a < 1 ]; then
  run &amp; wait
fi]]></ac:plain-text-body></ac:structured-macro>
      <ac:structured-macro ac:name="info"><ac:parameter ac:name="title">Mind</ac:parameter><ac:parameter ac:name="icon">false</ac:parameter>
        <ac:rich-text-body><p>the gap</p></ac:rich-text-body></ac:structured-macro>
      <p>It is <ac:structured-macro ac:name="status"><ac:parameter ac:name="colour">Green</ac:parameter><ac:parameter ac:name="title">DONE</ac:parameter></ac:structured-macro></p>
      <p>See <ac:link><ri:page ri:content-title="The other page" ri:space-key="X" /></ac:link> and
        <ac:link><ri:page ri:content-title="Hidden" /><ac:plain-text-link-body><![CDATA[that one]]></ac:plain-text-link-body></ac:link></p>
      <ac:structured-macro ac:name="include"><ac:parameter ac:name=""><ac:link><ri:page ri:content-title="Secret page" /></ac:link></ac:parameter></ac:structured-macro>
      <ac:structured-macro ac:name="jira"><ac:parameter ac:name="server">Jira</ac:parameter><ac:parameter ac:name="key">ENG-7</ac:parameter></ac:structured-macro>
      <ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>incomplete</ac:task-status><ac:task-body>Call them</ac:task-body></ac:task></ac:task-list>
      <p><ac:placeholder>Write here</ac:placeholder><ac:inline-comment-marker ac:ref="r">marked</ac:inline-comment-marker></p>
      <ac:adf-extension><ac:adf-node type="panel"><ac:adf-attribute key="panel-type">note</ac:adf-attribute><ac:adf-content><p>A note</p></ac:adf-content></ac:adf-node><ac:adf-fallback><p>A note</p></ac:adf-fallback></ac:adf-extension>`,
  );
  expect(said).toBe(
    [
      "# Plan",
      "",
      "Café opens here (https://a.example/x) on 2026-01-02.",
      "Late & 🙂",
      "",
      "- one",
      "- two",
      "- three",
      "",
      "Name | Port",
      "blue green | 8080",
      "",
      "```",
      "if [ $a < 1 ]; then",
      "  run &amp; wait",
      "fi",
      "```",
      "",
      "Mind",
      "",
      "the gap",
      "",
      "It is",
      "",
      "DONE",
      "",
      "See The other page and that one",
      "",
      "ENG-7",
      "",
      "- incomplete Call them",
      "",
      "marked",
      "",
      "A note",
    ].join("\n"),
  );
});

test("whatever comes has a text, and takes no time", { timeout: 20_000 }, async () => {
  const macro = '<ac:structured-macro ac:name="expand"><ac:rich-text-body>';
  const bomb = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><p>&b;&b; &#x110000; &#xD800; &nosuch;</p>`;
  expect(await textOfStorage(bomb)).not.toContain("haha");
  expect(await textOfStorage(`<p>before</p>${macro.repeat(10_000)}deep`)).toContain("before");
  expect(
    await textOfStorage(macro.repeat(500) + "deep" + "</ac:rich-text-body></ac:structured-macro>".repeat(500)),
  ).toBe("deep");
  for (const odd of [
    "",
    "<",
    "<![CDATA[",
    "</p>".repeat(50_000),
    "<td>".repeat(1_500),
    "<a href='https://x'>".repeat(1_500) + "x" + "</a>".repeat(1_500),
    "<!--".repeat(50_000),
    `<p ${"a=1 ".repeat(50_000)}>`,
    "&".repeat(100_000),
    "\n".repeat(200_000) + "x",
    " ".repeat(200_000) + "x",
    `<pre>${"\n \n".repeat(50_000)}</pre>`,
  ])
    expect((await textOfStorage(odd)).length).toBeLessThanOrEqual(odd.length * 25);
  const long = await textOfStorage("<p>A paragraph of a large page.</p>\n".repeat(300_000));
  expect(long.length).toBeGreaterThan(7_000_000);
});

test("a webhook without its signature is refused", () => {
  const rawBody = Buffer.from('{"event":"page_trashed","page":{"id":10001}}');
  const request = { headers: new Headers(), rawBody, receivedAt: 0 };
  expect(confluenceWebhook.verify("secret", request)).toBe("refused");
  expect(confluenceWebhook.verify("", request)).toBe("refused");
});

describe("people who are mentioned", () => {
  const user = (id: string, attribute = "account-id") => `<ri:user ri:${attribute}="${id}" />`;
  const link = (id: string, attribute?: string) => `<ac:link>${user(id, attribute)}</ac:link>`;
  const names = new Map([
    ["acc:mia", "Mia Marsh"],
    ["k7", "Bo Birch"],
  ]);
  const read = (storage: string) => textOfStorage(storage, (id) => names.get(id));

  test("stand in the text by name, wherever they are", async () => {
    expect(await read(`<p>Owner: ${link("acc:mia")}, deputy ${link("k7", "userkey")}.</p>`)).toBe(
      "Owner: Mia Marsh, deputy Bo Birch.",
    );
    expect(await read(`<table><tr><th>Approver</th><td><p>${link("acc:mia")}</p></td></tr></table>`)).toBe(
      "Approver | Mia Marsh",
    );
    const task = `<ac:task><ac:task-status>incomplete</ac:task-status><ac:task-body>${link("k7", "userkey")} calls</ac:task-body></ac:task>`;
    expect(await read(`<ac:task-list>${task}</ac:task-list>`)).toBe("- incomplete Bo Birch calls");
    const profile = `<ac:structured-macro ac:name="profile"><ac:parameter ac:name="user">${user("acc:mia")}</ac:parameter></ac:structured-macro>`;
    expect(await read(profile)).toBe("Mia Marsh");
    expect(await read(`<p>${link("gone")} and ${link("old.login", "username")}</p>`)).toBe("Someone and old.login");
    const labelled = `<ac:link>${user("acc:mia")}<ac:plain-text-link-body><![CDATA[the owner]]></ac:plain-text-link-body></ac:link>`;
    expect(await read(`<p>Ask ${labelled}</p>`)).toBe("Ask the owner");
  });

  test("are found by any form of their id, each once", () => {
    const many = Array.from({ length: 5_000 }, (_, n) => link(`a${n}`)).join("");
    expect(
      mentionedIn(`${link("b")}${link("b")}<ri:user ri:userkey='k'/><RI:USER x="1" ri:account-id = "c"/>`),
    ).toEqual(["b", "k", "c"]);
    expect(mentionedIn(many)).toHaveLength(500);
    expect(mentionedIn('<ri:page ri:account-id="x"/>&lt;ri:user ri:userkey="y"')).toEqual([]);
  });

  test.for(["cloud", "data_center"] as const)("are asked for once in a run: %s", async (deployment) => {
    const { world, site, fixture } = await openSite(deployment);
    const { ids, made } = world;
    const attribute = deployment === "cloud" ? "account-id" : "userkey";
    const mention = (...who: string[]) => `<p>Ask ${who.map((id) => link(id, attribute)).join(" or ")}</p>`;
    const pages = Array.from({ length: 30 }, (_, n) =>
      world.add("ENG", `Page ${n}`, { body: mention(ids.dan, ids.eve, "nobody") }),
    );
    const said = world.comment(made.blue, ids.ann, mention(ids.eve));
    const asked: string[] = [];
    site.instead = ({ path, query }) => {
      if (/\/(?:users-bulk|user)$/u.test(path)) asked.push(`${path}?${query.get("key") ?? ""}`);
      return false;
    };
    const replica = makeReplica();
    await runInto(fixture, replica);
    const textOf = (id: string) => {
      const content = replica.items.get(id)?.content;
      return content?.type === "inline" ? content.text : "";
    };
    const [dan, eve] = [world.users.get(ids.dan)?.name, world.users.get(ids.eve)?.name];
    for (const { id } of pages) expect(textOf(id)).toBe(`Ask ${dan} or ${eve} or Someone`);
    expect(textOf(`c${said.id}`)).toBe(`Ask ${eve}`);
    expect(asked.length).toBeLessThanOrEqual(deployment === "cloud" ? 6 : 3);
  });
});
