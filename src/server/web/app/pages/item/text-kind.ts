import type { FileRecord } from "#api/files.ts";

/** How an item's text is shown. */
export type TextKind = "markdown" | "code" | "mail" | "document";

/** The fields that determine the kind. */
export type Shown = Pick<FileRecord, "kind" | "mimeType" | "title" | "key" | "externalId">;

/**
 * Returns the kind by type and name: Markdown, code or mail. Everything else is a document of paragraphs and tables,
 * which is the stored form of sheets, PDF and office files. Texts written in a tracker or on a page are Markdown.
 */
export function textKindOf(item: Shown): TextKind {
  const extension = extensionOf(item);
  const type = item.mimeType?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (item.kind === "message" && (type === "message/rfc822" || MAIL.has(extension))) return "mail";
  // Extraction converts HTML pages to Markdown.
  if (type === "text/markdown" || type === "text/html" || MARKDOWN.has(extension)) return "markdown";
  if (CODE.has(extension) || CODE_TYPES.test(type)) return "code";
  if (type === "" && extension === "" && (item.kind === "task" || item.kind === "page")) return "markdown";
  return "document";
}

/**
 * Returns the extension of the file's own name. A title may be a heading, so the key and the source's id are checked
 * first.
 */
function extensionOf({ key, externalId, title }: Shown): string {
  for (const name of [key, externalId, title]) {
    const found = /\.([a-z0-9_+-]{1,12})$/i.exec(name ?? "")?.[1];
    if (found !== undefined) return found.toLowerCase();
  }
  return "";
}

const words = (list: string) => new Set(list.split(" "));

const MAIL = words("eml msg");
const MARKDOWN = words("md markdown mdown mkd mdx");
const CODE = words(
  "ada asm astro awk bash bat c cc cfg cjs clj cljs cmake cmd conf cpp cr cs css cts cu cxx d dart diff dockerfile ejs el elm env " +
    "erl ex exs f90 fish fs fsx gd glsl go gql gradle graphql groovy h hbs hcl hh hpp hrl hs hxx ini ipynb java jl js json json5 jsonc " +
    "jsonl jsx kt kts less lisp log lua m make mk ml mli mm mjs mts nim nix ndjson pas patch php pl pm proto ps1 py pyi r rake rb rs sass " +
    "scala scm scss sh sol sql svelte swift tcl tex tf thrift toml ts tsx v vala vb vbs vhd vim vue wat wgsl xml xsd xsl yaml yml zig zsh",
);
const CODE_TYPES =
  /^(?:text\/(?:x-|css|javascript|xml)|application\/(?:json|xml|javascript|toml|yaml|x-(?:sh|yaml|ndjson|httpd-php|sql))|.*\+(?:json|xml)$)/;
