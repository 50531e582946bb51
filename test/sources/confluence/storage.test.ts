import { expect, test } from "vitest";
import { textOfStorage } from "#sources/confluence/storage.ts";
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
