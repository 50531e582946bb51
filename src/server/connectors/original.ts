import { ApiError } from "#api/errors.ts";
import { outermostId } from "#core/child-ids.ts";
import { type HeldBytes, type Spool, takeWhole } from "#core/spool.ts";
import { faultOfVersion, leaveContent, readContent } from "#sources/content.ts";
import type { ConnectorDeps } from "./deps.ts";
import { makeContext } from "./sources.ts";

interface SourceFile<Bytes extends HeldBytes = Uint8Array> {
  bytes: Bytes;
  mimeType?: string;
  fileName: string;
}

/** Opens a file inside a file that a source returned, and closes the outer file; implemented by the sync engine. */
export type OpenChild = (
  workspaceId: string,
  file: SourceFile<HeldBytes>,
  externalId: string,
) => Promise<SourceFile<HeldBytes>>;

/**
 * Fetches the bytes of items from their sources; undefined if the source doesn't keep the bytes. The caller, `files/`,
 * checks access.
 */
export function makeOriginalFetcher(
  deps: Pick<ConnectorDeps, "store" | "sources" | "credentials" | "http" | "clock" | "log">,
  { openChild, spool }: { openChild: OpenChild; spool: Spool },
): (workspaceId: string, connectorId: string, externalId: string) => Promise<SourceFile | undefined> {
  const { store, sources, credentials } = deps;
  return async (workspaceId, connectorId, externalId) => {
    const record = await store.in(workspaceId).connectors.find(connectorId);
    const source = record && (await sources.find(record.providerId));
    if (!record || !source?.fetchContent) return undefined;
    const standing = await credentials.credentialsOf(workspaceId, record);
    const context = makeContext(deps, source, record.config, { id: connectorId, name: record.name, ...standing });
    const outermost = outermostId(externalId);
    const listed = await store.in(workspaceId).itemWrites.findContent(connectorId, outermost);
    const { version, contentRef } = listed ?? {};
    const content = await source.fetchContent(context, {
      externalId: outermost,
      ...(contentRef && { ref: contentRef }),
      ...(version && { version }),
    });
    if (faultOfVersion(source.spec, version, content)) {
      await leaveContent(content);
      throw changed();
    }
    const bytes = await readContent(content, spool);
    if (!bytes) throw new ApiError("source_unavailable", { message: "The file is too large to be fetched." });
    const { fileName, mimeType } = content;
    const file = { bytes, fileName, ...(mimeType !== undefined && { mimeType }) };
    const opened = outermost === externalId ? file : await openChild(workspaceId, file, externalId);
    return { ...opened, bytes: await takeWhole(opened.bytes) };
  };
}

/** The access was determined for the stored version, so another version isn't returned. */
function changed(): ApiError {
  return new ApiError("source_changed", {
    message:
      "The file changed at its source since it was last read. Its original can be fetched again after the next sync.",
  });
}
