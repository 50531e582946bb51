import MarkdownIt, { type StateBlock, type Token } from "markdown-it";
import { isOwnUrl } from "#api/own-url.ts";

/** A node of a Markdown text: text, or an element with its children. */
export interface MarkdownNode {
  /** The element's name, or `text`. */
  type: string;
  text?: string;
  /** For links: the target. Only http, https and mailto are allowed. */
  href?: string;
  /** For cells: the alignment. */
  align?: "center" | "right";
  /** For ordered lists: the first number. */
  start?: number;
  /** For headings: the level that the author wrote. */
  level?: number;
  children: MarkdownNode[];
}

/** The maximum nesting. Anything deeper is shown as plain text. */
const DEEPEST = 40;
/** UTF-16 code units. A longer line isn't prose, so it is shown unparsed. So is a longer paragraph. */
const LONGEST_LINE = 20_000;
const LONGEST_RUN = 50_000;

/**
 * Parses Markdown (CommonMark with tables and strikethrough) into nodes. HTML stays text, and images become their alt
 * text. Links may lead only to http, https and mailto, and never to this server, because the text comes from the author
 * of the item.
 *
 * @param breaks  a line feed ends a line, as in trackers and messages
 * @param origin  of this server, as the reader's browser knows it
 */
export function parseMarkdown(text: string, { breaks, origin }: { breaks: boolean; origin: string }): MarkdownNode[] {
  if (isHuge(text)) return [{ type: "pre", children: [{ type: "text", text, children: [] }] }];
  const parser = new MarkdownIt({ html: false, linkify: true, breaks, maxNesting: DEEPEST + 1 });
  keepDeepLines(parser);
  parser.validateLink = (url) => safeHref(url) !== undefined || !/^\s*[a-z][a-z0-9+.-]*:/i.test(url);
  return nest(parser.parse(text, {}), origin);
}

/**
 * Returns a link's URL if it may be followed; undefined if only the link's text is shown, such as for a relative path.
 */
function safeHref(url: string): string | undefined {
  try {
    const { protocol, href } = new URL(url);
    return ["http:", "https:", "mailto:"].includes(protocol) ? href : undefined;
  } catch {
    // The URL is a relative path or invalid.
    return undefined;
  }
}

/**
 * Turns lines that are nested too deep into plain text. The parser would drop them and, in a list, everything after
 * them.
 */
function keepDeepLines({ block }: InstanceType<typeof MarkdownIt>): void {
  const tokenize = block.tokenize.bind(block);
  block.tokenize = (state, startLine, endLine) => {
    if (state.level < DEEPEST) return tokenize(state, startLine, endLine);
    const end = endOfBlock(state, startLine, endLine);
    const token = state.push("code_block", "code", 0);
    token.content = state.getLines(startLine, end, state.blkIndent, false);
    state.line = end;
  };
}

/** Returns the first line after `startLine` that is outside the containing block. */
function endOfBlock(state: StateBlock, startLine: number, endLine: number): number {
  let line = startLine;
  while (line < endLine && (state.isEmpty(line) || (state.sCount[line] ?? 0) >= state.blkIndent)) line++;
  return line;
}

/** Whether a line, or consecutive lines without a blank one, would take the parser more than half a second. */
function isHuge(text: string): boolean {
  let run = 0;
  for (let at = 0; at < text.length;) {
    const lineFeed = text.indexOf("\n", at);
    const end = lineFeed < 0 ? text.length : lineFeed;
    run = end === at ? 0 : run + end - at;
    if (end - at > LONGEST_LINE || run > LONGEST_RUN) return true;
    at = end + 1;
  }
  return false;
}

/** Builds nodes from the parser's flat list of starts and ends, without recursion, however deep the text is nested. */
function nest(tokens: readonly Token[], origin: string): MarkdownNode[] {
  const root: MarkdownNode = { type: "root", children: [] };
  const open: MarkdownNode[] = [root];
  const add = (node: MarkdownNode) => void open.at(-1)?.children.push(node);
  for (const token of tokens) {
    if (token.type === "inline") for (const node of nest(token.children ?? [], origin)) add(node);
    else if (token.nesting === 1) {
      const node = elementOf(token, origin);
      // A paragraph in a tight list is shown as its content only.
      if (token.hidden) node.type = "fragment";
      add(node);
      open.push(node);
    } else if (token.nesting === -1) {
      if (open.length > 1) open.pop();
    } else add(leafOf(token));
  }
  return root.children;
}

function elementOf(token: Token, origin: string): MarkdownNode {
  const node: MarkdownNode = { type: token.tag, children: [] };
  const href = token.tag === "a" ? safeHref(String(token.attrGet("href") ?? "")) : undefined;
  // A link to this server could act for the reader, so only its text is shown. Source: S30.
  if (href !== undefined && !isOwnUrl(href, origin)) node.href = href;
  const align = /text-align:(center|right)/.exec(String(token.attrGet("style") ?? ""))?.[1];
  if (align === "center" || align === "right") node.align = align;
  const start = Number(token.attrGet("start") ?? "1");
  if (token.tag === "ol" && start !== 1) node.start = start;
  if (token.type === "heading_open") node.level = Number(token.tag.slice(1));
  return node;
}

function leafOf({ type, content, children }: Token): MarkdownNode {
  const text = (words: string): MarkdownNode => ({ type: "text", text: words, children: [] });
  switch (type) {
    case "fence":
    case "code_block":
      return { type: "pre", children: [text(content.replace(/\n$/, ""))] };
    case "code_inline":
      return { type: "code", children: [text(content)] };
    case "hardbreak":
      return { type: "br", children: [] };
    case "softbreak":
      return text("\n");
    case "hr":
      return { type: "hr", children: [] };
    case "image": {
      const words = (children ?? []).map((child) => child.content).join("");
      return text(words === "" ? "[image]" : `[image: ${words}]`);
    }
    default:
      return text(content);
  }
}
