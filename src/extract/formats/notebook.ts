import { tryJson } from "#core/json-record.ts";
import { cleanText, cutText, oneLine } from "#extract/clean.ts";
import { renderFragment } from "#extract/html/render.ts";
import type { Format, FormatInput, FormatResult } from "#extract/format.ts";
import { TextBuilder } from "#extract/text-builder.ts";
import { type Json, membersOf } from "#extract/json-record.ts";
import { jsonFormat } from "./json.ts";

/**
 * Jupyter notebooks. Each cell is a section. Prose is kept as Markdown, code is in fences with its printed output; pictures and other media are left
 * out.
 */
export const notebookFormat: Format = {
  extract(input): FormatResult | Promise<FormatResult> {
    const notebook = parseNotebook(input);
    // A file with this extension that isn't a notebook is still JSON.
    if (notebook === undefined) return jsonFormat.extract(input);
    const metadata = membersOf(notebook["metadata"]);
    const language =
      textOf(membersOf(metadata["language_info"])["name"]) || textOf(membersOf(metadata["kernelspec"])["language"]);
    const out = new TextBuilder(input.maxTextLength);
    let title = textOf(metadata["title"]);
    cellsOf(notebook).forEach((cell, index) => {
      if (out.isFull) return;
      const source = cleanText(textOf(cell["source"] ?? cell["input"]));
      const heading = cell["cell_type"] === "markdown" ? /^#{1,6}[ \t]+(.+)$/mu.exec(source)?.[1] : undefined;
      if (title === "" && heading !== undefined) title = heading;
      writeCell(out, cell, source, { number: index + 1, heading, language });
    });
    const authors = Array.isArray(metadata["authors"])
      ? metadata["authors"].map((one) => textOf(membersOf(one)["name"]))
      : [];
    const author = oneLine(authors.filter((name) => name !== "").join(", "), 500);
    const properties = {
      cells: String(cellsOf(notebook).length),
      ...(language !== "" && { programmingLanguage: oneLine(language, 60) }),
      ...(author !== "" && { author }),
    };
    return out.result({ properties, title: oneLine(title, 300) });
  },
};

/** Output is the least useful part for a reader: a table or a traceback fits, a training log doesn't. */
const MAX_OUTPUT_LENGTH = 20_000;

function parseNotebook(input: FormatInput): Json | undefined {
  const decoded = input.decode();
  if (decoded.isCut) return undefined;
  // Broken JSON is read as unchanged text.
  const value = membersOf(tryJson(decoded.text));
  return Array.isArray(value["cells"]) || Array.isArray(value["worksheets"]) ? value : undefined;
}

/** Returns the cells of version 4, or of the worksheets of version 3. */
function cellsOf(notebook: Json): Json[] {
  const lists = Array.isArray(notebook["cells"])
    ? [notebook["cells"]]
    : (notebook["worksheets"] as unknown[]).map((sheet) => membersOf(sheet)["cells"]);
  return lists.flatMap((list) => (Array.isArray(list) ? list.map(membersOf) : []));
}

interface About {
  number: number;
  heading: string | undefined;
  language: string;
}

function writeCell(out: TextBuilder, cell: Json, source: string, { number, heading, language }: About): void {
  const body = source.trim();
  const outputs = Array.isArray(cell["outputs"]) ? cell["outputs"].map((output) => outputText(membersOf(output))) : [];
  const output = cutText(cleanText(outputs.filter((text) => text.trim() !== "").join("\n")), MAX_OUTPUT_LENGTH).trim();
  if (body === "" && output === "") return;
  if (out.offset > 0) out.add("\n");
  const name = heading ?? `Cell ${number}: ${body.split("\n", 1)[0] ?? ""}`;
  out.section(name, 1, out.offset, { kind: "cell", ref: String(number) });
  if (cell["cell_type"] !== "code") out.add(`${withoutEmbedded(body)}\n`);
  else out.add(`${fenced(body, language)}${output === "" ? "" : `\n${fenced(output, "")}`}`);
}

/** Encloses the text in a fence that is longer than any fence in it. */
function fenced(text: string, language: string): string {
  let longest = 2;
  for (const [ticks] of text.matchAll(/^`{3,}/gmu)) longest = Math.max(longest, ticks.length);
  const fence = "`".repeat(longest + 1);
  return text === "" ? "" : `${fence}${language}\n${text}\n${fence}\n`;
}

/** Removes pictures embedded in the text as base64. */
function withoutEmbedded(text: string): string {
  return text.replaceAll(/data:[\w/+.-]{1,60};base64,[A-Za-z0-9+/=\s]{40,}/gu, "");
}

/** Returns printed text, results as text, and errors with their traceback. */
function outputText(output: Json): string {
  const data = membersOf(output["data"]);
  const printed = textOf(output["text"] ?? data["text/markdown"]) || shownText(data);
  if (printed !== "") return withoutColours(printed);
  if (output["output_type"] !== "error" && output["output_type"] !== "pyerr") return "";
  const trace = Array.isArray(output["traceback"]) ? output["traceback"].map(textOf).join("\n") : "";
  return withoutColours(trace === "" ? `${textOf(output["ename"])}: ${textOf(output["evalue"])}` : trace);
}

/** Returns the text of a result, unless it only names the displayed object. */
function shownText(data: Json): string {
  const plain = textOf(data["text/plain"]);
  if (plain !== "" && !/^<[\w.]+(?: object)?>$/u.test(plain.trim())) return plain;
  const html = textOf(data["text/html"]);
  if (html !== "" && html.length <= MAX_HTML_LENGTH)
    return renderFragment(cleanText(html), MAX_OUTPUT_LENGTH).toString().trim();
  return textOf(data["text/latex"]) || plain;
}

const MAX_HTML_LENGTH = 500_000;

function withoutColours(text: string): string {
  // oxlint-disable-next-line no-control-regex -- terminal colours begin with an escape
  return text.replaceAll(/\u001b\[[0-9;]{0,20}m/gu, "");
}

/** Returns a text, or joins its lines. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === "string").join("") : "";
}
