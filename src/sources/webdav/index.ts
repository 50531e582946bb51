import { makeInScope } from "#sources/file-scope/scope.ts";
import { shown } from "#sources/errors.ts";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { Source } from "#sources/contract.ts";
import type { Batching } from "#sources/session.ts";
import { toBrowsePage } from "#sources/file-scope/browse-page.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";
import { lastSegmentOf, plainPath, readableSegment } from "#sources/file-scope/paths.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { checkCollection } from "./check.ts";
import { isPath, makeClient } from "./client.ts";
import { baseOf, configKey, WebdavConfig, WebdavCredentials } from "./config.ts";
import { typeOf, versionOfDownload } from "./map.ts";
import { namedReaders, reportReaders } from "#sources/file-scope/readers.ts";
import { webdavSessions } from "./sync.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";

/**
 * Makes the source for a folder of a WebDAV server (Nextcloud, Apache): each file is an item. The config names their
 * readers.
 */
export function makeWebdavSource({ batching = {} }: { batching?: Partial<Batching> } = {}): Source<WebdavConfig> {
  const inScope = makeInScope();
  return {
    spec: {
      providerId: "webdav",
      name: "WebDAV",
      kinds: ["file"],
      auth: [
        { type: "credentials", scheme: "digest", username: "username", password: "password" },
        { type: "credentials", scheme: "basic", username: "username", password: "password" },
        { type: "none" },
      ],
      config: WebdavConfig,
      credentials: WebdavCredentials,
      // 2: a cursor belongs to one run.
      stateVersion: 2,
      acl: "connector",
      namedIn: ["readers"],
    },
    check: checkCollection,
    sessions: { ...webdavSessions, batching },
    syncIdentities: (ctx) => reportReaders(ctx),
    namedGroup: namedReaders,
    async browse(ctx, at) {
      if (at.parent !== null && !isPath(at.parent)) throw notFound(at.parent);
      const { entries } = await makeClient(ctx).list(at.parent ?? "");
      const places = entries.map(({ rel, isFolder }) => ({ rel, kind: isFolder ? "folder" : "file" }) as const);
      return toBrowsePage(
        places.sort((a, b) => (a.rel < b.rel ? -1 : 1)),
        at,
      );
    },
    async fetchContent(ctx, { externalId }) {
      const name = lastSegmentOf(externalId);
      const isAllowed = isPath(externalId) && (ctx.config.secretFiles || !isSecretFile(plainPath(name)));
      if (!isAllowed) throw notFound(externalId);
      const { body, headers } = await makeClient(ctx).read(externalId, maxFileBytes(ctx.config));
      const mimeType = typeOf({ rel: externalId, ...defined({ mimeType: headers.get("content-type") ?? undefined }) });
      const version = versionOfDownload(headers, ctx.now(), configKey(ctx.config));
      return { stream: body, fileName: readableSegment(name), ...defined({ mimeType, version }) };
    },
    inScope: (scope, { externalId }) => inScope(scope, externalId),
    childRules: makeChildRules,
    originOf: (config) => baseOf(config).origin,
    placeOf: (config) => baseOf(config).href,
  };
}

function notFound(externalId: string): ApiError {
  return new ApiError("source_not_found", {
    message: `This folder has no readable file ${shown(externalId)}.`,
  });
}
