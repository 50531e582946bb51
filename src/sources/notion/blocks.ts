import { canParseUrl } from "#api/parse-url.ts";
import { z } from "zod";
import { cleanName } from "./names.ts";
import { type BlockRecord, plainOf } from "./records.ts";

const Value = z.looseObject({});
const Uploaded = z.object({ url: z.string().max(8_000) });

/** A file that was uploaded to a page. */
export interface FileBlock {
  blockId: string;
  name: string;
  /** Expires in an hour: read it at once, and never store it. */
  url: string;
  /** The stable part of the URL, which changes when the file changes. */
  key: string;
  editedAt: string;
}

const FILES: ReadonlySet<string> = new Set(["file", "pdf", "image", "video", "audio"]);
/** Blocks that are separate items. */
const ITEMS: ReadonlySet<string> = new Set(["child_page", "child_database"]);
const LISTS: ReadonlySet<string> = new Set(["bulleted_list_item", "numbered_list_item", "to_do", "toggle"]);

export const isList = ({ type }: BlockRecord): boolean => LISTS.has(type);
export const isOwnItem = ({ type }: BlockRecord): boolean => ITEMS.has(type);

export function valueOf(block: BlockRecord): Record<string, unknown> {
  return Value.safeParse(block[block.type]).data ?? {};
}

/** Returns the file of a block if the workspace stores it. A file elsewhere is only a link. */
export function fileOf(block: BlockRecord): FileBlock | undefined {
  if (!FILES.has(block.type)) return undefined;
  const value = valueOf(block);
  const url = value["type"] === "file" ? Uploaded.safeParse(value["file"]).data?.url : undefined;
  if (url === undefined || !canParseUrl(url)) return undefined;
  const { pathname, host, protocol } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return undefined;
  const fileName = typeof value["name"] === "string" ? value["name"] : lastSegment(pathname);
  const name = cleanName(fileName, block.type).replaceAll("/", "_");
  return { blockId: block.id, name, url, key: `${host}${pathname}`, editedAt: block.last_edited_time ?? "" };
}

/** Whether a block is a file block without enough data to identify its file. */
export function isOddFile(block: BlockRecord): boolean {
  if (!FILES.has(block.type) || fileOf(block)) return false;
  const { type } = valueOf(block);
  return typeof type !== "string" || type === "file";
}

function lastSegment(pathname: string): string {
  const last = pathname.slice(pathname.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/**
 * Returns a block as Markdown, without its children.
 *
 * @param place  the block's number in a numbered list, and whether it is the first row of its table
 */
export function markdownOf(block: BlockRecord, { number, isFirst }: { number: number; isFirst: boolean }): string {
  const value = valueOf(block);
  const text = plainOf(value["rich_text"]);
  const caption = plainOf(value["caption"]);
  switch (block.type) {
    case "heading_1":
    case "heading_2":
    case "heading_3":
    case "heading_4":
      return text.trim() === "" ? "" : `${"#".repeat(Number(block.type.slice(-1)) + 1)} ${oneLine(text)}`;
    case "bulleted_list_item":
    case "toggle":
      return `- ${text}`;
    case "numbered_list_item":
      return `${number}. ${text}`;
    case "to_do":
      return `- [${value["checked"] === true ? "x" : " "}] ${text}`;
    case "quote":
    case "callout":
      return quoted(text);
    case "code":
      return [fenced(text, value["language"]), caption].filter((part) => part !== "").join("\n\n");
    case "equation":
      return typeof value["expression"] === "string" ? `$$\n${value["expression"]}\n$$` : "";
    case "divider":
      return "---";
    case "table_row":
      return rowOf(value["cells"], isFirst);
    case "child_page":
    case "child_database":
      return typeof value["title"] === "string" ? cleanName(value["title"]) : "";
    case "bookmark":
    case "embed":
    case "link_preview":
      return [caption, linkOf(value["url"])].filter((part) => part !== "").join(" ");
    case "file":
    case "pdf":
    case "image":
    case "video":
    case "audio":
      return [caption, fileOf(block)?.name ?? linkOf(External.safeParse(value["external"]).data?.url)]
        .filter((part) => part !== "")
        .join(" ");
    default:
      // Meeting notes have a title.
      return [text, caption, plainOf(value["title"])].find((words) => words !== "") ?? "";
  }
}

const External = z.object({ url: z.string() });

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ").trim();
}

function quoted(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

function fenced(text: string, language: unknown): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, each) => Math.max(most, each.length), 2);
  const fence = "`".repeat(longest + 1);
  const name = typeof language === "string" && /^[\w+# -]{1,30}$/.test(language) ? language : "";
  return `${fence}${name}\n${text}\n${fence}`;
}

function rowOf(cells: unknown, isFirst: boolean): string {
  const texts = (Array.isArray(cells) ? cells.slice(0, 200) : []).map((cell) =>
    oneLine(plainOf(cell)).replaceAll("|", "\\|"),
  );
  const row = `| ${texts.join(" | ")} |`;
  return isFirst ? `${row}\n|${" --- |".repeat(texts.length)}` : row;
}

function linkOf(url: unknown): string {
  return typeof url === "string" && url.length <= 2_000 && /^https?:\/\/\S+$/.test(url) ? url : "";
}
