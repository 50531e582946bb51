import { readdirSync, readFileSync } from "node:fs";

/** An exported function whose first argument can be a text of others. */
export interface Reader {
  /** `src/api/clean.ts#cleanLine` */
  id: string;
  file: string;
  name: string;
  /** It can be called with the text alone. */
  takesTextOnly: boolean;
}

/** Where code reads, cleans, masks or shows on the main thread what others wrote. */
const PLACES =
  /^(?:api\/(?:clean|pictures|days)|text\/.+|mcp-client\/.+|server\/mcp\/.+|server\/sync\/(?:mask-item|item-fields|storable)|core\/.+|sources\/.+|cli\/(?:excerpt|output|table|width)|server\/log\/log-lines|net\/redirects)\.ts$/;

const EXPORT =
  /^export (?:async )?function\*? (\w+)(?:<[^>\n]*>)?\(\s*\w+\??: (?:string\b|readonly string\[\]|unknown\b|Buffer\b|Uint8Array\b)[^,()]*([,)])\s*([^\n]{0,80})/gm;

/** Every exported function there that begins with a text, a value of JSON, or bytes. */
export function findReaders(): Reader[] {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => PLACES.test(file));
  return files
    .toSorted()
    .map((file) => `src/${file}`)
    .flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(EXPORT)].map(([, name = "", after, next = ""]) => ({
        id: `${file}#${name}`,
        file,
        name,
        takesTextOnly: after === ")" || next.startsWith(")") || /^\w+(?:\?:| =|: [^,)=]+ =)/.test(next),
      })),
    );
}
