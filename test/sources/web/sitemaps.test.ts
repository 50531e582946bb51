import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readSitemap, type SitemapEntry } from "#sources/web/sitemap-xml.ts";
import { connect } from "./run.ts";
import { page, sitemap, sitemapIndex } from "./site.ts";

async function read(bytes: Uint8Array, { charset, step = Infinity }: { charset?: string; step?: number } = {}) {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
  }
  const found: SitemapEntry[] = [];
  const budget = { left: 1_000_000, until: Infinity };
  for await (const entry of readSitemap(pieces(), "h.test", budget, charset)) found.push(entry);
  return found;
}
const locsOf = async (xml: string | Uint8Array, more?: { charset?: string; step?: number }) =>
  (await read(Buffer.from(xml as string), more)).map(({ type, loc }) => `${type} ${loc}`);

describe("one language of sitemaps has many spellings", () => {
  const url = "http://h.test/a?b=1&amp;c=2";
  const found = ["page http://h.test/a?b=1&c=2"];
  test.each([
    ["the usual", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${url}</loc></url></urlset>`],
    ["no namespace", `<urlset><url><loc>${url}</loc></url></urlset>`],
    ["an old one", `<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url><loc>${url}</loc></url></urlset>`],
    [
      "a prefix",
      `<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"><sm:url><sm:loc>${url}</sm:loc></sm:url></sm:urlset>`,
    ],
    ["a prefix that is never declared", `<ns0:urlset><ns0:url><ns0:loc>${url}</ns0:loc></ns0:url></ns0:urlset>`],
    [
      "a prefix and none for the same",
      `<urlset xmlns="http://x.test/s" xmlns:s="http://x.test/s"><s:url><s:loc>${url}</s:loc></s:url></urlset>`,
    ],
    ["capitals", `<UrlSet><URL><Loc>${url}</Loc></URL></UrlSet>`],
    ["a set in a set", `<urlset><urlset><url><loc>${url}</loc></url></urlset></urlset>`],
    ["a document type", `<?xml version="1.0"?><!DOCTYPE urlset><urlset><url><loc>${url}</loc></url></urlset>`],
    [
      "the addresses of pictures beside it",
      `<urlset xmlns:image="http://i.test/"><url><loc>${url}</loc><image:loc>http://h.test/1.png</image:loc><image:image><image:loc>http://h.test/2.png</image:loc></image:image></url></urlset>`,
    ],
  ])("%s", async (_name, xml) => {
    expect(await locsOf(xml)).toEqual(found);
    expect(await locsOf(gzipSync(xml), { step: 1 })).toEqual(found);
  });

  test("an index with a prefix, and the day of a page", async () => {
    const xml = `<s:sitemapindex xmlns:s="x:"><s:sitemap><s:loc>http://h.test/b.xml</s:loc></s:sitemap></s:sitemapindex>`;
    expect(await locsOf(xml)).toEqual(["sitemap http://h.test/b.xml"]);
    const dated = `<s:urlset><s:url><s:loc>http://h.test/</s:loc><s:lastmod>2026-01-02</s:lastmod></s:url></s:urlset>`;
    expect(await read(Buffer.from(dated))).toEqual([
      { type: "page", loc: "http://h.test/", lastmod: Date.UTC(2026, 0, 2) },
    ]);
  });

  test("other documents are none", async () => {
    for (const text of ["<!doctype html><html><body><a href='/x'>x</a></body></html>", "<feed/>", "<rss/>", "none", ""])
      await expect(locsOf(text)).rejects.toThrow("not a sitemap");
  });
});

describe("sitemaps are read in the encoding that they are in", () => {
  const xmlIn = (encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?><urlset><url><loc>http://h.test/straße</loc></url></urlset>`;
  const found = ["page http://h.test/straße"];
  const le = (text: string) => Buffer.from(text, "utf16le");
  const be = (text: string) => le(text).swap16();

  test.each<[string, Buffer, string?]>([
    ["UTF-16 with a mark", Buffer.concat([Buffer.from([0xff, 0xfe]), le(xmlIn("UTF-16"))])],
    ["the other UTF-16 with a mark", Buffer.concat([Buffer.from([0xfe, 0xff]), be(xmlIn("UTF-16"))])],
    ["UTF-16 without a mark", le(xmlIn("UTF-16LE"))],
    ["the other UTF-16 without a mark", be(xmlIn("UTF-16BE"))],
    ["UTF-8 with a mark", Buffer.from(`\uFEFF${xmlIn("UTF-8")}`)],
    ["UTF-8 that calls itself UTF-16", Buffer.from(xmlIn("UTF-16"))],
    ["Latin-1 that is declared", Buffer.from(xmlIn("ISO-8859-1"), "latin1")],
    ["Latin-1 that the server tells", Buffer.from(xmlIn("").replace(' encoding=""', ""), "latin1"), "iso-8859-1"],
    ["an encoding that no one knows", Buffer.from(xmlIn("x-none"))],
    ["lines in UTF-16", Buffer.concat([Buffer.from([0xff, 0xfe]), le("http://h.test/straße\r\n")])],
  ])("%s", async (_name, bytes, charset) => {
    for (const step of [Infinity, 1, 7])
      expect(await locsOf(bytes, { step, ...(charset !== undefined && { charset }) })).toEqual(found);
  });
});

describe("a sitemap that can't be read", () => {
  test.each<[string, string, number]>([
    ["a page", page("Sitemap", ["/x"]), 200],
    ["a feed", '<feed xmlns="http://www.w3.org/2005/Atom"><entry/></feed>', 200],
    ["cut XML", "<urlset><url><loc>", 200],
    ["a failure", "", 500],
    ["none at all", "", 404],
  ])("%s: pages are found by links, and it is told", async (_name, body, status) => {
    const web = await connect();
    const { site } = web;
    site.put("/robots.txt", `Sitemap: ${site.origin}/map\n`);
    site.put("/map", body, { status });
    site.put("/", page("Home", ["/x"]));
    site.put("/x", page("X"));
    expect(await web.check()).toEqual({ ok: true, warnings: [expect.stringContaining(`${site.origin}/map`)] });
    expect(await web.run()).toEqual(["! /map", "+ /", "+ /x"]);
    const strict = await connect({ mode: "sitemap" }, site);
    expect(await strict.check()).toMatchObject({ ok: false });
    await expect(strict.run()).rejects.toThrow();
  });

  test("what was read by it stays", async () => {
    const web = await connect();
    const { site } = web;
    site.put("/robots.txt", `Sitemap: ${site.origin}/map\n`);
    site.put("/map", sitemap([`${site.origin}/`, `${site.origin}/alone`]), { type: "application/xml" });
    site.put("/", page("Home", ["/x"]));
    site.put("/x", page("X"));
    site.put("/alone", page("Alone"));
    await web.run();
    site.put("/map", "<html>Busy</html>");
    for (let i = 0; i < 2; i++) {
      await web.run();
      expect(web.paths()).toContain("/alone");
    }
  });
});

test("sitemaps at another origin are told as sitemaps, pages as pages", async () => {
  const web = await connect();
  const { site } = web;
  site.put("/robots.txt", `Sitemap: ${site.origin}/index.xml\nSitemap: http://maps.test/first.xml\n`);
  site.put(
    "/index.xml",
    sitemapIndex([
      `${site.origin}/one.xml`,
      "http://other.test/two.xml",
      `${site.origin.replace("http", "https")}/three.xml`,
    ]),
  );
  site.put("/one.xml", sitemap([`${site.origin}/`, "http://pages.test/x"]));
  site.put("/", page("Home"));
  const outcome = await web.check();
  expect(outcome).toMatchObject({ ok: true });
  const [pages, maps, ...more] = "warnings" in outcome ? (outcome.warnings ?? []) : [];
  expect(maps).toContain(`sitemaps at maps.test, other.test, ${site.origin.replace("http", "https")}.`);
  expect(maps).not.toContain("Connect");
  expect(pages).toMatch(/pages of pages\.test.*Connect that address/);
  expect(more).toEqual([]);
});
