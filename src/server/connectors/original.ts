import { outermostId } from "#core/child-ids.ts";
import type { ConnectorDeps } from "./deps.ts";
import { makeContext } from "./sources.ts";

interface SourceFile {
  bytes: Uint8Array;
  mimeType?: string;
  fileName: string;
}

/** Opens a file that a source gave, down to a file inside it; given by the sync engine. */
export type OpenChild = (workspaceId: string, file: SourceFile, externalId: string) => Promise<SourceFile>;

/**
 * Fetches the bytes of items at their sources; undefined for a source that keeps none. Rights are the caller's matter:
 * `files/`.
 */
export function makeOriginalFetcher(
  deps: Pick<ConnectorDeps, "store" | "sources" | "credentials" | "http" | "clock" | "log">,
  openChild: OpenChild,
): (workspaceId: string, connectorId: string, externalId: string) => Promise<SourceFile | undefined> {
  const { store, sources, credentials } = deps;
  return async (workspaceId, connectorId, externalId) => {
    const record = await store.in(workspaceId).connectors.find(connectorId);
    const source = record && (await sources.find(record.providerId));
    if (!record || !source?.fetchContent) return undefined;
    const standing = await credentials.standingOf(workspaceId, record);
    const context = makeContext(deps, source, record.config, { id: connectorId, name: record.name, ...standing });
    const outermost = outermostId(externalId);
    const file = await source.fetchContent(context, { externalId: outermost });
    return outermost === externalId ? file : openChild(workspaceId, file, externalId);
  };
}
