import { notFound, shown } from "#sources/errors.ts";
import { defined } from "#core/defined.ts";
import type { ApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import type { BrowseNode } from "#sources/contract.ts";
import { readableName } from "#sources/file-scope/folders.ts";
import { makeClient } from "./client.ts";
import type { S3Config } from "./config.ts";
import { compareKeys, isKey, nameOf } from "./keys.ts";

/** The most nodes in one response. */
const PAGE = 200;
/** The most listing requests for one response. The next response continues after them. */
const MAX_SEARCHED = 5;

/** Lists the direct contents of a folder, in the order of the keys. The cursor is the store's own cursor. */
export async function browseBucket(
  ctx: SourceContext<S3Config>,
  { parent, query, cursor }: { parent: string | null; query?: string; cursor?: string },
): Promise<{ nodes: BrowseNode[]; nextCursor: string | null }> {
  const { prefix: all } = ctx.config;
  const prefix = parent ?? all;
  if (parent !== null && (!isKey(parent) || !parent.endsWith("/") || !parent.startsWith(all))) throw noFolder(parent);
  const client = makeClient(ctx);
  const wanted = query?.toLowerCase();
  const nodes: BrowseNode[] = [];
  let token = cursor;
  for (let listings = 0; listings < MAX_SEARCHED; listings++) {
    const maxKeys = wanted === undefined ? PAGE : 1_000;
    const page = await client.list({ prefix, isByFolder: true, maxKeys, ...defined({ token }) });
    const ids = [...page.folders, ...page.objects.map(({ key }) => key)].filter((id) => id !== prefix && isKey(id));
    for (const id of ids.sort(compareKeys)) {
      const isFolder = id.endsWith("/");
      const title = readableName(nameOf(id).replace(/\/$/, ""));
      if (wanted !== undefined && !title.toLowerCase().includes(wanted)) continue;
      nodes.push({ id, parent, title, kind: isFolder ? "folder" : "file", selectable: true, expandable: isFolder });
    }
    token = page.next;
    if (token === undefined || (wanted === undefined ? nodes.length > 0 : nodes.length >= PAGE)) break;
  }
  return { nodes, nextCursor: token ?? null };
}

function noFolder(parent: string): ApiError {
  return notFound(`This bucket has no folder ${shown(parent)}.`);
}
