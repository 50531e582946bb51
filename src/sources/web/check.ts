import type { SourceProblem } from "#api/common.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/contract.ts";
import { ask, leave, readBody } from "./client.ts";
import { siteOf, type WebConfig } from "./config.ts";
import { factsOf } from "./map.ts";
import { decodePage, readPage } from "./page.ts";
import { readRobots, type Robots } from "./robots.ts";
import { findSeeds, startOf } from "./seeds.ts";
import { isBelow } from "./urls.ts";
import { typeOf } from "./visit.ts";

type Context = SourceContext<WebConfig>;
type Outcome = { ok: true; warnings?: string[] } | { ok: false; problem: SourceProblem };

/** Whether pages can be found and read; what is wrong is told with what to do. */
export async function checkSite(ctx: Context): Promise<Outcome> {
  try {
    const robots = await readRobots(ctx);
    const warnings: string[] = [];
    const hasSitemap = await lookForSitemap(ctx, robots, warnings);
    const problem = await lookAtStart(ctx, robots, { isNeeded: !hasSitemap, warnings });
    if (problem) return { ok: false, problem };
    return { ok: true, ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { ok: false, problem: problemOf(error, ctx.config) };
  }
}

const CODE = "connector_check_failed";

async function lookForSitemap(ctx: Context, robots: Robots, warnings: string[]): Promise<boolean> {
  const { maxPages } = ctx.config;
  const { by, entries, sitemaps } = await findSeeds(ctx, robots, maxPages + 1);
  if (sitemaps === undefined) return false;
  for (const { url, message } of sitemaps.failed) warnings.push(`kb can't read ${url}: ${message}`);
  if (sitemaps.others.length > 0) {
    const hosts = sitemaps.others.join(", ");
    warnings.push(
      `The sitemap also names pages of ${hosts}, which kb leaves out. Connect that address as well, or instead.`,
    );
  }
  if (sitemaps.sitemapsElsewhere.length > 0) {
    const hosts = sitemaps.sitemapsElsewhere.join(", ");
    warnings.push(`kb doesn't read this site's sitemaps at ${hosts}. Pages that only they name are left out.`);
  }
  if (entries.length > maxPages) {
    warnings.push(`The sitemap names more than ${maxPages} pages. kb indexes the first ${maxPages}: see maxPages.`);
  }
  return by === "sitemap";
}

async function lookAtStart(
  ctx: Context,
  robots: Robots,
  { isNeeded, warnings }: { isNeeded: boolean; warnings: string[] },
): Promise<SourceProblem | undefined> {
  const site = siteOf(ctx.config);
  const start = startOf(site);
  // With a sitemap the address itself need not be a page.
  const say = (message: string, hint: string): SourceProblem | undefined =>
    isNeeded ? { code: CODE, message, hint, field: "url" } : undefined;
  if (!robots.allows(start)) {
    const hint = `Ask the site's owner to allow ${ctx.config.userAgent} in robots.txt, or give another address.`;
    return say(`The robots.txt of ${site.host} doesn't allow kb to read ${start.pathname}.`, hint);
  }
  const { maxPageBytes: maxBytes } = factsOf(ctx.config, ctx.connector.id);
  const answer = await orNothing(isNeeded, ask(ctx, start, { mayGo: (url) => robots.allows(url), maxBytes }));
  if (answer === undefined) return undefined;
  if ("why" in answer) {
    return say(
      `${start.href} redirects to ${answer.to}.`,
      "Give the address that it leads to, with its https:// and its path.",
    );
  }
  if (!isBelow(answer.at, site) || !/html/.test(typeOf(answer))) {
    await leave(answer);
    return say(`${start.href} is no HTML page.`, "Give the address of a page that leads to the others.");
  }
  const html = decodePage(await readBody(answer, maxBytes), answer.headers.get("content-type"));
  const page = await readPage(html, ctx.config.userAgent, answer.headers.get("x-robots-tag"));
  if (page.isSignIn) {
    const hint = "kb can't fill in forms. Give a user name and password (Basic), or a token, if the site takes them.";
    return say(`${site.host} answers with a form to sign in.`, hint);
  }
  if (page.needsScript) {
    warnings.push("The page has hardly any text without JavaScript. kb doesn't run scripts, so it may find nothing.");
  }
  if (page.rules.nofollow && isNeeded) warnings.push("The page asks crawlers to follow none of its links.");
  return undefined;
}

/** Failures of the first page matter only where it is needed. */
async function orNothing<T>(isNeeded: boolean, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNeeded || !isApiError(error) || !HARMLESS.has(error.code)) throw error;
    return undefined;
  }
}

const HARMLESS: ReadonlySet<string> = new Set(["source_not_found", "source_gone", "payload_too_large"]);

function problemOf(error: ApiError, config: WebConfig): SourceProblem {
  const { code, message, hint, retryAfterMs } = error;
  const { host } = siteOf(config);
  const isAsked = error.details?.["status"] === 401;
  if (isAsked || isApiError(error, "source_unauthorized")) {
    return {
      code: "source_unauthorized",
      message: `${host} asks for a sign-in, or doesn't accept this one (HTTP 401).`,
      hint: "Check the user name and password, or the token.",
      field: "credentials",
    };
  }
  if (isApiError(error, "source_forbidden")) {
    const todo = "The site may block crawlers: ask its owner to let this server in.";
    return { code, message: `${host} refuses this page (HTTP 403).`, hint: todo, field: "url" };
  }
  if (isApiError(error, "source_not_found") || isApiError(error, "source_gone")) {
    return { code, message: `${host} has no page at this address.`, hint: "Check the address.", field: "url" };
  }
  const todo = isApiError(error, "source_unavailable") ? "Check the address, and that the site is up." : undefined;
  return { code, message, field: "url", ...defined({ hint: hint ?? todo, retryAfterMs }) };
}
