import { inMemory } from "../../spool.ts";
import type { Extractor, ExtractRequest } from "#extract/extractor.ts";
import { fakeExtractor } from "./harness.ts";

/** What is in a file of these tests: text, or a text with files in it. */
export type Tree = string | { text: string; children: Record<string, Tree>; leftOut?: number; isPdf?: boolean };

/** Reads such files; `onRead` is told of each. */
export function treeExtractor(onRead: (request: ExtractRequest) => void = () => undefined): Pick<Extractor, "extract"> {
  return {
    async extract(request, signal) {
      onRead(request);
      const tree = JSON.parse(new TextDecoder().decode(inMemory(request.bytes))) as Tree;
      const text = typeof tree === "string" ? tree : tree.text;
      const read = await fakeExtractor.extract({ ...request, bytes: new TextEncoder().encode(text) }, signal);
      if (typeof tree === "string" || read.state !== "ok") return read;
      const children = Object.entries(tree.children).map(([id, child]) => ({
        id,
        fileName: id,
        bytes: bytesOf(child),
      }));
      if (tree.leftOut === undefined) return { ...read, children };
      const [mimeType, name] =
        tree.isPdf === true ? ["application/pdf", "attachmentsLeftOut"] : ["application/zip", "membersLeftOut"];
      return { ...read, children, mimeType, properties: { ...read.properties, [name]: String(tree.leftOut) } };
    },
  };
}

export const bytesOf = (tree: Tree | undefined) => new TextEncoder().encode(JSON.stringify(tree));
