import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Answer, type Got, serve } from "../http/fixture.ts";

/** An object of the made-up store. */
export interface Stored {
  text: string;
  modifiedAt: number;
  storageClass?: string;
  /** As it stands in a listing. */
  restore?: string;
}

/** Answers in the store's place; false = the store does. */
export type Instead = (got: Got, response: ServerResponse) => boolean;

/** Ours: a store in memory that answers as Amazon's published API does, and by bytes in order. Pages are small. */
export interface MadeUpStore {
  objects: Map<string, Stored>;
  instead: Instead | undefined;
  /** Objects of a page at most. */
  pageSize: number;
  put(key: string, text?: string, more?: Partial<Stored>): string;
}

export function makeStore(bucket = "files"): MadeUpStore & { answer: Answer } {
  let written = 0;
  const store: MadeUpStore = {
    objects: new Map(),
    instead: undefined,
    pageSize: 3,
    put(key, text = key, more = {}) {
      store.objects.set(key, { text, modifiedAt: 1_700_000_000_000 + ++written * 1_000, ...more });
      return key;
    },
  };
  const answer: Answer = (got, response) => {
    if (store.instead?.(got, response)) return;
    const { pathname, searchParams } = new URL(got.path, "http://store.test");
    const [, name, ...rest] = pathname.split("/");
    if (name !== bucket) return sayError(response, 404, "NoSuchBucket");
    if (searchParams.has("list-type")) return void response.writeHead(200).end(listingOf(store, searchParams));
    const object = store.objects.get(decodeURIComponent(rest.join("/")));
    if (object === undefined) return sayError(response, 404, "NoSuchKey");
    if (object.storageClass === "GLACIER") return sayError(response, 403, "InvalidObjectState");
    response
      .writeHead(200, {
        etag: etagOf(object),
        "content-length": String(Buffer.byteLength(object.text)),
        "last-modified": new Date(object.modifiedAt).toUTCString(),
        "content-type": "binary/octet-stream",
      })
      .end(object.text);
  };
  return Object.assign(store, { answer });
}

export async function serveStore(store = makeStore()) {
  const server = await serve(store.answer);
  return { store, server };
}

export function sayError(response: ServerResponse, status: number, code: string, more = ""): void {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>secret words</Message>${more}</Error>`;
  response.writeHead(status, { "content-type": "application/xml" }).end(body);
}

export function listing(body: string, { isTruncated = "false" }: { isTruncated?: string } = {}): string {
  return `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType>
    <IsTruncated>${isTruncated}</IsTruncated>${body}</ListBucketResult>`;
}

export function contents(key: string, { text, modifiedAt, storageClass = "STANDARD", restore = "" }: Stored): string {
  return `<Contents><Key>${encode(key)}</Key><LastModified>${new Date(modifiedAt).toISOString()}</LastModified>
    <ETag>${etagOf({ text }).replaceAll('"', "&quot;")}</ETag><Size>${Buffer.byteLength(text)}</Size>
    <StorageClass>${storageClass}</StorageClass>${restore}</Contents>`;
}

function listingOf({ objects, pageSize }: MadeUpStore, query: URLSearchParams): string {
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter");
  const token = query.get("continuation-token");
  const after = token === null ? query.get("start-after") : Buffer.from(token, "base64url").toString("utf8");
  const most = Math.min(pageSize, Number(query.get("max-keys")));
  const isAfter = (name: string) => after === null || compare(name, after) > 0;
  const named = [...objects.keys()]
    .filter((key) => key.startsWith(prefix))
    .map((key) => {
      const slash = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
      return slash === -1 ? key : key.slice(0, slash + 1);
    });
  const folders = new Set(
    named.filter((name) => !objects.has(name) || (delimiter !== null && name.endsWith("/") && name !== prefix)),
  );
  const names = [...new Set(named)].sort(compare).filter(isAfter);
  const page = names.slice(0, most);
  const last = page.at(-1) ?? "";
  const isTruncated = names.length > page.length;
  const body = page.map((name) => {
    const object = objects.get(name);
    if (folders.has(name) || object === undefined)
      return `<CommonPrefixes><Prefix>${encode(name)}</Prefix></CommonPrefixes>`;
    return contents(name, object);
  });
  const next = `<NextContinuationToken>${Buffer.from(last).toString("base64url")}</NextContinuationToken>`;
  return listing(body.join("") + (isTruncated ? next : ""), { isTruncated: String(isTruncated) });
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function encode(key: string): string {
  return encodeURIComponent(key).replaceAll("%2F", "/").replaceAll("%20", "+");
}

function etagOf({ text }: Pick<Stored, "text">): string {
  return `"${createHash("md5").update(text).digest("hex")}"`;
}
