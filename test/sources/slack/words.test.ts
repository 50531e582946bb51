import { describe, expect, test } from "vitest";
import { attachmentsOf, blocksOf } from "#sources/slack/blocks.ts";
import { makeReplica, runInto, snapshotOf } from "../../kit/replica.ts";
import { makeSlackFixture, makeWorld } from "./fixture.ts";

const mrkdwn = (text: string) => ({ type: "mrkdwn", text });
const plain = (text: string) => ({ type: "plain_text", text });
const words = (text: string) => ({ type: "text", text });
const section = (...elements: object[]) => ({ type: "rich_text_section", elements });
const rich = (...elements: object[]) => ({ type: "rich_text", elements });

describe("a block's words", () => {
  test.for<[string, object, string]>([
    ["header", { type: "header", text: plain("Incident <77> & more") }, "Incident &lt;77&gt; & more"],
    [
      "section",
      { type: "section", text: mrkdwn("*disk* full"), fields: [mrkdwn("*Host*\ndb1"), plain("eu")] },
      "*disk* full\n*Host*\ndb1\neu",
    ],
    [
      "accessory",
      {
        type: "section",
        text: mrkdwn("Deploy?"),
        accessory: { type: "button", text: plain("Roll back"), value: "x1" },
      },
      "Deploy?\nRoll back",
    ],
    [
      "context",
      { type: "context", elements: [mrkdwn("by Ana"), { type: "image", image_url: "u", alt_text: "a graph" }] },
      "by Ana\na graph",
    ],
    ["actions", { type: "actions", elements: [{ type: "button", text: plain("Approve") }] }, "Approve"],
    ["input", { type: "input", label: plain("Reason"), element: {}, hint: plain("short") }, "Reason\nshort"],
    ["image", { type: "image", title: plain("Load"), image_url: "u", alt_text: "a chart" }, "Load\na chart"],
    [
      "video",
      { type: "video", title: plain("Demo"), author_name: "Ana", description: plain("5 min"), alt_text: "film" },
      "Demo\nAna\n5 min\nfilm",
    ],
    ["markdown", { type: "markdown", text: "# Title\nbody" }, "# Title\nbody"],
    [
      "table",
      {
        type: "table",
        rows: [
          [
            { type: "raw_text", text: "Host" },
            { type: "raw_text", text: "State" },
          ],
          [{ type: "raw_text", text: "db1" }, rich(section(words("down")))],
        ],
      },
      "Host | State\ndb1 | down",
    ],
    [
      "one of a kind that isn't known",
      { type: "carousel", elements: [{ type: "card", title: plain("Card") }] },
      "Card",
    ],
    ["text", rich(section(words("a "), { type: "text", text: "b", style: { bold: true } })), "a b"],
    [
      "references",
      rich(
        section(
          { type: "user", user_id: "U2" },
          words(" in "),
          { type: "channel", channel_id: "C1" },
          { type: "link", url: "https://a.test/x|y", text: "the <page>" },
          { type: "link", url: "https://b.test/" },
          { type: "usergroup", usergroup_id: "S1" },
          { type: "broadcast", range: "here" },
          { type: "emoji", name: "wave" },
          { type: "date", timestamp: 1, format: "{date}", fallback: "1 Jan" },
          { type: "color", value: "#fff" },
        ),
      ),
      "<@U2> in <#C1><https://a.test/x y|the &lt;page&gt;>https://b.test/<!subteam^S1><!here>:wave:1 Jan#fff",
    ],
    [
      "lists, quotes and code",
      rich(
        { type: "rich_text_list", style: "bullet", elements: [section(words("one")), section(words("two"))] },
        { type: "rich_text_quote", elements: [words("said")] },
        { type: "rich_text_preformatted", elements: [words("x = 1\ny")] },
      ),
      "• one\n• two\nsaid\nx = 1\ny",
    ],
  ])("%s", ([, block, text]) => {
    expect(blocksOf([block])).toEqual([text]);
  });

  test("nothing where there are none, whatever there is", () => {
    for (const odd of [undefined, null, 5, "x", {}, [null, 5, [], {}, { type: 5 }, { type: "section", text: 7 }]])
      expect(blocksOf(odd)).toEqual([]);
  });

  test("of blocks in blocks, of many, and of endless ones come as much as people read, soon", () => {
    let deep: object = mrkdwn("deep");
    for (let i = 0; i < 5_000; i++) deep = { type: "x", elements: [deep] };
    expect(blocksOf([deep])).toEqual([]);
    const many = Array.from({ length: 10_000 }, () => ({ type: "section", text: mrkdwn("x".repeat(3_000)) }));
    expect(blocksOf(many).join("").length).toBeLessThanOrEqual(200_000);
  });
});

test("an attachment says all that it shows, and its fallback only where that is nothing", () => {
  const fallback = "for notifications";
  expect(
    attachmentsOf([
      {
        fallback,
        pretext: "Before",
        author_name: "CI",
        title: "Build failed",
        text: "on main",
        fields: [{ title: "Branch", value: "main" }, { value: "alone" }, null],
        footer: "Jenkins",
      },
      { fallback, blocks: [{ type: "section", text: mrkdwn("disk full") }] },
      { fallback },
      { fallback: 5, title: 7 },
      null,
    ]),
  ).toEqual(["Before\nCI\nBuild failed\non main\nBranch: main\nalone\nJenkins", "disk full", fallback]);
});

/** What is stored of a message that Slack gives with this. */
async function textOfMessage(more: object): Promise<string> {
  const world = await makeWorld();
  const fixture = await makeSlackFixture(world);
  const ts = `${Math.floor(Date.now() / 1_000) - 60}.000001`;
  world.front.instead = ({ name, values }, response) => {
    if (name !== "conversations.history" || values.get("channel") !== world.channels.engineering) return false;
    response.writeHead(200, { "content-type": "application/json" });
    const message = { type: "message", ts, subtype: "bot_message", username: "Pager", text: "", ...more };
    response.end(JSON.stringify({ ok: true, messages: [message], has_more: false }));
    return true;
  };
  const replica = makeReplica();
  await runInto(fixture, replica);
  const content = replica.items.get(`${world.channels.engineering}/${ts}`)?.content;
  return content?.type === "inline" ? content.text : "";
}

test("no message is left out because the name of a person can't be read", async () => {
  const world = await makeWorld();
  const fixture = await makeSlackFixture(world);
  const whole = makeReplica();
  await runInto(fixture, whole);
  world.front.instead = ({ name }, response) => {
    if (name !== "users.info") return false;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: false, error: "fatal_error" }));
    return true;
  };
  const replica = makeReplica();
  const { events } = await runInto(fixture, replica);
  expect(events.filter(({ t }) => t === "skip")).toEqual([]);
  expect([...replica.items.keys()].sort()).toEqual([...whole.items.keys()].sort());
  // With their names once these are there.
  world.front.instead = undefined;
  await runInto(fixture, replica);
  expect(snapshotOf(replica)).toEqual(snapshotOf(whole));
});

describe("a message's text", () => {
  test("has what stands in blocks alone, with the names of people", async () => {
    const world = await makeWorld();
    expect(world.ids.ann).toMatch(/^U/u);
    const blocks = [rich(section(words("rolled back by "), { type: "user", user_id: "U000000404" }))];
    expect(await textOfMessage({ blocks })).toContain("rolled back by @U000000404");
  });

  test("says once what an app writes in two places, and keeps what only looks alike", async () => {
    const heading = { type: "header", text: plain("Disk full") };
    const details = { type: "section", text: mrkdwn("on *db1*, since 4:00") };
    const text = await textOfMessage({ text: "Disk full: on db1", blocks: [heading, details] });
    expect(text.match(/Disk full/gu)).toHaveLength(1);
    expect(text).toContain("since 4:00");
    expect(await textOfMessage({ text: "plan", blocks: [{ type: "header", text: plain("plane") }] })).toMatch(
      /plan\nplane/u,
    );
    expect(await textOfMessage({ text: "a & b", blocks: [rich(section(words("a & b")))] })).toMatch(/a & b$/u);
  });
});
