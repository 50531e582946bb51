import type { PushResult } from "#api/connector-records.ts";
import { ApiError } from "#api/errors.ts";
import { pushRoutes as routes } from "#api/push.ts";
import type { AppContext } from "#server/http/env.ts";
import type { Mount } from "#server/http/mount.ts";
import { bodyOf } from "#server/http/request.ts";
import type { Log } from "#core/log.ts";
import { isUnwritable, UNWRITABLE_CODES, UNWRITABLE_RETRY_MS } from "#storage/unless-unwritable.ts";
import { pushItems } from "./push.ts";
import { pushDocument } from "./push-document.ts";
import type { PushDeps } from "./push-deps.ts";
import { removePushed } from "./push-remove.ts";
import { beginUpload, endUpload, getUpload } from "./push-uploads.ts";

/** Mounts the routes that accept a connector's own key. */
export function mountPush(at: Mount, { connectorDeps: deps, log }: { connectorDeps: PushDeps; log: Log }): void {
  at.push(routes.push, async ({ connector, query, c }) => {
    const results = await pushItems(deps, connector, bodyOf(c), query);
    return streamLines(results, await firstOf(results, c), c, log);
  });
  at.push(routes.removeItem, ({ connector, params }) => removePushed(deps, connector, params.externalId));
  at.push(routes.pushDocument, ({ connector, query, c }) => {
    const length = Number(c.req.header("content-length"));
    const bytes = c.req.header("content-length") === undefined || !Number.isFinite(length) ? undefined : length;
    const body = { stream: bodyOf(c), contentType: c.req.header("content-type"), bytes };
    return pushDocument(deps, connector, body, query.upload);
  });
  at.push(routes.beginUpload, ({ connector, body }) =>
    beginUpload(deps, connector, body ?? { mode: "add", resume: false }),
  );
  at.push(routes.getUpload, ({ connector, params }) => getUpload(deps, connector, params.uploadId));
  at.push(routes.endUpload, ({ connector, params, body }) => endUpload(deps, connector, params.uploadId, body));
}

/**
 * Maximum bytes of unread results. Many programs send the whole body before they read the response. That works up to
 * some 40,000 lines. Beyond that, the server continues to read the body only when the client reads the response.
 */
const UNREAD_BYTES = 4 * 1024 * 1024;

/**
 * Waits for the first results of a body of known length. If nothing could be stored, the request then gets the error
 * status and the time to try again, like any other write. The sender of a body of unknown length may wait for the
 * response to begin.
 *
 * @throws ApiError `storage_full`, `database_unusable`
 */
async function firstOf(results: Results, c: AppContext): Promise<Awaited<ReturnType<Results["next"]>> | undefined> {
  if (c.req.header("content-length") === undefined) return undefined;
  const first = await results.next();
  const [error, ...more] = (first.value ?? []).map((each) => each.error);
  const code = UNWRITABLE_CODES.find((one) => one === error?.code);
  if (error === undefined || code === undefined || more.some((other) => other?.code !== code)) return first;
  await results.return();
  throw new ApiError(code, { message: error.message, retryAfterMs: UNWRITABLE_RETRY_MS });
}

type Results = AsyncGenerator<PushResult[], void>;

/** Streams results as they arrive, one JSON value per line. The work proceeds as fast as the client reads. */
function streamLines(results: Results, first: Awaited<ReturnType<typeof firstOf>>, c: AppContext, log: Log): Response {
  let ahead = first;
  const encoder = new TextEncoder();
  const requestId = c.get("requestId");
  let last = 0;
  let isGone = false;
  const write = (lines: readonly PushResult[]): Uint8Array => {
    last = lines.at(-1)?.line ?? last;
    return encoder.encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = ahead ?? (await results.next());
          ahead = undefined;
          // Stored lines stay stored, and the client requests their results again.
          if (isGone) return;
          if (done) controller.close();
          else controller.enqueue(write(value));
        } catch (error) {
          // The response has begun with status 200, so the problem from `problem.ts` can only be its last line.
          log.error({ requestId, error }, "a push failed");
          const failed: PushResult = {
            line: last + 1,
            externalId: null,
            result: "error",
            error: isUnwritable(error)
              ? { code: error.code, message: `${error.message} Send the lines without a result again.` }
              : {
                  code: "internal",
                  message: `The server failed; its log says why (request ${requestId}). Send the lines without a result again.`,
                },
          };
          controller.enqueue(write([failed]));
          controller.close();
        }
      },
      async cancel() {
        isGone = true;
        await results.return();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: UNREAD_BYTES }),
  );
  return new Response(body, { headers: { "Content-Type": "application/x-ndjson" } });
}
