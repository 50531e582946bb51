import { rememberScope } from "#sources/file-scope/scope.ts";
import { notFound, shown } from "#sources/errors.ts";
import type { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { Source } from "#sources/contract.ts";
import type { Batching } from "#sources/session.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import { readableName } from "#sources/file-scope/folders.ts";
import { namedReaders, reportReaders } from "#sources/file-scope/readers.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { browseBucket } from "./browse.ts";
import { checkBucket } from "./check.ts";
import { makeClient } from "./client.ts";
import { bucketUrl, configKey, S3Config, S3Credentials } from "./config.ts";
import { nameOf, whyLeftOut } from "./keys.ts";
import { typeOf, versionOfDownload } from "./map.ts";
import { isOwnKey, s3Sessions } from "./sync.ts";

/**
 * Makes the source for a bucket of Amazon S3 or of a compatible store: each object is an item. The config names their
 * readers.
 */
export function makeS3Source({ batching = {} }: { batching?: Partial<Batching> } = {}): Source<S3Config> {
  const compiled = rememberScope();
  return {
    spec: {
      providerId: "s3",
      name: "S3",
      kinds: ["file"],
      auth: [
        {
          type: "credentials",
          scheme: "sigv4",
          accessKeyId: "accessKeyId",
          secretAccessKey: "secretAccessKey",
          sessionToken: "sessionToken",
          service: "s3",
          region: "{region}",
        },
        { type: "none" },
      ],
      config: S3Config,
      credentials: S3Credentials,
      limits: { perMinute: 6_000, burst: 200, forbidden: [{ phrase: "<Code>SlowDown</Code>" }], leastWaitMs: 1_000 },
      // 2: a cursor belongs to one run.
      stateVersion: 2,
      acl: "connector",
      namedIn: ["readers"],
    },
    check: checkBucket,
    sessions: { ...s3Sessions, batching },
    syncIdentities: (ctx) => reportReaders(ctx),
    namedGroup: namedReaders,
    browse: browseBucket,
    async fetchContent(ctx, { externalId: key, version: listed }) {
      const isAllowed = isOwnKey(key, ctx.config) && (ctx.config.secretFiles || !isSecretFile(nameOf(key)));
      if (!isAllowed) throw noObject(key);
      const { body, headers } = await makeClient(ctx).read(key, { maxBytes: maxFileBytes(ctx.config) });
      const version = versionOfDownload(headers, listed, configKey(ctx.config));
      const mimeType = typeOf(key, headers.get("content-type"));
      return { stream: body, fileName: readableName(nameOf(key)), ...defined({ mimeType, version }) };
    },
    inScope: (scope, { externalId }) =>
      whyLeftOut({ scope: compiled(scope), secretFiles: true }, externalId) === undefined,
    childRules: makeChildRules,
    originOf: (config) => new URL(bucketUrl(config)).origin,
    placeOf: (config) => `${bucketUrl(config)}${config.prefix}`,
  };
}

function noObject(key: string): ApiError {
  return notFound(`This bucket has no readable object ${shown(key)}.`);
}
