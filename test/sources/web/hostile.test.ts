import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { limited } from "#sources/web/client.ts";
import { WebConfig, siteOf } from "#sources/web/config.ts";
import { decodePage, readPage } from "#sources/web/page.ts";
import { toRobots } from "#sources/web/robots.ts";
import { readSitemap } from "#sources/web/sitemap-xml.ts";
import { pageUrl } from "#sources/web/urls.ts";
import { connect } from "./run.ts";
import { page, sitemap } from "./site.ts";

const MEBIBYTE = 1_048_576;
const SIGN_IN = '<html><body><form><input name="user"><input type="password"></form></body></html>';

describe("what leads elsewhere", () => {
  test("an address counts only on the site, once decoded", () => {
    const site = siteOf({ url: "https://h.test/docs/" });
    const at = (href: string) => pageUrl(href, new URL("https://h.test/docs/a/"), site)?.href;
    expect(at("b?x=1#top")).toBe("https://h.test/docs/a/b?x=1");
    expect(at("/docs/%7Eann?b=2&utm_medium=m&a=1&fbclid=3")).toBe("https://h.test/docs/~ann?b=2&a=1");
    expect(at("/docs/x;jsessionid=1F?PHPSESSID=2")).toBe("https://h.test/docs/x");
    expect(at("https://H.test:443/docs")).toBe("https://h.test/docs");
    for (const href of [
      "http://h.test/docs/a",
      "https://h.test:8443/docs/a",
      "//other.test/docs/a",
      "https://user:secret@h.test/docs/a",
      "/docs/../admin",
      "/docs/%2e%2e/admin",
      "/docsecret",
      "javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "http://169.254.169.254/latest/meta-data/",
      "http://[",
      `/docs/${"x".repeat(2_000)}`,
      "/docs/a/b/a/b/a/b/a/b",
      `/docs/${"x/".repeat(3)}${[...Array(30).keys()].join("/")}`,
      `/docs/?${"q=1&".repeat(200)}`,
    ]) {
      expect([href, at(href)]).toEqual([href, undefined]);
    }
  });

  test("nothing but the site is asked, wherever pages, frames, redirects and rules lead", async () => {
    const other = await connect();
    const away = other.site.origin;
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put(
      "/",
      page("Home", [
        "/base",
        "/refresh",
        "/redirect",
        "/canonical",
        "/script",
        `${away}/x`,
        "file:///etc/passwd",
        "http://169.254.169.254/",
      ]),
    );
    site.put("/base", page("Base", ["a", "/b"], `<base href="${away}/">`));
    site.put("/refresh", page("Refresh", [], `<meta http-equiv="refresh" content="0;url=${away}/r">`));
    site.put("/canonical", page("Canonical", [], `<link rel="canonical" href="${away}/c">`));
    site.put("/script", page("Script", [], '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">'));
    site.put("/redirect", "", { status: 301, headers: { location: `${away}/r` } });
    await web.run();
    expect(web.paths()).toEqual(["/", "/base", "/canonical", "/refresh", "/script"]);
    expect(other.site.asked).toEqual([]);
    const internal = await connect({ url: "http://169.254.169.254/" } as Partial<WebConfig>);
    expect(await internal.check()).toMatchObject({ ok: false, problem: { code: "address_not_allowed" } });
  });

  test("redirects without end, and pages that send on for ever, end", async () => {
    const web = await connect({ mode: "crawl", maxDepth: 3 });
    const { site } = web;
    site.put("/", page("Home", ["/turn", "/hop0", "/fresh0"]));
    site.put("/turn", "", { status: 302, headers: { location: "/turn" } });
    site.instead = (path, response) => {
      const [, kind, n] = /^\/(hop|fresh)(\d+)$/.exec(path) ?? [];
      if (kind === "hop") response.writeHead(302, { location: `/hop${Number(n) + 1}` }).end();
      if (kind === "fresh") {
        const head = `<meta http-equiv="refresh" content="0;url=/fresh${Number(n) + 1}">`;
        response.writeHead(200, { "content-type": "text/html" }).end(page("x", [], head));
      }
      return kind !== undefined;
    };
    await web.run();
    expect(web.paths()).toEqual(["/"]);
    expect(site.asked.length).toBeLessThan(25);
  });
});

describe("what has no end or measure", () => {
  test("calendars, folders in themselves and chains of links stop", async () => {
    const web = await connect({ mode: "crawl", maxDepth: 4, maxPages: 60 });
    web.site.instead = (path, response) => {
      if (path === "/robots.txt") return false;
      const depth = Number(/n=(\d+)/.exec(path)?.[1] ?? 0);
      const links = path.startsWith("/cal")
        ? [`/cal?n=${depth + 1}`, `/cal?n=${depth + 1}&view=week`, `/cal?n=${depth + 7}`, `/cal?m=${depth}`]
        : ["/cal?n=1", "/self/self/", "self/", "/chain/1"];
      const next = /^\/chain\/(\d+)$/.exec(path)?.[1];
      if (next) links.push(`/chain/${Number(next) + 1}`);
      response.writeHead(200, { "content-type": "text/html" }).end(page(path, links));
      return true;
    };
    await web.run();
    const paths = web.paths();
    expect(paths.filter((path) => path.startsWith("/cal")).length).toBeLessThanOrEqual(20);
    expect(paths.filter((path) => /^\/chain\/\d+$/.test(path)).length).toBeLessThanOrEqual(4);
    expect(paths.length).toBeLessThanOrEqual(60);
    expect(web.site.asked.length).toBeLessThan(80);
  });

  test("the limit of pages is kept, and told", async () => {
    const web = await connect({ mode: "crawl", maxPages: 3 });
    const links = Array.from({ length: 30 }, (_, i) => `/p${i}`);
    web.site.put("/", page("Home", links));
    for (const path of links) web.site.put(path, page(path));
    const marks = await web.run();
    expect(web.paths()).toEqual(["/", "/p0", "/p1"]);
    expect(marks.filter((mark) => mark.startsWith("~"))).toHaveLength(20);
  });

  test("a page without end, a packed bomb and a cut page leave the others and what was there", async () => {
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put("/", page("Home", ["/endless", "/bomb", "/cut", "/last"]));
    for (const path of ["/endless", "/bomb", "/cut", "/last"]) site.put(path, page(path));
    await web.run();
    let sent = 0;
    site.instead = (path, response) => {
      if (path === "/endless") void pour(response, (bytes) => void (sent += bytes));
      if (path === "/bomb")
        response.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" }).end(BOMB);
      if (path === "/cut")
        response
          .writeHead(200, { "content-type": "text/html", "content-length": "9999" })
          .write("<p>half", () => void response.destroy());
      return ["/endless", "/bomb", "/cut"].includes(path);
    };
    const marks = await web.run();
    // Named as too large, and not as gone: the run keeps what it has of them for some days.
    expect(marks.filter((mark) => !mark.startsWith("="))).toEqual(["~ /endless", "~ /bomb", "! /cut"]);
    expect(sent).toBeLessThan(64 * MEBIBYTE);
    expect(web.paths()).toContain("/cut");
    expect(web.paths()).toContain("/last");
  });

  test("a packed sitemap that grows is refused before it has grown", async () => {
    const budget = { left: MEBIBYTE, until: Infinity };
    const read = async () => {
      for await (const _ of readSitemap(once(BOMB), "h.test", budget)) continue;
    };
    await expect(read()).rejects.toThrow("larger than kb reads");
    const late = { left: MEBIBYTE, until: -1 };
    const slow = readSitemap(once(Buffer.from(sitemap(["http://h.test/"]))), "h.test", late);
    await expect(slow.next()).rejects.toThrow("too long");
    const entities = '<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset><url><loc>&a;</loc></url></urlset>';
    await expect(
      readSitemap(once(Buffer.from(entities)), "h.test", { left: 1_000, until: Infinity }).next(),
    ).rejects.toThrow("not a sitemap");
    const deep = `<urlset>${"<x>".repeat(100_000)}`;
    await expect(
      readSitemap(once(Buffer.from(deep)), "h.test", { left: MEBIBYTE, until: Infinity }).next(),
    ).rejects.toThrow("too deeply");
  });

  test("a comment or a tag without end in a sitemap is given up early", async () => {
    for (const start of ["<urlset><!-- ", '<urlset><url a="', "<urlset><![CDATA[", "<urlset><?x "]) {
      let sent = 0;
      async function* endless() {
        yield Buffer.from(start);
        for (;;) yield (((sent += 65_536), Buffer.alloc(65_536, "x")));
      }
      const read = readSitemap(endless(), "h.test", { left: 200 * MEBIBYTE, until: Infinity });
      await expect(read.next()).rejects.toThrow("unclosed");
      expect(sent).toBeLessThan(2 * MEBIBYTE);
    }
  });

  test("a page that drips is given up", async () => {
    let now = 0;
    async function* drip() {
      for (;;) yield (((now += 10_000), new Uint8Array(1)));
    }
    const read = async () => {
      for await (const _ of limited(drip(), "h.test", () => now)) continue;
    };
    await expect(read()).rejects.toMatchObject({ code: "source_unavailable", details: { status: 200 } });
    expect(now).toBeLessThan(200_000);
  });

  test("pages of nothing but tags and links take little", async () => {
    const deep = await readPage(`<title>Deep</title>${"<div>".repeat(200_000)}`, "kb", null);
    expect(deep.title).toBe("Deep");
    const many = Array.from({ length: 20_000 }, (_, i) => `<a href="/${i}">x</a>`).join("");
    expect((await readPage(many, "kb", null)).links).toHaveLength(5_000);
    const marks = await readPage(`<title>${"#".repeat(500_000)}x</title><h1>${"¶".repeat(500_000)}x</h1>`, "kb", null);
    expect(marks.title?.length ?? 0).toBeLessThanOrEqual(300);
    await readPage(`${"<div>".repeat(1_900)}${"a<br>".repeat(100_000)}`, "kb", null);
    const ends = `${"<div>".repeat(1_900)}${"</a>".repeat(1_500_000)}<a href="/late">x</a>`;
    expect((await readPage(ends, "kb", null)).links).toEqual([]);
  });
});

describe("rules", () => {
  const config = WebConfig.parse({ url: "https://h.test/" });
  const allows = (text: string, path: string) => toRobots(text, config).allows(new URL(path, "https://h.test"));

  test("are those of RFC 9309", () => {
    const rules =
      "User-agent: kb-connector-search\nDisallow: /a\nAllow: /a/b\nDisallow: /*.php$\n\nUser-agent: *\nDisallow: /";
    expect(["/", "/a", "/a/b", "/x.php", "/x.php?q"].map((path) => allows(rules, path))).toEqual([
      true,
      false,
      true,
      false,
      true,
    ]);
    expect(allows("User-agent: *\nDisallow: /%7Eann/", "/~ann/x")).toBe(false);
    expect(allows("User-agent: *\nDisallow: /x.html\nDisallow: /*.php$", "/x%2Ehtml")).toBe(false);
    expect(allows("User-agent: *\nDisallow: /*?secret=", "/a?%73ecret=1")).toBe(false);
    expect(allows("<html>Not found</html>", "/")).toBe(true);
    const shared =
      "User-agent: a\nUser-agent: KB-Connector-Search/2.0 # us\nUser-agent: b\nDisallow: /x\n\nUser-agent: c\nDisallow: /y\n";
    expect(["/x", "/y"].map((path) => allows(shared, path))).toEqual([false, true]);
    expect(allows("User-agent: kb-connector-search\nNoted: x\nUser-agent: *\nDisallow: /x", "/x")).toBe(false);
  });

  test("of megabytes are read as far as they must be, and patterns that take for ever allow nothing", async () => {
    expect(() => toRobots(`User-agent: *\n${`Disallow: /${"*a".repeat(500)}\n`.repeat(100)}`, config)).toThrow(
      "more patterns",
    );
    expect(() => toRobots(`User-agent: *\nDisallow: /${"x".repeat(5_000)}`, config)).toThrow("more patterns");
    // Each rule for each crawler would be 400 million.
    const agents = Array.from({ length: 17_000 }, (_, i) => `User-agent: ${i % 2 === 0 ? "*" : `a${i}`}\n`).join("");
    expect(allows(`${agents}User-agent: *\n${"Disallow:/n\n".repeat(20_000)}`, "/yes")).toBe(true);
    const web = await connect({ mode: "crawl" });
    web.site.put("/robots.txt", `User-agent: *\nDisallow: /no\n${"# nothing\n".repeat(200_000)}Disallow: /\n`);
    web.site.put("/", page("Home", ["/no", "/yes"]));
    web.site.put("/yes", page("Yes"));
    await web.run();
    expect(web.paths()).toEqual(["/", "/yes"]);
  });

  test("that can't be read now allow nothing, and those that are not there allow all", async () => {
    const web = await connect({ mode: "crawl" });
    web.site.put("/", page("Home"));
    await web.run();
    web.site.took();
    web.site.put("/robots.txt", "", { status: 500 });
    await expect(web.run()).rejects.toMatchObject({
      code: "source_unavailable",
      message: expect.stringContaining("robots.txt"),
    });
    expect(web.site.took()).toEqual(["/robots.txt 500"]);
    web.site.put("/robots.txt", "", { status: 403 });
    expect(await web.run()).toEqual(["= /"]);
    web.site.put("/robots.txt", "User-agent: *\nDisallow: /");
    await expect(web.run()).rejects.toThrow("robots.txt");
    expect(web.paths()).toEqual(["/"]);
  });
});

describe("nothing goes because it can't be seen", () => {
  test.each([
    ["sends everyone to a form on the site", (path: string) => (path === "/login" ? 200 : 302), "/login"],
    ["sends everyone to another host", () => 302, "http://login.test/"],
    ["answers each page with a form", () => 200, undefined],
    ["fails on each page but the first", (path: string) => (path === "/" ? undefined : 500), undefined],
    ["refuses each page but the first", (path: string) => (path === "/" ? undefined : 403), undefined],
  ])("when the site %s", async (_what, statusOf, location) => {
    for (const mode of ["crawl", "sitemap"] as const) {
      const web = await connect({ mode });
      const { site } = web;
      site.put("/", page("Home", ["/a", "/b/"]));
      site.put("/a", page("A"));
      site.put("/b/", page("B", ["/b/c"]));
      site.put("/b/c", page("C"));
      site.put("/sitemap.xml", sitemap(["/", "/a", "/b/", "/b/c"].map((path) => site.origin + path)));
      await web.run();
      const before = [...web.replica.items.values()];
      site.instead = (path, response) => {
        const status = /robots|sitemap/.test(path) ? undefined : statusOf(path);
        if (status === undefined) return false;
        response
          .writeHead(status, { "content-type": "text/html", ...(status === 302 && { location }) })
          .end(status === 200 ? SIGN_IN : "");
        return true;
      };
      await web.run().catch((error: unknown) => expect(error).toHaveProperty("code"));
      await web.run("incremental").catch((error: unknown) => expect(error).toHaveProperty("code"));
      expect([...web.replica.items.values()]).toEqual(before);
    }
  });

  test("a first page that is gone, or leads away, is a failure", async () => {
    for (const thing of [
      { status: 404 },
      { status: 302, headers: { location: "https://www.other.test/" } },
      { status: 500 },
      { body: SIGN_IN },
    ]) {
      const web = await connect({ mode: "crawl" });
      web.site.put("/", page("Home", ["/a"]));
      web.site.put("/a", page("A"));
      await web.run();
      web.site.things.set("/", thing);
      await expect(web.run()).rejects.toHaveProperty("code");
      expect(web.paths()).toEqual(["/", "/a"]);
      expect(await web.check()).toMatchObject({ ok: false, problem: { field: "url", hint: expect.any(String) } });
    }
  });
});

test("a redirect in a circle is a failure, for good or not", async () => {
  const web = await connect({ mode: "crawl" });
  web.site.put("/", page("Home", ["/a"]));
  web.site.put("/a", page("A"));
  await web.run();
  web.site.put("/a", "", { status: 301, headers: { location: "/a" } });
  for (const mode of ["full", "incremental"] as const) {
    expect(await web.run(mode)).toContain("! /a");
    expect(web.paths()).toEqual(["/", "/a"]);
  }
});

test("a sitemap that is gone in an incremental run and the next full one removes nothing", async () => {
  const web = await connect();
  const { site } = web;
  site.put("/", page("Home"));
  for (const path of ["/a", "/b"]) site.put(path, page(path));
  site.put("/sitemap.xml", sitemap(["/", "/a", "/b"].map((path) => site.origin + path)));
  await web.run();
  site.things.delete("/sitemap.xml");
  await web.run("incremental");
  await web.run();
  expect(web.paths()).toEqual(["/", "/a", "/b"]);
});

test("names of keys and unknown bytes are no pages, however they are written", async () => {
  const web = await connect({ mode: "crawl" });
  web.site.put("/", page("Home", ["/%2Eenv", "/get/1"]));
  web.site.put("/.env", "SECRET=1", { type: "text/plain" });
  web.site.put("/%2Eenv", "SECRET=1", { type: "text/plain" });
  web.site.put("/get/1", Buffer.from([80, 75, 3, 4, 0, 1]), { type: "application/octet-stream" });
  expect(await web.run()).toEqual(["+ /", "~ /.env"]);
});

test("a form to sign in never becomes the text of a document", async () => {
  const web = await connect({ mode: "crawl" });
  const { site } = web;
  site.put("/", page("Home", ["/d.pdf"]));
  site.put("/d.pdf", "%PDF-1.4");
  await web.run();
  const externalId = `${site.origin}/d.pdf`;
  const { version = "" } = web.replica.items.get(externalId) ?? {};
  expect(version).not.toBe("");
  site.put("/d.pdf", SIGN_IN, { type: "text/html" });
  const read = web.source.fetchContent?.(web.context(), { externalId, version });
  await expect(read).rejects.toMatchObject({ code: "source_unavailable" });
});

test("a charset is what the bytes are, then what was said", () => {
  const text = "Grüße — 日本";
  const utf8 = Buffer.from(text);
  expect(decodePage(utf8, "text/html; charset=iso-8859-1")).toBe(text);
  expect(decodePage(utf8, "text/html; charset=utf-16")).toBe(text);
  expect(decodePage(Buffer.from("Gr\xfc\xdfe", "latin1"), "text/html; charset=utf-8")).toContain("Gr");
  expect(decodePage(Buffer.from("Gr\xfc\xdfe", "latin1"), "text/html; charset=iso-8859-1")).toBe("Grüße");
  expect(decodePage(Buffer.from("Gr\xfc\xdfe", "latin1"), "text/html; charset=no-such")).toBe("Grüße");
  expect(decodePage(Buffer.from(`\ufeff${text}`, "utf16le"), null)).toBe(text);
  const western = Buffer.from("<p>5 \x80 \x93quoted\x94", "latin1");
  for (const type of [null, "text/html; charset=iso-8859-1", "text/html; charset=Windows-1252"])
    expect(decodePage(western, type)).toBe("<p>5 € “quoted”");
  const russian = iconv.encode("<meta charset=windows-1251><p>Съешь же ещё этих булок", "windows-1251");
  for (const type of [null, "text/html; charset=utf-8", "text/html; charset=utf-16", "text/html; charset=none"])
    expect(decodePage(russian, type)).toContain("Съешь же ещё этих булок");
});

const BOMB = gzipSync(Buffer.alloc(24 * MEBIBYTE, " "), { level: 1 });

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Sends until nobody reads any more. */
async function pour(response: ServerResponse, count: (bytes: number) => void): Promise<void> {
  response.setMaxListeners(0);
  const piece = Buffer.alloc(MEBIBYTE, "<p>more</p>");
  response.writeHead(200, { "content-type": "text/html" });
  for (let i = 0; i < 1_024 && !response.destroyed; i++) {
    count(piece.length);
    if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
  }
}
