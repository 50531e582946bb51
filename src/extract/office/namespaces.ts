/** Returns the prefix by which our readers know a namespace, which is the one that most programs use; undefined for an unknown namespace. */
export function prefixOfNamespace(uri: string): string | undefined {
  return PREFIXES.get(uri);
}

const OPEN_XML = "http://schemas.openxmlformats.org/";
/** The same namespaces in documents of the strict variant. */
const STRICT = "http://purl.oclc.org/ooxml/";
const OASIS = "urn:oasis:names:tc:opendocument:xmlns:";

/** Names in spreadsheets, which usually have no prefix. */
const OFFICE_NAMES: Readonly<Record<string, string>> = {
  w: "wordprocessingml/main",
  a: "drawingml/main",
  p: "presentationml/main",
  "": "spreadsheetml/main",
  r: "officeDocument/relationships",
  m: "officeDocument/math",
  wp: "drawingml/wordprocessingDrawing",
  xdr: "drawingml/spreadsheetDrawing",
  c: "drawingml/chart",
  dgm: "drawingml/diagram",
  vt: "officeDocument/docPropsVTypes",
};

const OTHERS: Readonly<Record<string, string>> = {
  "http://schemas.openxmlformats.org/package/2006/metadata/core-properties": "cp",
  "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
  "http://schemas.microsoft.com/office/word/2010/wordprocessingShape": "wps",
  "urn:schemas-microsoft-com:vml": "v",
  "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments": "",
  "http://schemas.microsoft.com/office/powerpoint/2018/8/main": "p188",
  "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties": "",
  "http://purl.oclc.org/ooxml/officeDocument/extendedProperties": "",
  "http://schemas.openxmlformats.org/package/2006/relationships": "",
  "http://schemas.openxmlformats.org/package/2006/content-types": "",
  "http://purl.org/dc/elements/1.1/": "dc",
  "http://purl.org/dc/terms/": "dcterms",
  "http://www.w3.org/1999/xlink": "xlink",
  "http://www.idpf.org/2007/opf": "",
  "http://www.idpf.org/2007/ops": "epub",
  "http://www.daisy.org/z3986/2005/ncx/": "",
  "http://www.w3.org/1999/xhtml": "",
  "urn:oasis:names:tc:opendocument:xmlns:container": "",
  [`${OASIS}xsl-fo-compatible:1.0`]: "fo",
  [`${OASIS}svg-compatible:1.0`]: "svg",
};

const ODF_NAMES = "office text table draw presentation style meta number chart manifest script form animation".split(
  " ",
);

const PREFIXES = new Map<string, string>([
  ...Object.entries(OFFICE_NAMES).flatMap(([prefix, name]): [string, string][] => {
    const [family, rest] = name.split("/");
    return [
      [`${OPEN_XML}${family}/2006/${rest}`, prefix],
      [`${STRICT}${name}`, prefix],
    ];
  }),
  ...Object.entries(OTHERS),
  ...ODF_NAMES.map((name): [string, string] => [`${OASIS}${name}:1.0`, name]),
]);
