import { defined } from "#core/defined.ts";
import { notFound, shown } from "#sources/errors.ts";
import type { FileContent } from "#sources/item.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import { mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { fileOf } from "./blocks.ts";
import type { NotionClient, NotionContext } from "./client.ts";
import { parseItemId, versionOfFile } from "./map.ts";

/** Reads the file of a block by a URL that Notion issues for an hour. The URL is never stored. */
export async function readNotionFile(
  ctx: NotionContext,
  client: NotionClient,
  { externalId, version = "" }: { externalId: string; version?: string },
): Promise<FileContent> {
  const { part } = parseItemId(externalId) ?? {};
  const block = part?.type === "file" ? await client.block(part.id) : undefined;
  const file = block && fileOf(block);
  if (!file || block.in_trash === true || isSecretFile(file.name)) {
    throw notFound(`There is no file ${shown(externalId)} on a page of this workspace.`);
  }
  const { body } = await client.download(file.url, maxFileBytes(ctx.config));
  const mimeType = mimeHintOf(file.name);
  return {
    stream: body,
    fileName: file.name,
    version: versionOfFile(file, version.split(" ")[1] ?? ""),
    ...defined({ mimeType }),
  };
}
