import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ServerDeps } from "./deps.ts";
import { loseConnection } from "./lose.ts";

/** Milliseconds for which the page that a server wants opened is kept. */
const KEEP_MS = 24 * 3_600_000;

type Asked = Pick<ConnectionRecord, "connectionId" | "ownerUserId">;

/**
 * Stores the page that the owner of a connection has to open at the server's request. It is sealed, since its address
 * can be a secret. If the server sends no usable address, the previous page is deleted too, since it isn't the one that
 * the server wants opened now.
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

/** Returns the page to open. Undefined if it is no longer known. */
export async function findElicitation(
  { once }: Pick<ServerDeps, "once">,
  connectionId: string,
): Promise<string | undefined> {
  const content = (await once.find("elicitation", connectionId))?.content;
  // `keepElicitation` has sealed the content.
  return content === undefined ? undefined : (content as { url: string }).url;
}

/** Whether a connection only waits until its owner has opened such a page. Its credentials are then still valid. */
export function isElicited({ status, statusReason }: Pick<ConnectionRecord, "status" | "statusReason">): boolean {
  return status === "needs_reauth" && statusReason === ELICITATION;
}

export const ELICITATION = "elicitation_required";
