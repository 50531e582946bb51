import type { SourceItem } from "#sources/item.ts";
import { maxFileBytes } from "./file-size.ts";
import { hasNoText } from "./mime-hints.ts";

type Config = Parameters<typeof maxFileBytes>[0];
type Described = { mimeType?: string | undefined; size?: number | undefined };

/** Returns the content of a file that is to be fetched, or the reason why it isn't fetched. */
export function fileContent(config: Config, file: Described, ref?: string): SourceItem["content"] {
  const reason = whyNone(config, file);
  return reason === undefined ? { type: "fetch", ...(ref !== undefined && { ref }) } : { type: "none", reason };
}

function whyNone(config: Config, { mimeType, size }: Described) {
  if (hasNoText(mimeType)) return "unsupported_type";
  if (size === 0) return "empty";
  return size !== undefined && size > maxFileBytes(config) ? "too_large" : undefined;
}
