import { isRecord } from "#core/json-record.ts";
import { oneLine } from "#extract/clean.ts";
import { type FoundFile, fileOf } from "./attachments.ts";
import { linkOf, type PageLink } from "./links.ts";
import type { PdfPage } from "./open.ts";

export interface Annotations {
  /** One line for each value of a form, then one for each comment. */
  lines: string[];
  /** Files that are attached to the page. */
  files: FoundFile[];
  links: PageLink[];
}

/**
 * Reads what people added to a page: values of its form, and comments. Annotations that viewers don't show are left out, as are passwords, buttons
 * and signatures. Source: S80.
 */
export async function readAnnotations(page: PdfPage): Promise<Annotations> {
  // pdf.js types the annotations as any; each field is checked before it is used.
  const found = ((await page.getAnnotations()) as unknown[]).filter(isRecord).filter(isShown);
  const fields = found.filter((one) => one["annotationType"] === WIDGET).map(fieldLine);
  const comments = found.filter((one) => COMMENTS.has(Number(one["annotationType"]))).map(commentLine);
  const lines = [...new Set([...fields, ...comments].filter((line) => line !== ""))];
  const links = found.filter((one) => one["annotationType"] === LINK).flatMap((one) => linkOf(one) ?? []);
  return { lines, files: found.flatMap((one) => fileOf(one["file"]) ?? []), links };
}

type Annotation = Readonly<Record<string, unknown>>;

const LINK = 2;
const WIDGET = 20;
/** Note, free text, shapes, marked text, stamp, caret, ink, file. Pop-ups are excluded, because they only repeat others. */
const COMMENTS = new Set([1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17]);
/** The flags invisible, hidden and not viewed. Source: ISO 32000-1, table 165. */
const NOT_SHOWN = 1 | 2 | 32;

function isShown(annotation: Annotation): boolean {
  return (Number(annotation["annotationFlags"]) & NOT_SHOWN) === 0 && annotation["hidden"] !== true;
}

/** Formats `Surname: Oberlindner`; "" when the field has no value, or one that isn't for reading. */
function fieldLine(field: Annotation): string {
  if (field["password"] === true || field["pushButton"] === true || field["fieldType"] === "Sig") return "";
  const value = valueOf(field);
  const name = line(field["alternativeText"]) || line(field["fieldName"]);
  return value === "" || name === "" ? value : `${name}: ${value}`;
}

function valueOf(field: Annotation): string {
  const { fieldValue, buttonValue, exportValue, fieldType, options } = field;
  if (fieldType === "Btn") {
    const own = field["radioButton"] === true ? buttonValue : exportValue;
    return fieldValue === own && fieldValue !== "Off" ? line(fieldValue) : "";
  }
  const values = Array.isArray(fieldValue) ? fieldValue : [fieldValue];
  return values
    .map((value: unknown) => shownChoice(options, value))
    .filter((value) => value !== "")
    .join(", ");
}

/** Returns the words that people see for a choice. */
function shownChoice(options: unknown, value: unknown): string {
  const choices = Array.isArray(options) ? options.filter(isRecord) : [];
  const shown = choices.find(({ exportValue }) => exportValue === value)?.["displayValue"];
  return typeof shown === "string" ? line(shown) : text(value);
}

/** Formats `Ana: Please check.`, or only the words. */
function commentLine(comment: Annotation): string {
  const { contentsObj, richText, textContent, titleObj } = comment;
  const own = wordsOf(contentsObj) || wordsOf(richText);
  const words = own === "" && Array.isArray(textContent) ? textContent.map(text).join("\n") : own;
  const author = oneLine(wordsOf(titleObj), MAX_NAME_LENGTH);
  return words.trim() === "" || author === "" ? words.trim() : `${author}: ${words.trim()}`;
}

function wordsOf(value: unknown): string {
  return isRecord(value) ? text(value["str"]) : "";
}

function text(value: unknown): string {
  return typeof value === "string" ? value.replaceAll(/\r\n?/gu, "\n").trim() : "";
}

const MAX_NAME_LENGTH = 200;

function line(value: unknown): string {
  return oneLine(text(value), MAX_NAME_LENGTH);
}
