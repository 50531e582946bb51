import { localName } from "./local-name.ts";

/** Detects an XML document by its beginning. Returns a media type that has a format; undefined for text that isn't XML. */
export function xmlTypeOf(start: string): string | undefined {
  const root = findRoot(start);
  if (root === undefined) return undefined;
  const { name, attributes, prolog } = root;
  const local = localName(name);
  if (local === "html") return "text/html";
  if (local === "svg") return "image/svg+xml";
  if (attributes.includes("schemas.microsoft.com/office/2006/xmlPackage")) return packageType(start);
  if (attributes.includes("schemas.microsoft.com/office/word/2003/wordml")) return WORD_2003;
  if (local === "Workbook" && attributes.includes("urn:schemas-microsoft-com:office:spreadsheet")) return EXCEL_2003;
  if (local === "document" && attributes.includes("opendocument:xmlns:office")) {
    const type = /office:mimetype\s*=\s*["']application\/vnd\.oasis\.opendocument\.([a-z]{1,20})/u.exec(
      attributes,
    )?.[1];
    if (type !== undefined) return `application/vnd.oasis.opendocument.${type}-flat-xml`;
  }
  if (local === "rss" || (local === "RDF" && attributes.includes("purl.org/rss/"))) return FEED;
  if (local === "feed" && attributes.includes("w3.org/2005/Atom")) return FEED;
  return prolog.includes("<?xml") || prolog.includes("<!DOCTYPE") || /\bxmlns(?::\w{1,30})?\s*=/u.test(attributes)
    ? "application/xml"
    : undefined;
}

/**
 * Whether the beginning is that of a prose document: DocBook, DITA, FictionBook, TEI, JATS. Element names alone aren't enough, because data has
 * articles and topics too.
 */
export function isBook(start: string): boolean {
  const local = localName(findRoot(start)?.name ?? "");
  return OWN_ROOTS.test(local) || (SHARED_ROOTS.test(local) && BOOK_MARKS.test(start));
}

const OWN_ROOTS = /^(?:FictionBook|TEI|TEI\.2|teiCorpus|refentry|glossentry|bookmap)$/u;
const SHARED_ROOTS =
  /^(?:concept|topic|task|reference|troubleshooting|dita|book|article|chapter|part|section|appendix|preface)$/u;
const BOOK_MARKS =
  /DocBook|docbook|OASIS\/\/DTD|JATS|NLM\/\/DTD|<(?:para|simpara|chapter|sect1|body|conbody|taskbody|refbody|shortdesc|articleinfo|bookinfo|article-meta)[\s>/]/u;

const FEED = "application/rss+xml";
const EXCEL_2003 = "application/vnd.ms-excel.2003+xml";
const WORD_2003 = "application/vnd.ms-word.2003+xml";
const WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** Returns the type of a single XML file that contains all parts of an Office document. */
function packageType(start: string): string {
  const program = /<\?mso-application\s[^>]{0,100}progid="(Word|PowerPoint)\./u.exec(start)?.[1];
  if (program === "PowerPoint") return WORD.replace("wordprocessingml.document", "presentationml.presentation");
  return WORD;
}

/**
 * Finds the first element, and the text before it. It searches step by step, because a single pattern for any number of comments takes exponential
 * time.
 */
function findRoot(start: string): { name: string; attributes: string; prolog: string } | undefined {
  let at = start.length - start.trimStart().length;
  for (;;) {
    const rest = start.slice(at, at + 9);
    const end = rest.startsWith("<!--")
      ? "-->"
      : rest.startsWith("<?")
        ? "?>"
        : rest.startsWith("<!DOCTYPE")
          ? ">"
          : "";
    if (end === "") break;
    const found = start.indexOf(end === ">" ? doctypeEnd(start, at) : end, at);
    if (found < 0) return undefined;
    at = found + (end === ">" ? doctypeEnd(start, at).length : end.length);
    while (/\s/u.test(start.charAt(at))) at++;
  }
  const tag = /^<([\p{L}_][\p{L}\p{N}_.-]{0,100}(?::[\p{L}_][\p{L}\p{N}_.-]{0,100})?)([\s/][^>]*)?(?:>|$)/u.exec(
    start.slice(at),
  );
  return tag?.[1] === undefined ? undefined : { name: tag[1], attributes: tag[2] ?? "", prolog: start.slice(0, at) };
}

/** Finds the end of a document type, which may contain declarations in brackets. */
function doctypeEnd(start: string, at: number): string {
  const bracket = start.indexOf("[", at);
  const angle = start.indexOf(">", at);
  return bracket >= 0 && bracket < angle ? "]>" : ">";
}
