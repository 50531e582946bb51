/**
 * The folders of `src`, or of one folder below it, and who imports whom, as a Mermaid flowchart: arrows point to what is imported, and
 * one that follows from others is left out. Folders that import each other are joined by a dotted line.
 *
 *   npx tsx scripts/drawing.ts [FOLDER]     FOLDER as in server or storage/index
 */
import { argv } from "node:process";
import { drawImports } from "./size/drawing.ts";
import { readTree } from "./size/tree.ts";

process.stdout.write(drawImports(readTree(), argv[2]));
