import { type Kysely, sql } from "kysely";

/** The columns that are read and written; a type, because an interface isn't accepted as a database's tables. */
type Items = {
  items: {
    workspaceId: string;
    kbId: string;
    externalId: string;
    providerId: string;
    kind: string;
    key: string | null;
    title: string;
    mimeType: string | null;
    fields: string;
    createdAt: number | null;
    updatedAt: number | null;
    indexedAt: number;
  };
};

const PAGE = 500;
const MAILS = ["message/rfc822", "message/global", "application/vnd.ms-outlook"];

/**
 * Files are shown by the title of their document, with the file's name as key, and mails are messages with their own
 * dates. What extraction found was kept in the fields, so no file is read again; the index follows by the version of the
 * analyzer.
 */
export async function up(kysely: Pick<Kysely<unknown>, "withTables">): Promise<void> {
  const db = kysely.withTables<Items>();
  await sql`update items set "key" = "title" where "key" is null and ${isFile} and ${hasFileTitle}`.execute(db);
  let after = { workspaceId: "", kbId: "" };
  for (;;) {
    const rows = await db
      .selectFrom("items")
      .selectAll()
      .where(sql<boolean>`("workspaceId", "kbId") > (${after.workspaceId}, ${after.kbId})`)
      .where(sql<boolean>`("fields" like '%"documentTitle"%' or "mimeType" in (${sql.join(MAILS)}))`)
      .orderBy("workspaceId")
      .orderBy("kbId")
      .limit(PAGE)
      .execute();
    for (const row of rows) await renew(db, row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = { workspaceId: last.workspaceId, kbId: last.kbId };
  }
}

const isFile = sql<boolean>`"kind" = 'file'`;
/** Sources of files, and the files inside files of any source. */
const hasFileTitle = sql<boolean>`("providerId" in ('filesystem', 'git') or "externalId" like '%!//%')`;

async function renew(db: Kysely<Items>, row: Items["items"]): Promise<void> {
  const fields: Record<string, unknown> = JSON.parse(row.fields);
  const isOfFiles = row.providerId === "filesystem" || row.providerId === "git" || row.externalId.includes("!//");
  const isMail = MAILS.includes(row.mimeType ?? "") && !/\.mht(?:ml)?$/i.test(row.title);
  const title = isOfFiles && row.kind === "file" ? ownTitle(fields["documentTitle"]) : undefined;
  if (title !== undefined) delete fields["documentTitle"];
  if (isMail && isOfFiles) {
    rename(fields, "author", "from");
    rename(fields, "created", "date");
  }
  const sent = isMail && isOfFiles ? Date.parse(String(fields["date"])) : Number.NaN;
  const dated = Number.isNaN(sent) ? {} : { createdAt: earlier(sent, row), updatedAt: earlier(sent, row) };
  await db
    .updateTable("items")
    .set({
      ...dated,
      ...(title !== undefined && { title }),
      kind: isMail && row.kind === "file" ? "message" : row.kind,
      fields: JSON.stringify(fields),
    })
    .where("workspaceId", "=", row.workspaceId)
    .where("kbId", "=", row.kbId)
    .execute();
}

/** A date in the future would stand above everything for ever. */
function earlier(sent: number, { indexedAt }: { indexedAt: number }): number {
  return sent > indexedAt + 86_400_000 ? indexedAt : sent;
}

function rename(fields: Record<string, unknown>, from: string, to: string): void {
  if (!(from in fields) || to in fields) return;
  fields[to] = fields[from];
  delete fields[from];
}

/** The rule as it was when this was written: a migration does not change with it. */
function ownTitle(stated: unknown): string | undefined {
  const title = typeof stated === "string" ? stated.replace(/\s+/gu, " ").trim() : "";
  const isPlaceholder =
    /^(?:untitled|unnamed|no title|title|(?:new |powerpoint )?(?:document|presentation)|workbook|spreadsheet|slide|page|book|sheet|message|\(?no subject\)?)[\s_-]*\(?\d*\)?$/iu;
  const isPrinted = /^microsoft (?:word|excel|powerpoint|outlook) - /iu;
  if (!/[\p{L}\p{N}]/u.test(title) || isPlaceholder.test(title) || isPrinted.test(title)) return undefined;
  return title.length <= 300 ? title : `${title.slice(0, 299).replace(/\p{Surrogate}$/u, "")}…`;
}
