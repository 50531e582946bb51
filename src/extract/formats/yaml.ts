import { cleanText, cutText, oneLine } from "#extract/clean.ts";
import type { Format, FormatResult } from "#extract/format.ts";
import { lettersByNumber } from "#extract/letters-by-number.ts";
import { loadPart } from "#extract/load.ts";
import { looksLikeApi, readApi } from "#extract/api-description.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/**
 * YAML is kept as unchanged text, including comments and anchors. Nothing is expanded, so aliases can't multiply the text. Documents and their
 * outermost keys are sections. A description of an API is read as one.
 */
export const yamlFormat: Format = {
  async extract({ decode, maxTextLength }): Promise<FormatResult> {
    const decoded = decode();
    const text = cutText(cleanText(lettersByNumber(decoded.text)), maxTextLength);
    if (/^(?:openapi|swagger)["']?[ \t]*:/mu.test(text.slice(0, 20_000)) && text.length <= MAX_PARSED_LENGTH) {
      const { valueOfYaml } = await loadPart(() => import("#extract/yaml-document.ts"));
      const value = valueOfYaml(text, { maxAliasCount: 100 });
      const api = looksLikeApi(value) ? readApi(value, maxTextLength) : undefined;
      if (api !== undefined) return api;
    }
    const out = new TextBuilder(maxTextLength);
    const title = markSections(text, out);
    out.addClean(text);
    return {
      state: "ok",
      text,
      sections: out.sections,
      properties: {},
      isCut: decoded.isCut || decoded.text.length > maxTextLength,
      ...(title === undefined ? {} : { title }),
    };
  },
};

/** Parsed YAML takes forty times the memory of its text, and parsing takes a second per 300 kB. */
const MAX_PARSED_LENGTH = 600_000;

/** Marks sections: a key at the beginning of a line is an outermost key, because a text block is always indented. */
function markSections(text: string, out: TextBuilder): string | undefined {
  // A second document begins only after something that is neither a comment nor a marker.
  const lastMark = text.lastIndexOf("\n---");
  const hasDocuments = lastMark > 0 && /^[^\s#%-]/mu.test(text.slice(0, lastMark));
  let number = 0;
  let title: string | undefined;
  let isFirst = true;
  for (const line of text.matchAll(
    /^(?:---(?=[ \t]|$)|(["']?)([\p{L}_$][^\n:#"']{0,80})\1[ \t]*:(?=[ \t]|$)[ \t]*([^\n]{0,300}))/gmu,
  )) {
    const key = line[2]?.trim();
    if (hasDocuments && (isFirst || key === undefined)) {
      number += key === undefined || isFirst ? 1 : 0;
      out.section(`Document ${number}${labelAt(text, line.index)}`, 1, line.index);
    }
    isFirst = false;
    if (key === undefined) continue;
    out.section(key, hasDocuments ? 2 : 1, line.index);
    if (title === undefined && /^title$/iu.test(key))
      title = oneLine((line[3] ?? "").replace(/^["']|["']$/gu, ""), 300);
  }
  return title === "" ? undefined : title;
}

/** Returns a label such as `: Deployment web` for documents like those of Kubernetes. */
function labelAt(text: string, start: number): string {
  const next = text.indexOf("\n---", start + 1);
  const document = text.slice(start, Math.min(next < 0 ? text.length : next, start + 4_000));
  const kind = /^kind:[ \t]*["']?([\w.-]{1,60})/mu.exec(document)?.[1];
  const name = /^[ \t]{1,8}name:[ \t]*["']?([\w.-]{1,80})/mu.exec(document)?.[1];
  return kind === undefined ? "" : `: ${kind}${name === undefined ? "" : ` ${name}`}`;
}
