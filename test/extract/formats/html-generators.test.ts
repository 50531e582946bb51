import { expect, test } from "vitest";
import { textOf } from "../documents.ts";

const WORDS = `Install the command line tool first, then sign in. The server keeps its data in one folder, which you can move while it
is stopped. Backups are copies of that folder; restore one by putting it back and starting the server again.`;
const MAIN = `<p>${WORDS}</p><h2 id="configure">Configure the server</h2><p>${WORDS}</p>
<pre><code class="language-sh">kb serve --port 8080</code></pre><table><thead><tr><th>Key</th><th>Meaning</th></tr></thead>
<tbody><tr><td>port</td><td>where it listens</td></tr></tbody></table>`;
const COOKIES = `<div id="cookie-banner" role="dialog" aria-label="Cookie consent"><p>JUNK We value your privacy.</p><button>JUNK Accept</button></div>`;
const items = (name: string) =>
  Array.from(
    { length: 12 },
    (_, i) => `<li class="menu__list-item"><a class="menu__link" href="/docs/${i}">JUNK ${name} ${i}</a></li>`,
  ).join("");

/** As these programs write pages with their standard themes; what is not the page's own text says JUNK. */
const PAGES = {
  Docusaurus: `<!doctype html><html lang="en" class="docs-wrapper docs-doc-page"><head><meta name="generator" content="Docusaurus v3.5.2">
<title>Install | Site</title></head><body class="navigation-with-keyboard"><div id="__docusaurus">
<div role="region" aria-label="Skip to main content"><a class="skipToContent_fXgn" href="#__docusaurus_skipToContent_fallback">JUNK Skip</a></div>
<nav aria-label="Main" class="navbar navbar--fixed-top"><div class="navbar__inner">${items("top")}</div></nav>
<div id="__docusaurus_skipToContent_fallback" class="main-wrapper mainWrapper_z2l0"><div class="docsWrapper_hBAB">
<aside class="theme-doc-sidebar-container docSidebarContainer_YfHR"><nav aria-label="Docs sidebar" class="menu thin-scrollbar"><ul>${items("side")}</ul></nav></aside>
<main class="docMainContainer_TBSr"><div class="container padding-top--md"><div class="row"><div class="col docItemCol_VOVn"><div class="docItemContainer_Djhp">
<article><nav class="theme-doc-breadcrumbs" aria-label="Breadcrumbs"><ul class="breadcrumbs"><li>JUNK crumb</li></ul></nav>
<div class="theme-doc-markdown markdown"><header><h1>Install</h1></header>${MAIN}</div></article>
<nav class="pagination-nav docusaurus-mt-lg" aria-label="Docs pages"><a href="/n">JUNK Next</a></nav></div></div></div></div></main></div></div>
<footer class="footer footer--dark"><div class="container">JUNK Copyright</div></footer></div>${COOKIES}</body></html>`,
  MkDocs: `<!doctype html><html lang="en" class="no-js"><head><meta name="generator" content="mkdocs-1.6.1, mkdocs-material-9.5.39"><title>Install - Site</title></head>
<body dir="ltr" data-md-color-scheme="default"><div data-md-component="skip"><a href="#install" class="md-skip">JUNK Skip to content</a></div>
<header class="md-header" data-md-component="header"><nav class="md-header__inner md-grid" aria-label="Header">JUNK Site</nav></header>
<div class="md-container"><main class="md-main" data-md-component="main"><div class="md-main__inner md-grid">
<div class="md-sidebar md-sidebar--primary"><div class="md-sidebar__scrollwrap"><nav class="md-nav md-nav--primary" aria-label="Navigation"><ul>${items("nav")}</ul></nav></div></div>
<div class="md-sidebar md-sidebar--secondary"><nav class="md-nav md-nav--secondary" aria-label="Table of contents"><ul>${items("toc")}</ul></nav></div>
<div class="md-content" data-md-component="content"><article class="md-content__inner md-typeset"><h1 id="install">Install<a class="headerlink" href="#install">¶</a></h1>${MAIN}</article></div>
</div></main><footer class="md-footer"><div class="md-footer-meta">JUNK Made with Material</div></footer></div>${COOKIES}</body></html>`,
  Sphinx: `<!DOCTYPE html><html lang="en" data-content_root="./"><head><meta name="generator" content="Docutils 0.21"><title>Install — Site 1.0 documentation</title></head><body>
<div class="related" role="navigation" aria-label="Related"><h3>JUNK Navigation</h3><ul>${items("related")}</ul></div>
<div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main"><section id="install"><h1>Install<a class="headerlink" href="#install">¶</a></h1>${MAIN}</section><div class="clearer"></div></div></div></div>
<div class="sphinxsidebar" role="navigation" aria-label="Main"><div class="sphinxsidebarwrapper"><ul>${items("side")}</ul></div></div></div>
<div class="footer" role="contentinfo">JUNK © Copyright</div></body></html>`,
  Jekyll: `<!DOCTYPE html><html lang="en"><head><meta name="generator" content="Jekyll v4.3.3"><title>Install | Site</title></head><body>
<header class="site-header"><div class="wrapper"><a class="site-title" href="/">JUNK Site</a><nav class="site-nav"><div class="trigger">${items("nav")}</div></nav></div></header>
<main class="page-content" aria-label="Content"><div class="wrapper"><article class="post h-entry"><header class="post-header"><h1 class="post-title p-name">Install</h1></header><div class="post-content e-content">${MAIN}</div></article></div></main>
<footer class="site-footer h-card"><div class="wrapper"><p>JUNK Your awesome title</p></div></footer></body></html>`,
  WordPress: `<!DOCTYPE html><html lang="en-US"><head><meta name="generator" content="WordPress 6.6.2"><title>Install – Site</title></head><body class="post-template-default single single-post">
<div id="page" class="site"><header id="masthead" class="site-header"><div class="site-branding">JUNK Site</div><nav id="site-navigation" class="main-navigation"><ul>${items("nav")}</ul></nav></header>
<div id="content" class="site-content"><div id="primary" class="content-area"><div id="main" class="site-main"><div id="post-12" class="post-12 post type-post hentry"><h1 class="entry-title">Install</h1><div class="entry-content">${MAIN}<p>${WORDS}</p><p>${WORDS}</p></div></div>
<div id="comments" class="comments-area"><h2 class="comments-title">JUNK Leave a reply</h2></div></div></div>
<div id="secondary" class="widget-area sidebar"><section class="widget"><h2>JUNK Recent posts</h2><ul>${items("recent")}</ul></section></div></div>
<div id="colophon" class="site-footer"><div class="site-info">JUNK Proudly powered by WordPress</div></div></div>${COOKIES}</body></html>`,
};

test.each(Object.entries(PAGES))(
  "a page of %s is its own text, without menus, footers and banners",
  async (_name, html) => {
    const extracted = await textOf("a.html", html);
    expect(extracted.text).toContain("## Configure the server");
    expect(extracted.text).toContain("kb serve --port 8080");
    expect(extracted.text).toContain("| port | where it listens |");
    expect(extracted.text.match(/JUNK[^\n]*/g) ?? []).toEqual([]);
  },
);
