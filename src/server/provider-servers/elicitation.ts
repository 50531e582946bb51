import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ServerDeps } from "./deps.ts";
import { loseConnection } from "./lose.ts";

/** How long the page that a server wants opened is known. */
const KEEP_MS = 24 * 3_600_000;

type Asked = Pick<ConnectionRecord, "connectionId" | "ownerUserId">;

/**
 * Keeps which page a server wants the owner of a connection to open, sealed: its address can be a secret. Without a usable
 * address the page of before goes, too: it is not the one that the server asks for now.
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

/** A server wants a page opened before it goes on: the connection waits for its owner. Source: S31. */
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

/** The page that is to be opened; undefined when it is not known any more. */
export async function findElicitation(
  { once }: Pick<ServerDeps, "once">,
  connectionId: string,
): Promise<string | undefined> {
  const content = (await once.find("elicitation", connectionId))?.content;
  // Sealed by `keepElicitation`.
  return content === undefined ? undefined : (content as { url: string }).url;
}

/** Whether a connection waits for that and for nothing else: what signs it is still good. */
export function isElicited({ status, statusReason }: Pick<ConnectionRecord, "status" | "statusReason">): boolean {
  return status === "needs_reauth" && statusReason === ELICITATION;
}

export const ELICITATION = "elicitation_required";
