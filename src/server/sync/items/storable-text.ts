import { withLineFeeds } from "#api/replace-each.ts";

/**
 * Returns the text in storable form: line feeds only, no control characters except tab and line feed, no lone
 * surrogates (which have no UTF-8 form). Text from an extractor is clean already. Titles, names and inline texts come
 * from sources unchanged.
 */
export function storable(text: string): string {
  if (!UNCLEAN.test(text)) return text;
  return withLineFeeds(text, ["\r\n", "\r"])
    .replace(CONTROLS, "")
    .replace(/\p{Surrogate}/gu, "\ufffd");
}

/* oxlint-disable no-control-regex -- removing control characters is what this file is for */
const UNCLEAN = /[\0-\x08\x0b-\x1f\x7f-\x9f\p{Surrogate}]/u;
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;
