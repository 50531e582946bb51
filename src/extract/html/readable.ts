import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { isSymbolFont, textInFont } from "#extract/symbol-fonts.ts";
import { fontOf } from "./symbols.ts";
import { isHidden } from "./walk.ts";

/**
 * The article of a page as HTML, found by the density of its text; undefined when there is none or when Readability fails on the page: the caller
 * then uses a simpler method. It takes 50 to 400 ms for 200 kB, and recurses, so pages must be small and not deeply nested.
 */
export function findArticle(html: string): string | undefined {
  try {
    return parseArticle(html);
  } catch {
    // Readability expects a whole document with an `html` element. A fragment is read without it.
    return undefined;
  }
}

function parseArticle(html: string): string | undefined {
  const { document } = parseHTML(html);
  // Readability drops style attributes, so elements that they hide, and symbol fonts, have to be removed first.
  for (const element of document.querySelectorAll("[hidden],[style],[aria-hidden],dialog")) {
    const attributes = Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value]));
    if (isHidden(element.localName, attributes)) element.remove();
    else if (isSymbolFont(fontOf(attributes)) && element.children.length === 0)
      element.textContent = textInFont(fontOf(attributes), element.textContent);
  }
  nameInlineElements(document, html);
  // Readability would remove some headings because of their class names.
  for (const heading of document.querySelectorAll("h1,h2,h3,h4,h5,h6")) heading.removeAttribute("class");
  const article = new Readability(document, { charThreshold: 200, keepClasses: false }).parse();
  return article?.content ?? undefined;
}

/** Renames inline elements that Readability doesn't know, because it would end a paragraph at each of them. */
function nameInlineElements(document: ReturnType<typeof parseHTML>["document"], html: string): void {
  if (!MAY_HAVE_UNKNOWN.test(html)) return;
  for (const element of document.querySelectorAll("*")) {
    if (!UNKNOWN_INLINE.test(element.localName) || element.querySelector(BLOCKS) !== null) continue;
    const known = document.createElement(element.localName === "tt" ? "code" : "span");
    known.append(...element.childNodes);
    element.replaceWith(known);
  }
}

const INLINE = "u|s|strike|big|tt|nobr|acronym|bdi";
const MAY_HAVE_UNKNOWN = new RegExp(`<(?:${INLINE})[\\s>]|<[a-z][a-z0-9]{0,60}[-:]`, "iu");
/** Inline elements of HTML, custom elements (`<my-term>`), and those of other vocabularies (`<ix:nonNumeric>`). */
const UNKNOWN_INLINE = new RegExp(`^(?:${INLINE}|[a-z][a-z0-9]*[-:].*)$`, "iu");
const BLOCKS =
  "p,div,table,ul,ol,dl,pre,blockquote,section,article,main,header,footer,aside,nav,figure,form,fieldset,details,hr,h1,h2,h3,h4,h5,h6";
