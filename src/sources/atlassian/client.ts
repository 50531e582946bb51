import { notFound, unavailable } from "#sources/errors.ts";
import type { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SourceRequest, SourceResponse, SourceStream } from "#sources/http-contract.ts";
import type { Listed } from "#sources/listed.ts";

export interface AtlassianRequest extends Omit<SourceRequest, "auth"> {
  /** Sends the request unauthenticated, to find out what is public. */
  asNobody?: boolean;
}

/** A page of a listing by offsets. */
export interface OffsetPage<T> {
  values: Listed<T>;
  startAt: number;
  /** The offset of the next page; undefined at the end. */
  next: Offset | undefined;
}

/** A response to a request at an offset. */
export interface OffsetAnswer<T> {
  values: Listed<T>;
  total?: number | undefined;
  isLast?: boolean | undefined;
}

/** Progress of a listing by offsets, with the total that the server reported at that time. */
export interface Offset {
  startAt: number;
  total?: number | undefined;
}

/** Makes the requests that are the same for every Atlassian app. */
export function makeAtlassianHttp({ http }: Pick<SourceContext<unknown>, "http">) {
  /**
   * Sends a request.
   * @throws ApiError `source_unauthorized` if the app treated the request as unauthenticated: its answer then contains
   * only public content, which must never be mistaken for everything
   */
  async function send(request: AtlassianRequest): Promise<SourceResponse> {
    const { asNobody = false, ...rest } = request;
    const { allow = [], headers } = rest;
    const answer = await http.request({
      ...rest,
      headers: { accept: "application/json", ...headers },
      allow: [...allow, 403, 404],
      ...(!asNobody && { auth: true as const }),
    });
    if (!asNobody) judge(answer);
    const { status } = answer;
    if ((status !== 403 && status !== 404) || allow.includes(status)) return answer;
    const host = new URL(answer.url).host;
    if (status === 404) {
      throw notFound(`${host} has nothing at this address (HTTP 404).`, status);
    }
    throw new ApiError("source_forbidden", {
      message: `${host} refused access (HTTP 403).`,
      details: { status: 403 },
    });
  }

  return {
    send,
    get: async <T>(url: string, schema: z.ZodType<T>, query: SourceRequest["query"] = {}): Promise<T> =>
      (await send({ url, query })).json(schema),

    /** Reads a listing by `startAt`. `readPage` reads each page. */
    async *offsets<T>(
      readPage: (startAt: number) => Promise<OffsetAnswer<T>>,
      from: Offset = { startAt: 0 },
    ): AsyncGenerator<OffsetPage<T>, void> {
      let { startAt, total: before } = from;
      for (let again = 0; ;) {
        const { values, total, isLast } = await readPage(startAt);
        // Deletions since the last page shift the remaining records forward, past the current offset. As many records
        // are read again.
        const fallen = before !== undefined && total !== undefined ? before - total : 0;
        if (fallen > 0 && startAt > 0 && again++ < MOST_AGAIN) {
          before = total;
          startAt = Math.max(0, startAt - fallen);
          continue;
        }
        const end = startAt + values.size;
        if (values.size === 0 && total !== undefined && total > startAt) {
          throw unavailable("A listing ended early.");
        }
        const isEnd = values.size === 0 || isLast === true || (total !== undefined && end >= total);
        const next = isEnd ? undefined : { startAt: end, total };
        yield { values, startAt, next };
        if (!next) return;
        before = total;
        startAt = end;
      }
    },

    stream: (url: string, maxBytes: number): Promise<SourceStream> =>
      // Cloud redirects to a signed URL of its media store, and the redirected request has no credential.
      http.stream({ url, auth: true, redirect: "follow", maxBytes }),
  };
}

/** The most records that are read again. Constant deletions must not keep a run from finishing. */
const MOST_AGAIN = 100;

/** Source: https://developer.atlassian.com/server/jira/platform/basic-authentication/ */
const NOT_SIGNED_IN = /AUTHENTICATED_FAILED|AUTHENTICATION_DENIED|AUTHORISATION_FAILED/i;

function judge({ headers, url }: SourceResponse): void {
  const denied = headers.get("x-authentication-denied-reason") ?? "";
  const reason = headers.get("x-seraph-loginreason") ?? "";
  const isNobody = headers.get("x-ausername")?.trim().toLowerCase() === "anonymous";
  if (denied === "" && !NOT_SIGNED_IN.test(reason) && !isNobody) return;
  const host = new URL(url).host;
  const isCaptcha = /captcha/i.test(denied) || /AUTHENTICATION_DENIED/i.test(reason);
  throw new ApiError("source_unauthorized", {
    message: isCaptcha
      ? `${host} asks the account to sign in on its page first, with a CAPTCHA.`
      : `${host} rejected the credentials.`,
    field: "credentials",
  });
}
