import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { Spool } from "#core/spool.ts";
import { faultOfVersion, leaveContent, readContent } from "#sources/content.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import { withSignal } from "#sources/with-signal.ts";
import type { Fetched } from "./read-text.ts";

/**
 * Returns a function that reads content at the source, and stores it in the spool if it is large. If the content has
 * another version than the listed one, readers of the listed version must not see it.
 */
export function fetcherOf(
  source: Source,
  context: SourceContext<unknown>,
  spool: Spool,
  signal: AbortSignal,
): ((item: SourceItem) => Promise<Fetched | undefined>) | undefined {
  const fetchContent = source.fetchContent?.bind(source);
  if (!fetchContent) return undefined;
  return async ({ externalId, version, content }) => {
    const ref = content.type === "fetch" ? content.ref : undefined;
    const listed = { externalId, ...defined({ ref, version }) };
    const file = await fetchContent(withSignal(context, signal), listed);
    const fault = faultOfVersion(source.spec, version, file);
    if (fault !== undefined) await leaveContent(file);
    if (fault === "untold") throw new Error(`${source.spec.name} didn't say which version of the content this is.`);
    if (fault === "other") {
      const message = "The content has another version than the listed one.";
      throw new ApiError("source_changed", { message });
    }
    const { fileName, mimeType } = file;
    const bytes = await readContent(file, spool);
    // If permissions are mirrored, the content has the listed version at this point, so it hasn't changed. Otherwise
    // the text is stored under its actual version.
    return bytes && { bytes, fileName, ...defined({ mimeType, version: file.version }) };
  };
}
