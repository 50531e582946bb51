interface Kind {
  mimeType: string;
  label: string;
}

/**
 * Documents of other programs that are ZIP archives: they are reported by their name, as the content of the archive
 * means nothing to people.
 *
 * @param names  of the entries
 * @param fileName  distinguishes Pages from Numbers, whose parts have the same names
 */
export function otherDocumentKind(names: readonly string[], fileName: string): Kind | undefined {
  const has = (pattern: RegExp) => names.some((name) => pattern.test(name));
  if (has(/^FixedDoc(?:ument)?Seq(?:uence)?\.fdseq$/iu))
    return { mimeType: "application/vnd.ms-xpsdocument", label: "XPS" };
  if (has(/^datapackage\.json$/u) && has(/^archive\/.+\.warc/u)) return { mimeType: "application/wacz", label: "WACZ" };
  if (!has(APPLE_PART)) return undefined;
  const extension = [fileName, ...names]
    .map((name) => /\.(pages|numbers|key)(?:\/|$)/iu.exec(name)?.[1]?.toLowerCase())
    .find(Boolean);
  if (extension === "key" || has(/(?:^|\/)(?:Index\/(?:Master|Template)?Slide|index\.apxl)/u))
    return apple("keynote", "Keynote");
  if (extension === "numbers") return apple("numbers", "Numbers");
  return extension === "pages" ? apple("pages", "Pages") : apple("iwork", "Pages or Numbers");
}

/** Of today, of 2013, of 2009; the folder of a document may be packed with its content. */
const APPLE_PART =
  /^(?:[^/]+\.(?:pages|numbers|key)\/)?(?:Index\/.+\.iwa|Index\.zip|index\.apxl(?:\.gz)?|buildVersionHistory\.plist|QuickLook\/(?:Preview|Thumbnail)\.\w+)$/iu;

function apple(type: string, label: string): Kind {
  return { mimeType: `application/vnd.apple.${type}`, label: `Apple ${label}` };
}
