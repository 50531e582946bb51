import { sql, type Kysely } from "kysely";

/**
 * Items know what has read their content, and how good that was: what an older reader has read is read again. Until now
 * nothing was noted, so it is the media type, with the version 1 that every reader begins with. One program lost the names
 * of its YAML parser: Markdown that it failed to read, and descriptions of APIs in YAML, are left at 1; what it could read
 * of these two is as good as what version 2 reads.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("items").addColumn("reader", "text").execute();
  await db.schema.alterTable("items").addColumn("readerVersion", "integer").execute();
  await db.schema.alterTable("items").addColumn("readAgainAt", "bigint").execute();
  // A source's type may be another than the one that a file was read as: the failure names that one.
  await sql`update items set "readerVersion" = 1, "reader" = case
      when "textReason" = 'failed' and "textMessage" like ${`${FAILED_AS}%: %`} then
        substr("textMessage", ${FAILED_AS.length + 1}, instr(substr("textMessage", ${FAILED_AS.length + 1}), ':') - 1)
      when "textReason" = 'failed' then '*'
      when "mimeType" like '%yaml%' or lower(coalesce("key", "title")) like '%.yaml'
        or lower(coalesce("key", "title")) like '%.yml' then 'application/yaml'
      else "mimeType" end
    where "mimeType" is not null and coalesce("textReason", '') <> 'too_large'`.execute(db);
  await sql`update items set "readerVersion" = 2
    where "reader" = 'text/markdown' and coalesce("textReason", '') <> 'failed'`.execute(db);
  await sql`update items set "readerVersion" = 2
    where "reader" = 'application/yaml' and coalesce("textReason", '') <> 'failed' and not exists (
      select 1 from item_texts as t where t."workspaceId" = items."workspaceId" and t."kbId" = items."kbId"
        and t.chunk < 2 and (t.text like '%openapi%' or t.text like '%swagger%'))`.execute(db);
  // No reader at all, or one that only says that it reads nothing: a first one is better than the first alone.
  await sql`update items set "readerVersion" = 0
    where "textReason" = 'unsupported_type' and "reader" not in (${sql.join(REFUSED_BY_A_READER)})
      and "reader" not like 'audio/%' and "reader" not like 'video/%'`.execute(db);
  // `removedAt` is in it so that living items are counted without reading a row.
  await sql`create index items_by_reader on items ("workspaceId", "connectorId", "reader", "readerVersion", "removedAt")
    where "reader" is not null`.execute(db);
}

const FAILED_AS = "The file can't be read as ";

const REFUSED_BY_A_READER = [
  "application/zip",
  "application/x-tar",
  "application/gzip",
  "application/msword",
  "application/vnd.ms-excel",
  "application/vnd.ms-powerpoint",
  "application/x-encrypted-office",
  "application/ogg",
  "image/jpeg",
  "image/png",
  "image/apng",
  "image/gif",
  "image/webp",
  "image/tiff",
  "image/heic",
  "image/heif",
  "image/avif",
];
