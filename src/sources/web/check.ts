import type { SourceProblem } from "#api/common.ts";
import { type ApiError, isApiError } from "#api/errors.ts";
import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import type { SourceContext } from "#sources/context.ts";
import { ask, leave, readBody } from "./client.ts";
import { siteOf, type WebConfig } from "./config.ts";
import { factsOf } from "./map.ts";
import { decodePage, readPage } from "./page.ts";
import { readRobots, type Robots } from "./robots.ts";
import { findSeeds, startOf } from "./seeds.ts";
import { isBelow } from "./urls.ts";
import { typeOf } from "./visit.ts";

type Context = SourceContext<WebConfig>;
/** Checks whether pages can be found and read. Each problem comes with the next step. */
export function checkSite(ctx: Context): Promise<CheckOutcome> {
  return runCheck(
    ctx,
    (error) => wordsOf(error, ctx.config),
    async () => {
      const robots = await readRobots(ctx);
      const warnings: string[] = [];
      const hasSitemap = await findSitemap(ctx, robots, warnings);
      const problem = await readStart(ctx, robots, { isNeeded: !hasSitemap, warnings });
      return problem ? { problem } : { warnings };
    },
  );
}

const CODE = "connector_check_failed";

async function findSitemap(ctx: Context, robots: Robots, warnings: string[]): Promise<boolean> {
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

async function readStart(
  ctx: Context,
  robots: Robots,
  { isNeeded, warnings }: { isNeeded: boolean; warnings: string[] },
): Promise<SourceProblem | undefined> {
  const site = siteOf(ctx.config);
  const start = startOf(site);
  // If there is a sitemap, the configured address itself need not be a page.
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
      "Give the address it redirects to, with https:// and the path.",
    );
  }
  if (!isBelow(answer.at, site) || !/html/.test(typeOf(answer))) {
    await leave(answer);
    return say(`${start.href} isn't an HTML page.`, "Give the address of a page that leads to the others.");
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

/** Ignores failures of the first page if the page isn't needed. */
async function orNothing<T>(isNeeded: boolean, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNeeded || !isApiError(error) || !HARMLESS.has(error.code)) throw error;
    return undefined;
  }
}

const HARMLESS: ReadonlySet<string> = new Set(["source_not_found", "source_gone", "payload_too_large"]);

function wordsOf(error: ApiError, config: WebConfig): FailureWords {
  const { host } = siteOf(config);
  const asks = {
    code: "source_unauthorized",
    message: `${host} asks for a sign-in, or doesn't accept this one (HTTP 401).`,
    hint: "Check the user name and password, or the token.",
    field: "credentials",
  } as const;
  const noPage = { message: `${host} has no page at this address.`, hint: "Check the address.", field: "url" };
  const up = { hint: error.hint ?? "Check the address, and that the site is up.", field: "url" };
  const words: FailureWords = {
    source_unauthorized: asks,
    source_forbidden: {
      message: `${host} refuses this page (HTTP 403).`,
      hint: "The site may block crawlers: ask its owner to let this server in.",
      field: "url",
    },
    source_not_found: noPage,
    source_gone: noPage,
    source_unavailable: up,
    otherwise: { field: "url" },
  };
  return error.details?.["status"] === 401 ? { ...words, [error.code]: asks } : words;
}
