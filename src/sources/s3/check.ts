import { type ApiError, isApiError } from "#api/errors.ts";
import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import type { SourceContext } from "#sources/context.ts";
import { makeClient, type S3Client, type S3Object } from "./client.ts";
import { bucketUrl, type S3Config } from "./config.ts";
import { isKey } from "./keys.ts";
import { archivedIn } from "./map.ts";

/**
 * Checks whether the bucket can be listed, and whether one of its objects can be read. Each problem comes with the next
 * step.
 */
export function checkBucket(ctx: SourceContext<S3Config>): Promise<CheckOutcome> {
  return runCheck(
    ctx,
    (error) => wordsOf(error, ctx.config),
    async () => {
      const client = makeClient(ctx);
      const { prefix, bucket } = ctx.config;
      const { objects } = await client.list({ prefix, maxKeys: 100 });
      const files = objects.filter(({ key, size }) => !key.endsWith("/") && isKey(key) && size !== 0);
      const readable = files.find((object) => archivedIn(object, ctx.now()) === undefined);
      const nothing =
        prefix === ""
          ? `The bucket ${bucket} is empty.`
          : `The bucket ${bucket} has no keys that begin with ${JSON.stringify(prefix)}.`;
      const warnings = [
        ...(objects.length === 0 ? [nothing] : []),
        ...(files.some(({ etag }) => etag === undefined)
          ? ["The server sends no ETags. kb reads every object in each sync."]
          : []),
        ...(readable === undefined ? [] : await whyNotRead(client, readable, ctx)),
      ];
      return { warnings };
    },
  );
}

/** Returns why an object can't be read, since permission to list doesn't include permission to read. */
async function whyNotRead(client: S3Client, { key }: S3Object, ctx: SourceContext<S3Config>): Promise<string[]> {
  try {
    const { body } = await client.read(key, { onlyBegins: true });
    // Reading stops early, in case the server returns the whole object.
    for await (const _ of body) break;
    return [];
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!isApiError(error) || isApiError(error, "source_unauthorized")) throw error;
    if (!isApiError(error, "source_forbidden")) return [];
    const right =
      "The access key can list the bucket, but couldn't read an object. Grant s3:GetObject on the objects of";
    return [`${right} ${ctx.config.bucket}; with SSE-KMS also kms:Decrypt. Otherwise, kb finds objects only by name.`];
  }
}

function wordsOf({ code, hint }: ApiError, config: S3Config): FailureWords {
  const { host } = new URL(bucketUrl(config));
  const todo = `Check that ${host} can be reached and is the store's address.`;
  return {
    source_unauthorized: {
      hint: hint ?? "Check the access key ID and the secret access key.",
      field: "credentials",
    },
    otherwise: {
      field: config.endpoint === undefined ? "bucket" : "endpoint",
      ...(code === "source_unavailable" && { hint: todo }),
    },
  };
}
