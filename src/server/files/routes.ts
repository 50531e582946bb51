import { cleanText } from "#api/clean.ts";
import { ApiError } from "#api/errors.ts";
import { type FileList, fileRoutes, type FileContentQuery } from "#api/files.ts";
import { isoOf } from "#core/instant.ts";
import type { AppContext } from "#server/http/env.ts";
import type { Mount } from "#server/http/mount.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ReadRecorder } from "#server/identity/audit/recorder.ts";
import { etagOf, type TextRange } from "./content.ts";
import type { NamedItem } from "./lookup.ts";
import { attachment } from "./original.ts";
import type { FileService } from "./service.ts";

/** Mounts the routes of items. */
export function mountFiles(at: Mount, deps: { files: FileService; audit: ReadRecorder }): void {
  const { files, audit } = deps;
  /** Titles and places are content too, so listing items counts as reading them. */
  const noted = (actor: Actor, name: string, list: FileList): FileList => {
    const kbIds = list.files.map(({ kbId }) => kbId);
    audit.recordReads(actor, { type: "route", name }, kbIds);
    return list;
  };
  at.member(fileRoutes.listAll, async ({ actor, query }) =>
    noted(actor, "GET /api/connectors/all-files", await files.list(actor, query)),
  );
  at.member(fileRoutes.listOfConnector, async ({ actor, params, query }) =>
    noted(actor, "GET /api/connectors/{id}/files", await files.listOfConnector(actor, params.id, query)),
  );
  at.member(fileRoutes.countBySource, ({ actor }) => deps.files.countBySource(actor));
  at.member(fileRoutes.get, async ({ actor, params }) => {
    const { kbId } = await files.resolve(actor, params.fileId);
    const file = await files.get(actor, kbId);
    audit.recordReads(actor, { type: "route", name: "GET /api/connectors/files/{fileId}" }, [kbId]);
    return { file };
  });
  at.member(fileRoutes.access, ({ actor, params, query }) => deps.files.access(actor, params.fileId, query.userId));
  at.member(fileRoutes.content, async ({ actor, params, query, c }) => {
    const place = { type: "route" as const, name: "GET /api/connectors/files/{fileId}/content" };
    const { kbId, section } = await files.resolve(actor, params.fileId);
    const answer = await answerContent(files, actor, kbId, withSection(query, section), c);
    audit.recordReads(actor, place, [kbId]);
    return answer;
  });
}

/** Adds the section after the `#` of the request, unless another parameter says what to read. */
function withSection(query: FileContentQuery, section: NamedItem["section"]): FileContentQuery {
  const isOpen = query.section === undefined && query.find === undefined && query.original === undefined;
  return section === undefined || section.isOfAddress || !isOpen ? query : { ...query, section: section.name };
}

/** The default number of code units in one answer. Longer texts are read in parts. */
const DEFAULT_CHARS = 1_000_000;

/** Headers that forbid a browser to run or load anything from an item. Source: S15. */
const INERT = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "private, no-store",
};

async function answerContent(
  files: FileService,
  actor: Actor,
  kbId: string,
  query: FileContentQuery,
  c: AppContext,
): Promise<Response> {
  if (query.original === "true") {
    refuseTogether(query, ["offset", "limit", "section", "find"], "original");
    return answerOriginal(await files.original(actor, kbId));
  }
  const type = textType(c.req.header("accept"));
  if (query.find !== undefined) {
    refuseTogether(query, ["offset", "limit", "section"], "find");
    const found = await files.find(actor, kbId, query.find);
    const text = found.passages.map(({ at, text }) => `at ${at}:\n${text}\n`).join("\n");
    const etag = etagOf(found.item, [type, "find", query.find]);
    return answerText(c, text, type, etag, {
      ...ageOf(found.item),
      "X-Total-Chars": String(found.item.textChars),
      "X-Total-Passages": String(found.total),
      ...(!found.isTotalExact && { "X-Total-Is-Exact": "false" }),
    });
  }
  const { offset = 0, limit = DEFAULT_CHARS, section } = query;
  const range = await files.text(actor, kbId, { offset, limit, ...(section !== undefined && { section }) });
  const hasMore = range.end < (range.section?.end ?? range.totalChars);
  return answerText(c, range.text, type, etagOf(range.item, [type, offset, limit, section]), {
    ...ageOf(range.item),
    "X-Total-Chars": String(range.totalChars),
    "X-Offset": String(range.start),
    ...(range.section !== undefined && { "X-Section-End": String(range.section.end) }),
    ...(hasMore && { "X-Next-Offset": String(range.end) }),
  });
}

/** Returns the header with the time from which the content couldn't be read, if the text is the previous one. */
function ageOf({ formerSince }: TextRange["item"]): Record<string, string> {
  return formerSince === null ? {} : { "X-Text-As-Of": isoOf(formerSince) };
}

/** Returns the text, or 304 for a client that already has it. Access was checked before. */
function answerText(
  c: AppContext,
  text: string,
  type: string,
  etag: string,
  headers: Record<string, string>,
): Response {
  const all = { ...INERT, ...headers, ETag: etag, Vary: "Accept" };
  const held = c.req
    .header("if-none-match")
    ?.split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""));
  if (held?.includes(etag)) return new Response(null, { status: 304, headers: all });
  return new Response(cleanText(text), { headers: { ...all, "Content-Type": `${type}; charset=utf-8` } });
}

function answerOriginal(original: { bytes: Uint8Array; mimeType: string; fileName: string }): Response {
  return new Response(new Uint8Array(original.bytes), {
    headers: {
      ...INERT,
      "Content-Type": original.mimeType,
      "Content-Disposition": attachment(original.fileName),
    },
  });
}

function textType(accept: string | undefined): "text/markdown" | "text/plain" {
  const wantsMarkdown = accept?.toLowerCase().includes("text/markdown") === true;
  return wantsMarkdown && !accept?.toLowerCase().includes("text/plain") ? "text/markdown" : "text/plain";
}

function refuseTogether(query: FileContentQuery, names: readonly (keyof FileContentQuery)[], other: string): void {
  const chosen = names.find((name) => query[name] !== undefined);
  if (chosen === undefined) return;
  throw new ApiError("invalid_request", {
    message: `"${chosen}" can't be combined with "${other}". Leave one of them out.`,
    field: chosen,
  });
}
