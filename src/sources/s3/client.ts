import { timeOf } from "#sources/times.ts";
import { unavailable } from "#sources/errors.ts";
import type { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SourceRequest, SourceResponse, SourceStream } from "#sources/http-contract.ts";
import { bucketUrl, type S3Config } from "./config.ts";
import { failureOf, TOLD } from "./failures.ts";
import { readXml, textOf, type XmlElement } from "./xml.ts";

/** An object in a listing. */
export interface S3Object {
  key: string;
  /** The ETag without quotes. Absent if the server has none. */
  etag?: string;
  size?: number;
  /** Epoch milliseconds. */
  modifiedAt?: number;
  storageClass?: string;
  /** The time until which the restored copy of an archived object can be read. */
  restoredUntil?: number;
}

export interface S3Page {
  objects: S3Object[];
  /** With a delimiter: the folders on this page, each with its trailing slash. */
  folders: string[];
  /** Keys that aren't valid UTF-8, in their original form. */
  unreadable: string[];
  /** The token for the next page; undefined at the end. */
  next: string | undefined;
}

export interface ListOptions {
  prefix: string;
  /** Lists only keys after this key. */
  startAfter?: string;
  /** The `next` token of the previous page. */
  token?: string;
  /** True = lists folders instead of their contents. */
  isByFolder?: boolean;
  maxKeys?: number;
}

/** Makes every request to the store. Response formats are known only in this file. */
export type S3Client = ReturnType<typeof makeClient>;

const MAX_PAGE_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
/** The most empty pages in a row. A store can return this many between two keys, for example after many deletions. */
const MAX_EMPTY_PAGES = 100;

export function makeClient(ctx: Pick<SourceContext<S3Config>, "config" | "http">) {
  const { config } = ctx;
  const base = bucketUrl(config);
  const { host } = new URL(base);
  const headers = {
    ...(config.requesterPays && { "x-amz-request-payer": "requester" }),
    // Only Amazon reports whether an archived object can be read at present.
    ...(config.endpoint === undefined && { "x-amz-optional-object-attributes": "RestoreStatus" }),
  };

  function requestOf({ prefix, startAfter, token, isByFolder, maxKeys = 1_000 }: ListOptions): SourceRequest {
    const query = defined({
      "list-type": "2",
      "encoding-type": "url",
      "max-keys": String(maxKeys),
      prefix: prefix === "" ? undefined : prefix,
      delimiter: isByFolder ? "/" : undefined,
      "start-after": startAfter,
      "continuation-token": token,
    });
    const pairs = Object.entries(query).map(([name, value]) => `${name}=${encode(value ?? "")}`);
    return {
      url: `${base}?${pairs.join("&")}`,
      headers,
      auth: true,
      redirect: "none",
      allow: TOLD,
      maxBytes: MAX_PAGE_BYTES,
    };
  }

  function toPage(response: SourceResponse, asked: ListOptions): S3Page {
    if (response.status >= 300) {
      throw failureOf({ ...response, text: response.text(), action: "list" }, config, host);
    }
    const root = readXml(response.text(), host);
    if (root.name !== "ListBucketResult") throw wrong(host, "isn't answering as an S3 server");
    return pageOf(root, asked, host);
  }

  return {
    list: async (options: ListOptions): Promise<S3Page> => toPage(await ctx.http.request(requestOf(options)), options),
    /** Yields all pages to the end. */
    async *pages(options: Pick<ListOptions, "prefix" | "startAfter">): AsyncGenerator<S3Page, void> {
      let page: S3Page | undefined;
      let emptyPages = 0;
      const beginnings = new Set<string>();
      for await (const response of ctx.http.pages(requestOf(options), () =>
        page?.next === undefined ? undefined : requestOf({ ...options, token: page.next }),
      )) {
        page = toPage(response, options);
        const [first] = page.objects;
        emptyPages = first === undefined ? emptyPages + 1 : 0;
        if (emptyPages > MAX_EMPTY_PAGES || (first !== undefined && beginnings.has(first.key))) {
          throw wrong(host, "keeps listing the same objects");
        }
        if (first !== undefined) beginnings.add(first.key);
        yield page;
      }
    },
    /** Reads an object. @param onlyBegins  true if the first byte is enough */
    async read(key: string, { maxBytes, onlyBegins }: { maxBytes?: number; onlyBegins?: true }): Promise<SourceStream> {
      const answer = await ctx.http.stream({
        url: `${base}${key.split("/").map(encode).join("/")}`,
        headers: {
          ...(config.requesterPays && { "x-amz-request-payer": "requester" }),
          "accept-encoding": "identity",
          ...(onlyBegins && { range: "bytes=0-0" }),
        },
        auth: true,
        redirect: "none",
        allow: TOLD,
        ...defined({ maxBytes }),
      });
      if (answer.status < 300) return answer;
      throw failureOf({ ...answer, text: await beginningOf(answer.body), action: "read" }, config, host);
    },
  };
}

/**
 * Encodes a text as in the signature, so that a store computes the same signature whether it encodes the URL again or
 * uses it unchanged. A space never becomes a plus.
 */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(pieces).toString("utf8");
}

/**
 * Parses a listing. A truncated response, or a response about something else, must not be treated as the end of the
 * listing.
 */
function pageOf(root: XmlElement, asked: ListOptions, host: string): S3Page {
  const isEncoded = textOf(root, "EncodingType") === "url";
  const decode = (text: string) => (isEncoded ? decoded(text) : text);
  const isTruncated = textOf(root, "IsTruncated")?.trim();
  const token = textOf(root, "NextContinuationToken");
  if (isTruncated !== "true" && isTruncated !== "false")
    throw wrong(host, "doesn't say whether its listing is complete");
  if (isTruncated === "true" && !token) throw wrong(host, "doesn't name the next page of its listing");
  const page: S3Page = { objects: [], folders: [], unreadable: [], next: isTruncated === "true" ? token : undefined };
  for (const child of root.children) {
    const described =
      child.name === "Contents"
        ? textOf(child, "Key")
        : child.name === "CommonPrefixes"
          ? textOf(child, "Prefix")
          : undefined;
    if (described === undefined) continue;
    const name = decode(described);
    if (name === undefined) {
      page.unreadable.push(described);
      continue;
    }
    if (!name.startsWith(asked.prefix)) throw wrong(host, "lists objects that kb didn't ask for");
    if (child.name === "Contents") page.objects.push(objectOf(child, name));
    else page.folders.push(name);
  }
  return page;
}

/** Decodes a key. In this encoding, a space is a plus or %20. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function objectOf(element: XmlElement, key: string): S3Object {
  const restore = element.children.find(({ name }) => name === "RestoreStatus");
  const isRestored = textOf(restore, "IsRestoreInProgress")?.trim() === "false";
  return {
    key,
    ...defined({
      etag: etagOf(textOf(element, "ETag")),
      size: sizeOf(textOf(element, "Size")),
      modifiedAt: timeOf(textOf(element, "LastModified")),
      storageClass: /^[A-Z_]{1,40}$/.exec(textOf(element, "StorageClass")?.trim() ?? "")?.[0],
      restoredUntil: isRestored ? timeOf(textOf(restore, "RestoreExpiryDate")) : undefined,
    }),
  };
}

/** Returns an ETag without quotes, since listings and responses differ in them. */
export function etagOf(text: string | null | undefined): string | undefined {
  const etag = text?.trim().replace(/^(W\/)?"(.*)"$/, "$2") ?? "";
  return etag === "" ? undefined : etag.slice(0, 256);
}

export function sizeOf(text: string | null | undefined): number | undefined {
  const digits = /^\d{1,15}$/.exec(text?.trim() ?? "")?.[0];
  return digits === undefined ? undefined : Number(digits);
}

function wrong(host: string, what: string): ApiError {
  return unavailable(`${host} ${what}.`);
}
