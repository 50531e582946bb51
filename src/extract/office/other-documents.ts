interface Kind {
  mimeType: string;
  label: string;
}

/**
 * Detects documents of other programs that are ZIP archives. They are reported by their name, because the archive's content means nothing to people.
 *
 * @param names  names of the entries
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

/** Parts of today's Apple documents, and of those of 2013 and 2009. The folder of a document may be packed together with its content. */
const APPLE_PART =
  /^(?:[^/]+\.(?:pages|numbers|key)\/)?(?:Index\/.+\.iwa|Index\.zip|index\.apxl(?:\.gz)?|buildVersionHistory\.plist|QuickLook\/(?:Preview|Thumbnail)\.\w+)$/iu;

function apple(type: string, label: string): Kind {
  return { mimeType: `application/vnd.apple.${type}`, label: `Apple ${label}` };
}
