/**
 * Quotations of our own code in the guides: a `ts` block after `<!-- src/x.ts: words -->` is the declaration or test in
 * that file whose first line holds the words, with its docstring.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const QUOTE = /<!-- ((?:src|test)\/\S+\.ts): (.+?) -->\n+```ts\n[\s\S]*?^```$/gm;

/** The page with every quotation as the code is now. @throws when a file no longer has the words */
export function refreshQuotes(page: string): string {
  return page.replaceAll(QUOTE, (_block, path: string, words: string) => {
    const text = readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");
    return `<!-- ${path}: ${words} -->\n\n\`\`\`ts\n${quote(text, words, path)}\n\`\`\``;
  });
}

function quote(text: string, words: string, path: string): string {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.includes(words));
  if (at < 0) throw new Error(`${path} has no line with "${words}", which a guide quotes.`);
  const indent = /^ */.exec(lines[at] ?? "")?.[0] ?? "";
  let first = at;
  if (lines[at - 1]?.endsWith("*/")) while (!/^ *\/\*\*/.test(lines[first] ?? "")) first--;
  const length = lines.slice(at).findIndex((line) => line.startsWith(`${indent}}`) || line.startsWith(`${indent})`));
  return lines
    .slice(first, at + length + 1)
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join("\n");
}
