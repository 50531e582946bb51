import type { Answer } from "../http/fixture.ts";

/** A thing of a made-up server, by its path below `/dav/`; a folder's ends with a slash. */
export interface Thing {
  text?: string;
  /** Nextcloud's. */
  fileId?: number;
  etag?: string;
}

export type Tree = Map<string, Thing>;

/** A made-up server of which everything can be said, as Nextcloud answers. `more` is put into a listing as it is. */
export function answerTree(tree: Tree, more: (folder: string) => string = () => ""): Answer {
  return ({ method, path, headers }, response) => {
    const rel = decodeURI(path.slice("/dav/".length));
    const isThere = rel === "" || tree.has(rel) || tree.has(`${rel}/`);
    if (!isThere || !path.startsWith("/dav/")) return void response.writeHead(404).end();
    if (method === "GET") {
      const { text = "", ...thing } = tree.get(rel) ?? {};
      return void response.writeHead(200, { etag: etagOf(text, thing) }).end(text);
    }
    const own = tree.has(rel) || rel === "" ? rel : `${rel}/`;
    const children = headers["depth"] === "0" ? [] : [...tree.keys()].filter((each) => isIn(each, own));
    const body = [own, ...children].map((each) => responseOf(each, tree.get(each) ?? {})).join("");
    return void response.writeHead(207).end(multistatus(body + more(own)));
  };
}

export function multistatus(body: string): string {
  return `<?xml version="1.0"?>
<d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns">${body}</d:multistatus>`;
}

export function responseOf(path: string, { text = "", fileId, etag }: Thing): string {
  const isFolder = path === "" || path.endsWith("/");
  const props = isFolder
    ? "<d:resourcetype><d:collection/></d:resourcetype>"
    : `<d:resourcetype/><d:getcontentlength>${text.length}</d:getcontentlength>
       <d:getetag>${etagOf(text, { ...(etag !== undefined && { etag }) }).replaceAll('"', "&quot;")}</d:getetag>`;
  const id = fileId === undefined ? "" : `<oc:fileid>${fileId}</oc:fileid>`;
  return `<d:response><d:href>/dav/${encodeURI(path)}</d:href>
    <d:propstat><d:prop>${props}${id}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>
    <d:propstat><d:prop><d:getcontenttype/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat></d:response>`;
}

function etagOf(text: string, { etag }: Pick<Thing, "etag">): string {
  return `"${etag ?? Buffer.from(text).toString("hex").slice(0, 40)}"`;
}

function isIn(path: string, folder: string): boolean {
  const name = path.startsWith(folder) ? path.slice(folder.length) : "";
  return name !== "" && !name.slice(0, -1).includes("/");
}
