import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { connect } from "./run.ts";
import { page, sitemap, sitemapIndex } from "./site.ts";

describe("by links", () => {
  test("pages and the documents they link to, each once, with their place", async () => {
    const web = await connect({ path: "/docs/" });
    const { site } = web;
    site.put(
      "/docs/",
      page("Home", ["guide/", "./guide/#top", "/docs/guide/?utm_source=x", "/blog/", "app.js", "logo.png"]),
    );
    site.put(
      "/docs/guide/",
      page("Guide", ["install", "/docs/plan.pdf?v=2", "mailto:a@b.test", "javascript:alert(1)"]),
    );
    site.put("/docs/guide/install", page("Install", [], '<meta name="description" content="How to install">'));
    site.put("/docs/plan.pdf?v=2", "%PDF-1.4", { type: "application/pdf" });
    site.put("/blog/", page("Blog"));
    expect(await web.run()).toEqual(["+ /docs/", "+ /docs/guide/", "+ /docs/guide/install", "+ /docs/plan.pdf?v=2"]);
    expect(web.item("/docs/guide/install")).toMatchObject({
      kind: "page",
      title: "Install",
      path: ["docs", "guide"],
      url: `${site.origin}/docs/guide/install`,
      content: { type: "inline" },
      access: { known: true, all: [["group:con_aaaaaaaaaaaaaaaa:readers"]] },
    });
    expect(web.item("/docs/plan.pdf?v=2")).toMatchObject({
      kind: "file",
      title: "plan.pdf",
      mimeType: "application/pdf",
      content: { type: "fetch" },
    });
    expect(site.took().filter((path) => path.startsWith("/blog"))).toEqual([]);
  });

  test("an increment asks whether pages changed, and reads only those that did", async () => {
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put("/", page("Home", ["/a", "/b", "/c"]));
    for (const path of ["/a", "/b"]) site.put(path, page(path));
    site.put("/c", page("c"), { isBare: true, headers: { "last-modified": "Tue, 03 Mar 2026 10:00:00 GMT" } });
    await web.run();
    site.took();
    expect(await web.run("incremental")).toEqual(["= /", "= /a", "= /b", "= /c"]);
    expect(site.asked.map(({ headers }) => headers["if-modified-since"]).filter(Boolean)).toEqual([
      "Tue, 03 Mar 2026 10:00:00 GMT",
    ]);
    expect(site.took()).toEqual(["/robots.txt 404", "/ 304", "/a 304", "/b 304", "/c 200"]);
    site.put("/a", page("/a", ["/new"], "", "other words"));
    site.put("/new", page("New"));
    site.things.delete("/b");
    expect(await web.run("incremental")).toEqual(["+ /a", "- /b", "+ /new", "= /", "= /c"]);
    expect(web.paths()).toEqual(["/", "/a", "/c", "/new"]);
  });

  test("a page whose words are the same is the same, whatever its tokens and tags are", async () => {
    const web = await connect({ mode: "crawl" });
    let asked = 0;
    web.site.instead = (path, response) => {
      if (path !== "/") return false;
      const html = page("Home", ["/?token=1"]).replace(
        "<main>",
        `<script nonce="${++asked}">x=${asked}</script><main data-t="${asked}">`,
      );
      return (response.writeHead(200, { "content-type": "text/html", etag: `"${asked}"` }).end(html), true);
    };
    expect(await web.run()).toEqual(["+ /"]);
    expect(await web.run()).toEqual(["= /"]);
    expect(await web.run("incremental")).toEqual(["= /"]);
  });

  test("one page under several addresses is one item", async () => {
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put("/", page("Home", ["/index.html", "/old", "/a?sort=1", "/a", "/b", "/b/", "/loop1"]));
    site.put("/index.html", page("Home", ["/index.html", "/old", "/a?sort=1", "/a", "/b", "/b/", "/loop1"]));
    site.put("/old", "", { status: 302, headers: { location: "/new" } });
    site.put("/new", page("New"));
    const canonical = `<link rel="canonical" href="${site.origin}/a">`;
    site.put("/a?sort=1", page("A", [], canonical));
    site.put("/a", page("A", [], canonical));
    site.put("/b", page("B"));
    site.put("/b/", page("B"));
    site.put("/loop1", page("Loop", [], `<link rel="canonical" href="/loop2">`));
    site.put("/loop2", page("Loop", [], `<link rel="canonical" href="/loop1">`));
    await web.run();
    expect(web.paths()).toEqual(["/", "/a", "/b", "/loop2", "/new"]);
  });

  test("what a page asks of crawlers is done", async () => {
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put(
      "/",
      page("Home", [
        "/noindex",
        "/nofollow",
        "/header",
        "/other-bot",
        "/ended",
        "/secret/x",
        "/secret/open",
        "/id_rsa.txt",
      ]).replace("<main>", '<main><a href="/rel" rel="nofollow">x</a>'),
    );
    site.put("/noindex", page("x", ["/behind-noindex"], '<meta name="robots" content="noindex">'));
    site.put("/behind-noindex", page("y"));
    site.put("/nofollow", page("z", ["/behind-nofollow"], '<meta name="ROBOTS" content="NOFOLLOW">'));
    site.put("/header", page("h"), { headers: { "x-robots-tag": "none" } });
    site.put("/other-bot", page("o"), { headers: { "x-robots-tag": "googlebot: noindex" } });
    site.put("/ended", page("e"), { headers: { "x-robots-tag": "unavailable_after: 25 Jun 2010 15:00:00 GMT" } });
    for (const path of ["/behind-nofollow", "/rel", "/secret/x", "/secret/open"]) site.put(path, page(path));
    site.put("/robots.txt", "User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /secret/%78\nCrawl-delay: 2\n");
    await web.run();
    expect(web.paths()).toEqual(["/", "/behind-noindex", "/nofollow", "/other-bot", "/secret/open"]);
    expect(site.took().filter((path) => path.startsWith("/secret/x"))).toEqual([]);
    expect(new Set(web.slept)).toEqual(new Set([2_000]));
  });

  test("the scope chooses, and pages on the way to it are read for their links", async () => {
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put("/", page("Home", ["/docs/", "/blog/"]));
    site.put("/docs/", page("Docs", ["/docs/guide/", "/docs/api/"]));
    for (const path of ["/docs/guide/", "/docs/api/", "/blog/"]) site.put(path, page(path));
    await web.run("full", { scope: { include: ["docs/guide/**"], exclude: [] } });
    expect(web.paths()).toEqual(["/docs/guide/"]);
    expect(site.took().filter((path) => path.startsWith("/blog"))).toEqual([]);
  });

  test("browse gives the first segments, and what is below them", async () => {
    const web = await connect();
    web.site.put("/", page("Home", ["/docs/guide/install", "/docs/", "/about"]));
    const titles = async (parent: string | null) =>
      (await web.source.browse?.(web.context(), { parent }))?.nodes.map(({ title, kind }) => `${kind} ${title}`);
    expect(await titles(null)).toEqual(["file about", "folder docs", "file index"]);
    expect(await titles("docs")).toEqual(["folder guide", "file index"]);
  });
});

describe("by the sitemap", () => {
  test("an index with packed sitemaps; what has the same lastmod is not asked for in an increment", async () => {
    const web = await connect();
    const { site } = web;
    const { origin } = site;
    site.put("/robots.txt", `Sitemap: ${origin}/index.xml\n`);
    site.put("/index.xml", sitemapIndex([`${origin}/one.xml.gz`, `${origin}/two.xml`, "http://other.test/three.xml"]));
    const write = (b: string) =>
      site.put(
        "/one.xml.gz",
        gzipSync(
          sitemap([
            [`${origin}/a`, "2026-01-01"],
            [`${origin}/b`, b],
          ]),
        ),
      );
    write("2026-01-02");
    site.put("/two.xml", sitemap([`${origin}/c`, "http://other.test/d", "/relative"]));
    for (const path of ["/a", "/b", "/relative"]) site.put(path, page(path));
    site.put("/c", page("c", ["/not-in-it", "/notes.txt"]));
    site.put("/notes.txt", "notes");
    site.put("/not-in-it", page("not in it"));
    await web.run();
    expect(web.paths()).toEqual(["/a", "/b", "/c", "/notes.txt", "/relative"]);
    site.took();
    write("2026-02-02");
    site.put("/b", page("b", [], "", "changed"));
    expect(await web.run("incremental")).toEqual(["+ /b", "= /a", "= /c", "= /relative", "= /notes.txt"]);
    expect(site.took().slice(4)).toEqual(["/b 200", "/c 304", "/relative 304", "/notes.txt 304"]);
    expect(await web.check()).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining("pages of other.test"), expect.stringContaining("sitemaps at other.test")],
    });
  });

  test("a page that left the sitemap goes with a full run; one that is gone with any", async () => {
    const web = await connect();
    const { site } = web;
    const write = (...paths: string[]) => site.put("/sitemap.xml", sitemap(paths.map((path) => site.origin + path)));
    for (const path of ["/a", "/b", "/c"]) site.put(path, page(path));
    write("/a", "/b", "/c");
    await web.run();
    write("/a");
    site.things.delete("/c");
    await web.run("incremental");
    expect(web.paths()).toEqual(["/a", "/b"]);
    await web.run();
    expect(web.paths()).toEqual(["/a"]);
  });

  test("a sitemap that is cut, fails, is emptied or answers with something else removes nothing", async () => {
    const web = await connect();
    const { site } = web;
    const { origin } = site;
    site.put("/robots.txt", `Sitemap: ${origin}/index.xml\n`);
    site.put("/index.xml", sitemapIndex([`${origin}/one.xml`, `${origin}/two.xml`]));
    site.put("/one.xml", sitemap([`${origin}/a`, `${origin}/b`]));
    site.put("/two.xml", sitemap([`${origin}/c`]));
    site.put("/", page("Home"));
    for (const path of ["/a", "/b", "/c"]) site.put(path, page(path));
    await web.run();
    const whole = site.things.get("/one.xml")?.body as string;
    for (const one of [whole.slice(0, -20), "<html>Sign in</html>", "", `<!DOCTYPE x [<!ENTITY a "b">]>${whole}`]) {
      site.put("/one.xml", one);
      expect(await web.run()).toContain("! /one.xml");
      expect(web.paths()).toEqual(["/a", "/b", "/c"]);
    }
    site.put("/one.xml", "", { status: 500 });
    await web.run();
    expect(web.paths()).toEqual(["/a", "/b", "/c"]);
    for (const path of ["/one.xml", "/two.xml", "/index.xml"]) site.put(path, "<html>Sign in</html>");
    for (let runs = 0; runs < 3; runs++) {
      expect(await web.run()).toContain("! /index.xml");
      expect(web.paths()).toEqual(["/", "/a", "/b", "/c"]);
    }
    // Without any sitemap it goes on by links, and first looks at what only the sitemap named.
    for (const path of ["/one.xml", "/two.xml", "/index.xml", "/robots.txt"]) site.things.delete(path);
    await web.run();
    expect(web.paths()).toEqual(["/", "/a", "/b", "/c"]);
  });
});

describe("a sitemap is a hint where links do as well", () => {
  const BROKEN: [string, string | Buffer, number][] = [
    ["an HTML page", "<html>Not found</html>", 200],
    ["a feed", '<feed xmlns="http://www.w3.org/2005/Atom"><entry/></feed>', 200],
    ["one that defines entities", `<!DOCTYPE urlset [<!ENTITY a "b">]>${sitemap(["/a"])}`, 200],
    ["one that is cut", sitemap(["/a"]).slice(0, -20), 200],
    ["a failure", "", 500],
    ["nothing", "", 404],
  ];
  test.for(BROKEN)("robots.txt names %s: the site is connected and read by links", async ([, body, status]) => {
    const web = await connect();
    web.site.put("/robots.txt", `Sitemap: ${web.site.origin}/map.xml\n`);
    web.site.put("/map.xml", body, { status });
    web.site.put("/", page("Home", ["/a", "/b"]));
    for (const path of ["/a", "/b"]) web.site.put(path, page(path));
    expect(await web.check()).toMatchObject({ ok: true, warnings: [expect.stringContaining("/map.xml")] });
    await web.run();
    expect(web.paths()).toEqual(["/", "/a", "/b"]);
    const only = await connect({ mode: "sitemap" }, web.site);
    expect(await only.check()).toMatchObject({ ok: false });
  });

  const utf16 = (text: string) => Buffer.from(text, "utf16le");
  const MAP = sitemap(["/a", "/ü"]);
  const prefixed = MAP.replace('urlset xmlns="', 'sm:urlset xmlns:image="urn:i" xmlns:sm="')
    .replaceAll(/<(\/?)(url|loc|urlset)>/gu, "<$1sm:$2>")
    .replace("</sm:url>", "<image:image><image:loc>/picture</image:loc></image:image></sm:url>");
  test.for<[string, string | Buffer]>([
    ["a prefix of its own", prefixed],
    ["another namespace", MAP.replace("www.sitemaps.org/schemas/sitemap/0.9", "www.google.com/schemas/sitemap/0.84")],
    ["no namespace", MAP.replace(/ xmlns="[^"]*"/u, "")],
    ["UTF-16 with a mark", utf16(`\uFEFF${MAP.replace("UTF-8", "UTF-16")}`)],
    ["UTF-16, the other way round", utf16(`\uFEFF${MAP}`).swap16()],
    ["UTF-16 without a mark", utf16(MAP)],
    ["UTF-16 in name alone", MAP.replace("UTF-8", "UTF-16")],
    ["Latin-1", Buffer.from(MAP.replace("UTF-8", "ISO-8859-1"), "latin1")],
    ["lines in UTF-16", utf16("\uFEFFORIGIN/a\r\nORIGIN/ü")],
  ])("one with %s is read", async ([, body]) => {
    const web = await connect({ mode: "sitemap" });
    const { origin } = web.site;
    const written =
      typeof body === "string" || !body.includes(utf16("ORIGIN"))
        ? body
        : utf16(body.toString("utf16le").replaceAll("ORIGIN", origin));
    web.site.put("/sitemap.xml", written);
    for (const path of ["/a", "/%C3%BC"]) web.site.put(path, page(path));
    await web.run();
    expect(web.paths()).toEqual(["/%C3%BC", "/a"]);
  });
});

describe("a page that sends its visitors on at once", () => {
  const refresh = (to: string) => `<meta http-equiv="refresh" content="0; url=${to}">`;

  test("gives way to where it leads, but not to what is for browsers without scripts", async () => {
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put("/", page("Home", ["/old", "/shop"]));
    site.put("/old", page("Old", [], refresh("/new")));
    site.put("/new", page("New"));
    site.put("/shop", page("Shop", [], `<noscript>${refresh("/no-scripts")}</noscript>`));
    site.put("/no-scripts", page("Turn scripts on"));
    await web.run();
    expect(web.paths()).toEqual(["/", "/new", "/shop"]);
  });

  test.for([2, 3, 4])("in a circle of %i, one page stands for them", async (length) => {
    const web = await connect({ mode: "crawl" });
    const paths = Array.from({ length }, (_, at) => `/${at}`);
    web.site.put("/", page("Home", paths));
    for (const [at, path] of paths.entries())
      web.site.put(path, page(`Page ${at}`, [], refresh(`/${(at + 1) % length}`)));
    await web.run();
    expect(web.paths()).toHaveLength(2);
    await web.run();
    expect(web.paths()).toHaveLength(2);
  });
});

test("a redirect to a page does not take its place", async () => {
  const web = await connect({ mode: "crawl" });
  const canonical = '<link rel="canonical" href="/b">';
  web.site.put("/", page("Home", ["/b", "/old", "/b?ref=x"]));
  for (const path of ["/b", "/b?ref=x"]) web.site.put(path, page("B", [], canonical));
  web.site.put("/old", "", { status: 302, headers: { location: "/b" } });
  await web.run();
  expect(web.paths()).toEqual(["/", "/b"]);
});

describe("what is not there", () => {
  test("a page that says it is a copy of one that isn't there stands for itself", async () => {
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put("/", page("Home", ["/a", "/c", "/d"]));
    const copyOf = (path: string) => `<link rel="canonical" href="${path}">`;
    site.put("/a", page("A", [], copyOf("/lost")));
    site.put("/c", page("C", [], copyOf("/original")));
    site.put("/original", page("Original"));
    site.put("/d", page("D", [], copyOf("/e")));
    site.put("/e", page("E", [], copyOf("/nowhere")));
    expect(await web.run()).toEqual(["+ /", "+ /a", "+ /original", "+ /e"]);
    expect(await web.run("incremental")).toEqual(["= /", "= /a", "= /original", "= /e"]);
    expect((await web.run()).sort()).toEqual(["= /", "= /a", "= /e", "= /original"]);
    expect(web.paths()).toEqual(["/", "/a", "/e", "/original"]);
  });

  test("an address that is asked for by itself is told, whatever became of it", async () => {
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put("/", page("Home", ["/old", "/a"]));
    for (const path of ["/old", "/a"]) site.put(path, page(path));
    await web.run();
    site.put("/old", "", { status: 301, headers: { location: "/new" } });
    site.put("/new", page("/old"));
    site.things.delete("/a");
    const externalIds = ["/old", "/a", "/none"].map((path) => site.origin + path);
    expect(await web.run("items", { externalIds })).toEqual(["+ /new", "- /a", "- /none"]);
    expect(web.paths()).toEqual(["/", "/new"]);
  });

  test("an answer without content is no page, and says so", async () => {
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put("/", page("Home", ["/a", "/b.txt"]));
    for (const path of ["/a", "/b.txt"]) site.put(path, path === "/a" ? page("A") : "Some text.");
    await web.run();
    expect(web.paths()).toEqual(["/", "/a", "/b.txt"]);
    for (const path of ["/a", "/b.txt"]) site.put(path, "", { status: 204 });
    expect(await web.run("incremental")).toEqual(["~ /a", "- /a", "~ /b.txt", "- /b.txt", "= /"]);
    expect(web.paths()).toEqual(["/"]);
    await expect(
      web.source.fetchContent?.(web.context(), { externalId: `${site.origin}/b.txt` }),
    ).rejects.toMatchObject({ code: "source_not_found" });
  });

  test("a document that redirects is read only where robots.txt lets kb go", async () => {
    const web = await connect({ mode: "crawl" });
    const { site } = web;
    site.put("/robots.txt", "User-agent: *\nDisallow: /private/\n");
    site.put("/a.txt", "", { status: 302, headers: { location: "/private/a.txt" } });
    site.put("/private/a.txt", "Not for robots.");
    site.put("/b.txt", "", { status: 302, headers: { location: "/open.txt" } });
    site.put("/open.txt", "For all.");
    const read = async (path: string) => {
      const content = await web.source.fetchContent?.(web.context(), { externalId: site.origin + path });
      let text = "";
      for await (const piece of content?.stream ?? []) text += Buffer.from(piece).toString();
      return text;
    };
    expect(await read("/b.txt")).toBe("For all.");
    site.took();
    await expect(read("/a.txt")).rejects.toMatchObject({ code: "source_unavailable" });
    expect(site.took().filter((each) => each.startsWith("/private"))).toEqual([]);
  });
});
