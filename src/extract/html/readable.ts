import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { isSymbolFont, textInFont } from "#extract/symbol-fonts.ts";
import { fontOf } from "./symbols.ts";
import { isHidden } from "./walk.ts";

/**
 * The article of a page as HTML, found by the density of its text; undefined when there is none or when Readability
 * fails on the page: the caller has a simpler way. Takes 50 to 400 ms for 200 kB, and recurses, so pages must be small
 * and flat.
 */
export function findArticle(html: string): string | undefined {
  try {
    return parseArticle(html);
  } catch {
    // It expects a whole document (a fragment has no `html` to climb to): such a page is read without it.
    return undefined;
  }
}

function parseArticle(html: string): string | undefined {
  const { document } = parseHTML(html);
  // Readability drops style attributes, so what they hide, and fonts of symbols, have to go before.
  for (const element of document.querySelectorAll("[hidden],[style],[aria-hidden],dialog")) {
    const attributes = Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value]));
    if (isHidden(element.localName, attributes)) element.remove();
    else if (isSymbolFont(fontOf(attributes)) && element.children.length === 0)
      element.textContent = textInFont(fontOf(attributes), element.textContent);
  }
  const article = new Readability(document, { charThreshold: 200, keepClasses: false }).parse();
  return article?.content ?? undefined;
}
