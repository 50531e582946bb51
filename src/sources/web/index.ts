import { rememberScope } from "#sources/file-scope/scope.ts";
import { unavailable, shown } from "#sources/errors.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { FileContent } from "#sources/item.ts";
import { namedReaders, reportReaders } from "#sources/file-scope/readers.ts";
import type { LimitSpec } from "#sources/http-contract.ts";
import { browseSite } from "./browse.ts";
import { checkSite } from "./check.ts";
import { ask, leave, limited } from "./client.ts";
import { configKey, siteOf, WebConfig, WebCredentials } from "./config.ts";
import { factsOf, lastName } from "./map.ts";
import { readRobots, type Robots } from "./robots.ts";
import { DEFAULT_OPTIONS, type WebOptions, webSessions } from "./sync.ts";
import { isDocument, isHtml, mayBeRead, pageUrl } from "./urls.ts";
import { FILE, formatVersion, parseVersion } from "./version.ts";
import { isIn, isSecretName, NO_CONTENT, typeOf, versionOfDocument } from "./visit.ts";

/** The rate limits for one host, which all connectors without credentials share. */
const LIMITS: LimitSpec = { perMinute: 120, burst: 10 };
/** The most pages of a site if anyone can own a workspace, because a connector's owner may not own the site. */
const STRANGERS_PAGES = 1_000;

/**
 * Makes the source for a website: its pages, found by the sitemap or by links, and the documents that they link to. The
 * config names their readers.
 */
export function makeWebSource({
  isOpenToStrangers = false,
  limits = LIMITS,
  ...given
}: Partial<WebOptions> & { isOpenToStrangers?: boolean; limits?: LimitSpec } = {}): Source<WebConfig> {
  const maxPages = isOpenToStrangers ? STRANGERS_PAGES : DEFAULT_OPTIONS.maxPages;
  const options = { ...DEFAULT_OPTIONS, maxPages, ...given };
  const compiled = rememberScope();
  return {
    spec: {
      providerId: "web",
      name: "Website",
      kinds: ["page", "file"],
      auth: [
        { type: "credentials", scheme: "bearer", token: "token" },
        { type: "credentials", scheme: "basic", username: "username", password: "password" },
        { type: "none" },
      ],
      config: WebConfig,
      // Missing keys are absent, so the record contains only texts.
      credentials: WebCredentials as unknown as NonNullable<Source["spec"]["credentials"]>,
      limits,
      acl: "connector",
      namedIn: ["readers"],
    },
    check: checkSite,
    sessions: { ...webSessions(options), batching: { ...DEFAULT_OPTIONS.batching, ...options.batching } },
    syncIdentities: (ctx) => reportReaders(ctx),
    namedGroup: namedReaders,
    browse: browseSite,
    fetchContent: readContent,
    inScope: (scope, { externalId }) => canParseUrl(externalId) && isIn(compiled(scope), new URL(externalId)),
    originOf: (config) => siteOf(config).origin,
    placeOf: (config) => siteOf(config).start.href,
  };
}

/** Returns the current bytes of a page or document. */
async function readContent(
  ctx: SourceContext<WebConfig>,
  { externalId, version }: { externalId: string; version?: string },
): Promise<FileContent> {
  const { site, maxFileBytes: maxBytes } = factsOf(ctx.config, ctx.connector.id);
  const url = pageUrl(externalId, site.start, site);
  if (url?.href !== externalId || isSecretName(url)) throw notFound(externalId);
  // Whether the page itself may be read was already checked when the page was listed.
  let robots: Promise<Robots> | undefined;
  const mayGo = async (to: URL) => mayBeRead(to, true) && (await (robots ??= readRobots(ctx))).allows(to);
  const answer = await ask(ctx, url, { mayGo, maxBytes });
  if ("why" in answer) throw unavailable(`${externalId} redirects to ${answer.to}.`);
  if (NO_CONTENT.includes(answer.status)) {
    await leave(answer);
    throw notFound(externalId);
  }
  const mimeType = typeOf(answer);
  const key = configKey(ctx.config);
  const listed = parseVersion(version, key);
  if (listed?.hash === FILE && isHtml(mimeType)) {
    await leave(answer);
    // The page is a sign-in form or an error. If it were stored under the version of the document, it would stay there.
    throw unavailable(`${externalId} answers with a page instead of the document.`);
  }
  const versionNow = isDocument(mimeType) ? versionOfDocument(answer.headers, key, listed?.depth ?? 0) : undefined;
  if (isSecretName(answer.at)) {
    await leave(answer);
    throw notFound(externalId);
  }
  return {
    stream: limited(answer.body, site.host),
    fileName: lastName(url, site),
    mimeType,
    ...(versionNow && { version: formatVersion({ ...versionNow, ...defined({ lastmod: listed?.lastmod }) }) }),
  };
}

function notFound(externalId: string): ApiError {
  return new ApiError("source_not_found", {
    message: `This site has no readable page ${shown(externalId)}.`,
  });
}
