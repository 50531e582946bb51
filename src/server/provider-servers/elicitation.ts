import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ServerDeps } from "./deps.ts";
import { loseConnection } from "./lose.ts";

/** How long the page that a server asks to open is kept. */
const KEEP_MS = 24 * 3_600_000;

type Asked = Pick<ConnectionRecord, "connectionId" | "ownerUserId">;

/**
 * Stores the page that a server asks the owner of a connection to open, sealed: its address can be a secret. Without a
 * usable address the previous page is deleted too: it isn't the one that the server asks for now.
 */
export async function keepElicitation(
  { once }: Pick<ServerDeps, "once">,
  workspaceId: string,
  { connectionId, ownerUserId }: Asked,
  url: string | undefined,
): Promise<void> {
  if (url === undefined) {
    await once.take("elicitation", connectionId);
    return;
  }
  const whose = { workspaceId, userId: ownerUserId, sessionId: "", providerId: connectionId, returnTo: "/" };
  await once.put("elicitation", connectionId, { ...whose, content: { url } }, KEEP_MS);
}

/** Suspends the connection until its owner has opened the page that the server requires. Source: S31. */
export async function waitForElicitation(
  deps: Pick<ServerDeps, "store" | "clock" | "audit" | "emit" | "once">,
  workspaceId: string,
  connectionId: string,
  url: string | undefined,
): Promise<void> {
  const connection = await deps.store.in(workspaceId).connections.find(connectionId);
  if (!connection) return;
  await keepElicitation(deps, workspaceId, connection, url);
  await loseConnection(deps, workspaceId, connectionId, ELICITATION);
}

/** The page to open; undefined when it is no longer known. */
export async function findElicitation(
  { once }: Pick<ServerDeps, "once">,
  connectionId: string,
): Promise<string | undefined> {
  const content = (await once.find("elicitation", connectionId))?.content;
  // Sealed by `keepElicitation`.
  return content === undefined ? undefined : (content as { url: string }).url;
}

/** Whether a connection waits only for such a page: its credentials are still valid. */
export function isElicited({ status, statusReason }: Pick<ConnectionRecord, "status" | "statusReason">): boolean {
  return status === "needs_reauth" && statusReason === ELICITATION;
}

export const ELICITATION = "elicitation_required";
