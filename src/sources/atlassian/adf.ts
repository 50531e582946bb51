import { tidy } from "./tidy.ts";

/** The fields of an Atlassian Document Format node that are read. */
interface Node {
  type?: unknown;
  text?: unknown;
  attrs?: unknown;
  content?: unknown;
  marks?: unknown;
}

/** Nodes below this depth are ignored: no document that people write is nested deeper. */
const MOST_DEPTH = 100;

/**
 * Returns the text of a document. Never fails: any input has a text, and an unknown node is replaced by the text of its
 * children. Source: https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
 */
export function textOfAdf(document: unknown): string {
  if (typeof document === "string") return tidy(document);
  return tidy(textOf(document, 0));
}

function textOf(value: unknown, depth: number): string {
  if (depth > MOST_DEPTH || typeof value !== "object" || value === null) return "";
  const node: Node = value;
  const { type, text } = node;
  const children = () => inside(node, depth).join("");
  switch (type) {
    case "text":
      return typeof text === "string" ? linked(text, node.marks) : "";
    case "hardBreak":
      return "\n";
    case "rule":
      return "\n";
    case "mention":
    case "status":
      return attribute(node, "text");
    case "emoji":
      return attribute(node, "text", "shortName");
    case "date":
      return day(attribute(node, "timestamp"));
    case "inlineCard":
      return attribute(node, "url");
    case "blockCard":
    case "embedCard":
      return `${attribute(node, "url")}\n`;
    case "media":
    case "mediaInline":
      return attribute(node, "alt");
    case "listItem":
    case "taskItem":
    case "decisionItem":
      return `- ${children().trim()}\n`;
    case "tableRow":
      return `${inside(node, depth)
        .map((cell) => cell.trim().replaceAll(/\n+/g, " "))
        .join(" | ")}\n`;
    case "expand":
    case "nestedExpand":
      return `${attribute(node, "title")}\n${children()}\n`;
    case "paragraph":
    case "heading":
    case "codeBlock":
    case "blockquote":
    case "panel":
    case "caption":
    case "mediaSingle":
    case "mediaGroup":
    case "bulletList":
    case "orderedList":
    case "taskList":
    case "decisionList":
    case "table":
      return `${children()}\n`;
    default:
      return `${typeof text === "string" ? text : attribute(node, "text")}${children()}`;
  }
}

function inside({ content }: Node, depth: number): string[] {
  return Array.isArray(content) ? content.map((child) => textOf(child, depth + 1)) : [];
}

/** Returns the first of these attributes that is present. */
function attribute({ attrs }: Node, ...names: string[]): string {
  if (typeof attrs !== "object" || attrs === null) return "";
  for (const name of names) {
    const value: unknown = Object.hasOwn(attrs, name) ? (attrs as Record<string, unknown>)[name] : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

/** Returns a text with the URL of its link, unless the text already contains the URL. */
function linked(text: string, marks: unknown): string {
  for (const mark of Array.isArray(marks) ? marks : []) {
    if (typeof mark !== "object" || mark === null || (mark as Node).type !== "link") continue;
    const href = attribute(mark as Node, "href");
    return href === "" || text.includes(href) ? text : `${text} (${href})`;
  }
  return text;
}

function day(timestamp: string): string {
  const at = Number(timestamp);
  if (timestamp === "" || Number.isNaN(at) || Math.abs(at) > 8.64e15) return "";
  return new Date(at).toISOString().slice(0, 10);
}
