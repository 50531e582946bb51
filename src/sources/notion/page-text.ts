import { type NotionClient, orUnsupported } from "./client.ts";
import { type FileBlock, fileOf, isList, isOddFile, isOwnItem, markdownOf } from "./blocks.ts";
import type { BlockRecord } from "./records.ts";

/** The content of a page. */
export interface PageText {
  text: string;
  files: FileBlock[];
  /** The pages and databases on the page. */
  children: { id: string; type: "child_page" | "child_database" }[];
  /** True = every block was parsed. */
  isWhole: boolean;
}

/** The limits for a page. A larger page is either a trap or contains data. */
export interface PageLimits {
  blocks: number;
  chars: number;
  requests: number;
  depth: number;
}
export const PAGE_LIMITS: PageLimits = { blocks: 20_000, chars: 2_000_000, requests: 1_000, depth: 100 };

interface Frame {
  blocks: AsyncIterator<BlockRecord>;
  indent: string;
  count: number;
  last: string;
}

/**
 * Reads the blocks of a page, including nested blocks. Repeated blocks are read once. The contents of child pages
 * aren't read.
 */
export async function readPageText(client: NotionClient, pageId: string, limits = PAGE_LIMITS): Promise<PageText> {
  const found: PageText = { text: "", files: [], children: [], isWhole: true };
  const parts: string[] = [];
  const seen = new Set<string>([pageId]);
  let chars = 0;
  let requests = 0;

  async function* blocksOf(id: string, isNested: boolean): AsyncGenerator<BlockRecord, void> {
    const pages = client.children(id);
    while (requests++ < limits.requests) {
      // Blocks of another page that isn't shared are left out, and so are blocks that Notion's API can't return.
      const page = isNested ? await orUnsupported(() => pages.next()) : await pages.next();
      if (typeof page === "string" || page.done === true) return;
      found.isWhole &&= page.value.known.length === page.value.size;
      yield* page.value.known;
    }
  }
  const open = (id: string, indent: string, isNested = true): Frame => ({
    blocks: blocksOf(id, isNested),
    indent,
    count: 0,
    last: "",
  });

  const stack = [open(pageId, "", false)];
  for (let frame = stack.at(-1); frame; frame = stack.at(-1)) {
    const next = await frame.blocks.next();
    if (next.done === true) {
      stack.pop();
      continue;
    }
    const block = next.value;
    if (seen.has(block.id) || block.in_trash === true) continue;
    seen.add(block.id);
    frame.count = block.type === frame.last ? frame.count + 1 : 1;
    const text = markdownOf(block, { number: frame.count, isFirst: frame.count === 1 }).slice(0, limits.chars - chars);
    const isTight = block.type === frame.last && (isList(block) || block.type === "table_row");
    frame.last = block.type;
    if (text.trim() !== "") {
      const shown = frame.indent === "" ? text : frame.indent + text.replaceAll("\n", `\n${frame.indent}`);
      parts.push(parts.length === 0 ? "" : isTight || frame.indent !== "" ? "\n" : "\n\n", shown);
      chars += text.length;
    }
    const file = fileOf(block);
    if (file) found.files.push(file);
    if (isOddFile(block)) found.isWhole = false;
    if (isOwnItem(block)) found.children.push({ id: block.id, type: block.type as "child_page" | "child_database" });
    else if (block.has_children === true && stack.length < limits.depth)
      stack.push(open(block.id, isList(block) ? `${frame.indent}  `.slice(0, 40) : frame.indent));
    if (seen.size > limits.blocks || chars >= limits.chars) break;
  }
  return { ...found, text: parts.join("") };
}
