import { htmlEncodingOf } from "#core/encodings/declared.ts";
import { cleanText } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { renderHtml } from "#extract/html/render.ts";
import type { Scope } from "#extract/html/scope.ts";
import { surveyHtml, type HtmlSurvey } from "#extract/html/survey.ts";
import { loadPart } from "#extract/load.ts";
import type { TextBuilder } from "#extract/text-builder.ts";

/**
 * HTML: the content of the page as Markdown. The content is the page's `main` or `article` elements if it has them, otherwise the article that
 * Readability finds, otherwise the body without menus, headers, footers and asides.
 */
export const htmlFormat: Format = {
  async extract({ bytes, decode, maxTextLength }): Promise<FormatText> {
    const decoded = decode(htmlEncodingOf(bytes));
    const page = await renderPage(cleanText(decoded.text), maxTextLength);
    return { ...page, isCut: decoded.isCut || page.isCut === true };
  },
};

/** Renders the content of a decoded, clean page. */
export async function renderPage(html: string, maxTextLength: number): Promise<FormatText> {
  const survey = surveyHtml(html);
  const out = await renderContent(html, survey, maxTextLength);
  const { title, language, properties } = survey;
  return out.result({ properties, title, language });
}

/** For longer pages, finding the article costs too much: 100 kB take 25 to 200 ms, the other methods 5 ms. */
const MAX_READABILITY_LENGTH = 100_000;
/** Maximum nesting, because Readability and its tree recurse. */
const MAX_READABILITY_DEPTH = 200;
const MIN_CONTENT_LENGTH = 200;

async function renderContent(html: string, survey: HtmlSurvey, maxTextLength: number): Promise<TextBuilder> {
  const { isDataTable, maxDepth } = survey;
  const scope = chooseScope(survey);
  if (scope === "body" && html.length <= MAX_READABILITY_LENGTH && maxDepth <= MAX_READABILITY_DEPTH) {
    const { findArticle } = await loadPart(() => import("#extract/html/readable.ts"));
    const article = findArticle(html);
    if (article !== undefined) {
      const found = surveyHtml(article);
      // An article of less than half of the page may be a wrong guess. Too much text is better than text that is never found.
      if (found.lengths.everything * 2 >= survey.lengths.body) {
        const options = { scope: "everything", maxTextLength, isDataTable: found.isDataTable } as const;
        const heading = lostHeading(html, article) ? survey.title : undefined;
        return renderHtml(article, { ...options, ...(heading !== undefined && { heading }) });
      }
    }
  }
  return renderHtml(html, { scope, maxTextLength, isDataTable });
}

/** Readability removes the page's heading if it equals the title. */
function lostHeading(html: string, article: string): boolean {
  const heading = FIRST_HEADING.exec(html)?.[0];
  return heading !== undefined && !FIRST_HEADING.test(article);
}

const FIRST_HEADING = /<h[12]\b[^>]{0,1000}>/iu;

/** Chooses the scope by the page's own elements; an element with almost no text is ignored. */
function chooseScope({ lengths }: HtmlSurvey): Scope {
  const isContent = (length: number) => length >= MIN_CONTENT_LENGTH || (length > 0 && length * 4 >= lengths.body);
  if (isContent(lengths.main)) return "main";
  if (isContent(lengths.articles) && lengths.articles * 2 >= lengths.body) return "articles";
  return lengths.body * 5 >= lengths.everything ? "body" : "everything";
}
