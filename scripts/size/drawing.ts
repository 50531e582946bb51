import { importsOf, reachedFrom } from "./imports.ts";
import type { FileSize } from "./measure.ts";
import { readTree } from "./tree.ts";

const DRAWING =
  /(<!-- The drawing of `scripts\/drawing\.ts`, made by `npm run gen`\. -->\n\n```mermaid\n)[\s\S]*?(?=```)/;

/** The page with the drawing of the whole tree as it is now. @throws when the page has no place for it */
export function refreshDrawing(page: string): string {
  if (!DRAWING.test(page)) throw new Error("docs/architecture.md has no drawing of the imports.");
  return page.replace(DRAWING, (_drawing, head: string) => `${head}${drawImports(readTree())}`);
}

/** A Mermaid flowchart of the folders directly below `src/FOLDER`; files that are loose in it are one box, `FOLDER/*`. */
export function drawImports(files: readonly FileSize[], folder?: string): string {
  const below = folder === undefined ? "src/" : `src/${folder}/`;
  const boxOf = (path: string): string | undefined => {
    if (!path.startsWith(below)) return undefined;
    const [first = "", ...rest] = path.slice(below.length).split("/");
    return rest.length > 0 ? first : `${folder ?? "src"}/*`;
  };
  const next = new Map<string, Set<string>>();
  for (const { from, to } of files.flatMap((file) => importsOf(file))) {
    const [box, other] = [boxOf(from), boxOf(to)];
    if (box !== undefined && other !== undefined && box !== other)
      next.set(box, (next.get(box) ?? new Set()).add(other));
  }
  const boxes = [...new Set(files.flatMap(({ path }) => boxOf(path) ?? []))].sort();
  const ids = new Map(boxes.map((box, at) => [box, `f${at}`]));
  const lines = [
    ...boxes.map((box) => `${ids.get(box)}["${box}"]`),
    ...arrowsOf(next).map(({ from, to, isMutual }) => `${ids.get(from)} ${isMutual ? "<-.->" : "-->"} ${ids.get(to)}`),
  ];
  return `flowchart TD\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

interface Arrow {
  from: string;
  to: string;
  isMutual: boolean;
}

function arrowsOf(next: ReadonlyMap<string, ReadonlySet<string>>): Arrow[] {
  const reach = new Map([...next.keys()].map((from) => [from, reachedFrom(from, next)]));
  return [...next].flatMap(([from, targets]) =>
    [...targets].flatMap((to): Arrow[] => {
      const isMutual = next.get(to)?.has(from) === true;
      if (isMutual) return from < to ? [{ from, to, isMutual }] : [];
      const isImplied = [...targets].some(
        (other) => other !== to && !reach.get(other)?.has(from) && reach.get(other)?.has(to),
      );
      return isImplied ? [] : [{ from, to, isMutual }];
    }),
  );
}
