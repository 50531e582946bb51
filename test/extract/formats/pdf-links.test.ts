import { expect, test } from "vitest";
import { textOf } from "../documents.ts";
import { linesOf, makePage } from "../pdf-files.ts";

const link = (rect: string, address: string, more = "") =>
  `/Subtype /Link /Rect [${rect}] /A << /S /URI /URI (${address}) >> ${more}`;

/** Each line is 14 points below the one before it, the first at 720; a letter of 12 points is about 6 wide. */
async function read(lines: readonly string[], annotations: readonly string[]): Promise<string> {
  return (await textOf("a.pdf", makePage({ content: linesOf(lines), annotations }))).text;
}

test("the address of a link follows the words that it covers", async () => {
  const text = await read(
    ["Read the long guide before you go on,", "and another one."],
    [link("120 717 175 731", "https://a.test/guide"), link("95 703 157 717", "mailto:b@b.test")],
  );
  expect(text).toBe(
    "[Page 1]\nRead the long guide (https://a.test/guide) before you go on,\nand another one (b@b.test).\n",
  );
});

test("a link of several lines has its address once, one that shows its address not again", async () => {
  const text = await read(
    ["before our long", "guide and after", "https://c.test/long", "/path is here"],
    [
      link("110 717 170 731", "https://a.test/guide"),
      link("72 703 103 717", "https://a.test/guide"),
      link("72 689 180 703", "https://c.test/long/path"),
      link("72 675 102 689", "https://c.test/long/path"),
    ],
  );
  expect(text).toBe(
    "[Page 1]\nbefore our long\nguide (https://a.test/guide) and after\nhttps://c.test/long\n/path is here\n",
  );
});

test("links that lead nowhere from here, that are hidden or over a picture add nothing", async () => {
  const text = await read(
    ["A line of words"],
    [
      link("72 717 172 731", "javascript:alert\\(1\\)"),
      link("72 717 172 731", "https://hidden.test/", "/F 2"),
      link("72 100 172 131", "https://picture.test/"),
      "/Subtype /Link /Rect [72 717 172 731] /Dest [3 0 R /Fit]",
    ],
  );
  expect(text).toBe("[Page 1]\nA line of words\n");
});

test("an address that a link covers with a mark too much is not repeated", async () => {
  const text = await read(
    ["Ana Berg (ana.berg@one.test) wrote"],
    [link("121 717 233 731", "mailto:ana.berg@one.test")],
  );
  expect(text).toBe("[Page 1]\nAna Berg (ana.berg@one.test) wrote\n");
});
