/**
 * Media types of text files by extension; the data table of type detection. Anything textual but unknown is text/plain.
 */
const EXTENSIONS_BY_TYPE: Readonly<Record<string, string>> = {
  "text/plain":
    "txt text out err lst nfo me 1st diff patch dtd po pot properties env conf cfg cnf ini inf reg desktop service",
  "text/markdown": "md markdown mdown mkd mkdn mdx mdwn livemd qmd rmd",
  "text/html": "html htm xhtml xht shtml",
  "text/csv": "csv",
  "text/tab-separated-values": "tsv tab",
  "application/json": "json geojson webmanifest har jsonc json5 avsc topojson map",
  "application/x-ndjson": "jsonl ndjson ldjson",
  "application/xml":
    "xml xsd xsl xslt rss atom rdf wsdl plist kml gpx opml pom csproj vbproj fsproj props targets resx xaml dbk",
  "application/x-ipynb+json": "ipynb",
  "application/vnd.oasis.opendocument.text-flat-xml": "fodt",
  "application/vnd.oasis.opendocument.spreadsheet-flat-xml": "fods",
  "application/vnd.oasis.opendocument.presentation-flat-xml": "fodp",
  "application/vnd.oasis.opendocument.graphics-flat-xml": "fodg",
  "application/yaml": "yaml yml",
  "application/toml": "toml",
  "text/x-rst": "rst rest",
  "text/x-asciidoc": "adoc asciidoc asc",
  "text/x-org": "org",
  "text/x-tex": "tex latex ltx sty cls bib bst",
  "text/troff": "man mdoc roff 1 2 3 4 5 6 7 8",
  "text/javascript": "js mjs cjs jsx es6",
  "text/x-typescript": "ts mts cts tsx",
  "text/css": "css scss sass less styl pcss",
  "text/x-vue": "vue svelte astro",
  "text/x-python": "py pyi pyw pyx pxd",
  "text/x-ruby": "rb rake gemspec ru erb",
  "text/x-php": "php php3 php4 php5 phtml",
  "text/x-perl": "pl pm t pod raku",
  "text/x-java": "java jsp",
  "text/x-kotlin": "kt kts",
  "text/x-scala": "scala sc sbt",
  "text/x-groovy": "groovy gradle",
  "text/x-clojure": "clj cljs cljc edn",
  "text/x-c": "c h",
  "text/x-c++": "cc cpp cxx c++ hh hpp hxx ipp inl tcc ino cu cuh",
  "text/x-csharp": "cs csx",
  "text/x-fsharp": "fs fsx fsi",
  "text/x-vb": "vb vbs bas frm",
  "text/x-go": "go mod sum",
  "text/x-rust": "rs",
  "text/x-swift": "swift",
  "text/x-objective-c": "m mm",
  "text/x-dart": "dart",
  "text/x-lua": "lua",
  "text/x-r": "r",
  "text/x-julia": "jl",
  "text/x-haskell": "hs lhs",
  "text/x-ocaml": "ml mli",
  "text/x-erlang": "erl hrl",
  "text/x-elixir": "ex exs heex eex leex",
  "text/x-elm": "elm",
  "text/x-lisp": "lisp lsp el scm ss rkt",
  "text/x-zig": "zig",
  "text/x-nim": "nim nims",
  "text/x-d": "d di",
  "text/x-pascal": "pas pp dpr lpr",
  "text/x-fortran": "f f77 f90 f95 f03 for",
  "text/x-ada": "adb ads",
  "text/x-cobol": "cob cbl cpy",
  "text/x-asm": "asm s nasm",
  "text/x-verilog": "v sv svh vhd vhdl",
  "text/x-sql": "sql psql ddl dml",
  "text/x-shellscript": "sh bash zsh fish ksh csh tcsh command",
  "text/x-powershell": "ps1 psm1 psd1",
  "text/x-bat": "bat cmd",
  "text/x-makefile": "mk mak make",
  "text/x-cmake": "cmake",
  "text/x-dockerfile": "dockerfile containerfile",
  "text/x-nix": "nix",
  "text/x-terraform": "tf tfvars hcl",
  "text/x-protobuf": "proto",
  "text/x-graphql": "graphql gql graphqls",
  "text/x-thrift": "thrift avdl fbs capnp",
  "text/x-template": "tmpl tpl mustache hbs handlebars ejs pug jade haml slim liquid njk j2 jinja jinja2 twig",
  "text/x-vim": "vim vimrc",
  "text/x-awk": "awk sed",
  "text/x-tcl": "tcl tk exp",
  "text/x-prolog": "pro plt",
  "text/x-solidity": "sol",
  "text/x-wgsl": "wgsl glsl vert frag geom hlsl metal cl",
  "text/x-log": "log",
  "application/x-subrip": "srt",
  "text/vtt": "vtt",
  "text/x-ssa": "ass ssa",
  "text/calendar": "ics ifb",
  "text/vcard": "vcf vcard",
  "message/rfc822": "eml emlx mht mhtml",
  "application/mbox": "mbox mbx",
  "image/svg+xml": "svg",
};

/** Well-known text files that have no extension, in lower case. */
const TYPES_BY_NAME: Readonly<Record<string, string>> = {
  makefile: "text/x-makefile",
  gnumakefile: "text/x-makefile",
  dockerfile: "text/x-dockerfile",
  containerfile: "text/x-dockerfile",
  jenkinsfile: "text/x-groovy",
  gemfile: "text/x-ruby",
  rakefile: "text/x-ruby",
  vagrantfile: "text/x-ruby",
  "cmakelists.txt": "text/x-cmake",
};

const TYPES_BY_EXTENSION = new Map(
  Object.entries(EXTENSIONS_BY_TYPE).flatMap(([type, extensions]) =>
    extensions.split(" ").map((extension): [string, string] => [extension, type]),
  ),
);

/** The media type of a text file by its name; undefined when the name isn't known. */
export function textTypeOfName(fileName: string): string | undefined {
  const name = fileName.slice(Math.max(fileName.lastIndexOf("/"), fileName.lastIndexOf("\\")) + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  // The computed key may be anything ("constructor"): own keys only.
  if (Object.hasOwn(TYPES_BY_NAME, name)) return TYPES_BY_NAME[name];
  return dot < 0 ? undefined : TYPES_BY_EXTENSION.get(name.slice(dot + 1));
}
