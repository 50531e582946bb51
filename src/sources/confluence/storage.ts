import { setImmediate as breath } from "node:timers/promises";
import { Parser } from "htmlparser2";
import { makeOutput, type Output } from "./output.ts";

/**
 * Real pages nest less than 100 deep. The limit is needed because the parser's cost grows with the square of the depth.
 */
const MOST_DEPTH = 2_000;
/** The parser searches all open elements for each end tag. This many comparisons take some two seconds. */
const MOST_LOOKUPS = 200_000_000;
const CHUNK_CHARS = 65_536;
/** The most characters of text. No real page has more. */
const MOST_CHARS = 8_000_000;

type Attributes = Readonly<Record<string, string>>;

/**
 * Converts Confluence's storage format to Markdown: headings, lists, tables and code. Nothing is included from other
 * pages: a macro becomes its content and its title. Never fails: any input has a text. Yields to the event loop every
 * few thousand elements. Source: https://confluence.atlassian.com/doc/confluence-storage-format-790796544.html
 *
 * @param nameOf  returns the name of a mentioned person; undefined = unknown
 */
export async function textOfStorage(
  storage: string,
  nameOf: (userId: string) => string | undefined = () => undefined,
): Promise<string> {
  const out = makeOutput();
  const open: string[] = [];
  const macros: string[] = [];
  let most = 0;
  let hidden = 0;
  /** For the open parameter: whether its content is hidden and not text of the page. */
  const isHiding = (name: string, attributes: Attributes) =>
    NO_TEXT.has(name) || (name === "ac:parameter" && !isShown(macros.at(-1), attributes["ac:name"]));

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const hides = hidden > 0 || isHiding(name, attributes);
        open.push(name);
        most = Math.max(most, open.length);
        if (hides) {
          hidden++;
          return;
        }
        if (MACROS.has(name)) macros.push(attributes["ac:name"]?.toLowerCase() ?? "");
        if (name === "ri:user") out.person(userOf(attributes, nameOf));
        else begin(out, name, attributes);
      },
      onclosetag(name) {
        open.pop();
        if (hidden > 0) {
          hidden--;
          return;
        }
        if (MACROS.has(name)) macros.pop();
        end(out, name);
      },
      ontext(data) {
        if (hidden === 0) out.text(data);
      },
    },
    { decodeEntities: true, lowerCaseTags: true, recognizeCDATA: true, recognizeSelfClosing: true },
  );
  let lookups = 0;
  const isTooMuch = () => most > MOST_DEPTH || lookups > MOST_LOOKUPS;
  for (let at = 0; at < storage.length && !isTooMuch(); at += CHUNK_CHARS) {
    const piece = storage.slice(at, at + CHUNK_CHARS);
    parser.write(piece);
    lookups += piece.split("</").length * most;
    if (out.length() > MOST_CHARS) break;
    // Yields, so that large pages don't delay other requests.
    await breath();
  }
  if (!isTooMuch()) parser.end();
  return out.end();
}

/**
 * Returns a mentioned person's name. Cloud identifies people by account id, Data Center by a key, and older pages by
 * login name.
 */
function userOf(attributes: Attributes, nameOf: (userId: string) => string | undefined): string {
  const id = attributes["ri:account-id"] ?? attributes["ri:userkey"];
  const name = id === undefined ? attributes["ri:username"] : nameOf(id);
  return name ?? "Someone";
}

const MENTION = /<ri:user\b[^>]{0,400}?\bri:(?:account-id|userkey)\s*=\s*["']([^"'<>]{1,200})["']/gi;
/** The most mentioned people. No real page mentions more. */
const MOST_MENTIONED = 500;

/** Returns the people mentioned in a text in storage format, by the ids that `textOfStorage` passes to `nameOf`. */
export function mentionedIn(storage: string): string[] {
  const ids = new Set<string>();
  for (const [, id] of storage.matchAll(MENTION)) {
    if (id !== undefined) ids.add(id);
    if (ids.size >= MOST_MENTIONED) break;
  }
  return [...ids];
}

/** The elements for macros in both editors. */
const MACROS = new Set(["ac:structured-macro", "ac:macro"]);

/** Elements that aren't text of the page: instructions, fallbacks for another editor, and ids. */
const NO_TEXT = new Set(
  "script style ac:placeholder ac:adf-attribute ac:adf-fallback ac:task-id ac:task-uuid ac:default-parameter".split(
    " ",
  ),
);

/** Whether a macro's parameter is text of the page. Most parameters only control the macro's appearance. */
function isShown(macro: string | undefined, parameter: string | undefined): boolean {
  return (
    parameter === "title" || (macro === "jira" && parameter === "key") || (macro === "profile" && parameter === "user")
  );
}

function begin(out: Output, name: string, attributes: Attributes): void {
  const heading = /^h([1-6])$/.exec(name)?.[1];
  if (heading !== undefined) {
    out.block(`${"#".repeat(Number(heading))} `);
    return;
  }
  switch (name) {
    case "br":
      out.line();
      return;
    case "hr":
      out.block();
      return;
    case "ul":
    case "ol":
    case "ac:task-list":
      out.list(1);
      return;
    case "li":
    case "ac:task":
      out.line("- ");
      return;
    case "td":
    case "th":
      out.cell();
      return;
    case "tr":
      out.row();
      return;
    case "ac:plain-text-body":
    case "pre":
      out.code(true);
      return;
    case "ri:page":
    case "ri:blog-post":
      out.label(attributes["ri:content-title"] ?? "");
      return;
    case "ri:attachment":
      out.label(attributes["ri:filename"] ?? "");
      return;
    case "ac:image":
      out.text(attributes["ac:alt"] ?? "");
      return;
    case "ac:emoticon":
      out.text(attributes["ac:emoji-fallback"] ?? "");
      return;
    case "time":
      out.text(attributes["datetime"] ?? "");
      return;
    case "a":
      out.link(attributes["href"] ?? "");
      return;
    case "ac:link":
      out.link("");
      return;
    default:
      if (BLOCKS.has(name)) out.block();
  }
}

function end(out: Output, name: string): void {
  switch (name) {
    case "ac:plain-text-body":
    case "pre":
      out.code(false);
      return;
    case "a":
    case "ac:link":
      out.endLink();
      return;
    case "tr":
      out.endRow();
      return;
    case "ul":
    case "ol":
    case "ac:task-list":
      out.list(-1);
      return;
    case "ac:task-status":
      out.text(" ");
      return;
    case "li":
    case "ac:task":
    case "td":
    case "th":
      return;
    case "ac:parameter":
      out.text(" ");
      return;
    default:
      if (BLOCKS.has(name) || /^h[1-6]$/.test(name)) out.block();
  }
}

const BLOCKS = new Set(
  "p div table blockquote ac:structured-macro ac:macro ac:rich-text-body ac:layout-section ac:layout-cell ac:adf-content".split(
    " ",
  ),
);
