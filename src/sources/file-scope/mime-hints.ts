/** Guesses a MIME type from the name alone. Extraction checks the bytes and decides. */
export function mimeHintOf(name: string): string | undefined {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? undefined : BY_EXTENSION.get(name.slice(dot + 1).toLowerCase());
}

/**
 * Returns true for types that never contain text, so that their bytes aren't fetched in vain. Pictures and recordings
 * may contain words in their metadata. Archives contain files, if these are included.
 */
export function hasNoText(mimeType: string | undefined, readsArchives = false): boolean {
  if (mimeType === undefined) return false;
  return mimeType.startsWith("font/") || TEXTLESS.has(mimeType) || (!readsArchives && ARCHIVES.has(mimeType));
}

const OFFICE = "application/vnd.openxmlformats-officedocument";

const TABLE: Readonly<Record<string, string>> = {
  "text/plain": "txt text conf cfg ini",
  "text/x-log": "log",
  "text/markdown": "md markdown mdx",
  "text/html": "html htm xhtml",
  "text/csv": "csv",
  "text/tab-separated-values": "tsv",
  "text/javascript": "js mjs cjs jsx",
  "text/x-typescript": "ts mts cts tsx",
  "text/x-python": "py pyi",
  "text/x-java": "java",
  "text/x-go": "go",
  "text/x-rust": "rs",
  "text/x-ruby": "rb",
  "text/css": "css scss sass less",
  "application/json": "json jsonc json5 geojson",
  "application/x-ndjson": "ndjson jsonl",
  "application/x-ipynb+json": "ipynb",
  "application/x-subrip": "srt",
  "text/vtt": "vtt",
  "application/yaml": "yaml yml",
  "application/toml": "toml",
  "application/xml": "xml xsd xsl",
  "image/svg+xml": "svg",
  "application/pdf": "pdf",
  "application/rtf": "rtf",
  "application/epub+zip": "epub",
  "message/rfc822": "eml mht mhtml",
  "application/mbox": "mbox",
  "application/vnd.ms-outlook": "msg",
  [`${OFFICE}.wordprocessingml.document`]: "docx",
  [`${OFFICE}.presentationml.presentation`]: "pptx",
  [`${OFFICE}.spreadsheetml.sheet`]: "xlsx",
  "application/vnd.oasis.opendocument.text": "odt",
  "application/vnd.oasis.opendocument.spreadsheet": "ods",
  "application/vnd.oasis.opendocument.presentation": "odp",
  "application/msword": "doc",
  "application/vnd.ms-excel": "xls",
  "application/vnd.ms-powerpoint": "ppt",
  "application/zip": "zip",
  "application/gzip": "gz tgz",
  "application/x-tar": "tar",
  "application/x-7z-compressed": "7z",
  "application/vnd.rar": "rar",
  "application/x-iso9660-image": "iso",
  "application/x-sharedlib": "so dylib dll",
  "application/vnd.sqlite3": "sqlite sqlite3",
  "application/wasm": "wasm",
  "image/png": "png",
  "image/jpeg": "jpg jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/tiff": "tif tiff",
  "image/x-icon": "ico",
  "image/heic": "heic",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/ogg": "ogg opus",
  "video/mp4": "mp4 m4v",
  "video/quicktime": "mov",
  "video/x-matroska": "mkv",
  "video/webm": "webm",
  "font/woff2": "woff2",
  "font/woff": "woff",
  "font/ttf": "ttf",
  "font/otf": "otf",
};

const BY_EXTENSION: ReadonlyMap<string, string> = new Map(
  Object.entries(TABLE).flatMap(([mimeType, extensions]) =>
    extensions.split(" ").map((extension) => [extension, mimeType] as const),
  ),
);

const ARCHIVES: ReadonlySet<string> = new Set(["application/gzip", "application/x-tar"]);

const TEXTLESS: ReadonlySet<string> = new Set([
  "application/x-7z-compressed",
  "application/vnd.rar",
  "application/x-iso9660-image",
  "application/x-sharedlib",
  "application/vnd.sqlite3",
  "application/wasm",
  "image/x-icon",
]);
