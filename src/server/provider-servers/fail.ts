import { ApiError } from "#api/errors.ts";
import { KEEP_EXPIRED_MS } from "#storage/records/connections.ts";
import type { ServerDeps } from "./deps.ts";

/**
 * Marks a pending connection as failed, so that it can't be finished. A connection that is already finished doesn't
 * change.
 */
export async function failPending(
  { store, clock, emit }: Pick<ServerDeps, "store" | "clock" | "emit">,
  workspaceId: string,
  connectionId: string,
  reason: string,
): Promise<void> {
  await store.transaction(async (tx) => {
    const { connections } = tx.in(workspaceId);
    const connection = await connections.find(connectionId);
    if (connection?.status !== "pending") return;
    const { serverId } = connection;
    const pendingUntil = clock.now() + KEEP_EXPIRED_MS;
    await connections.update(connectionId, { status: "failed", statusReason: reason, pendingUntil });
    await emit(tx, workspaceId, { type: "connection.failed", data: { connectionId, serverId, code: reason } });
  });
}

/**
 * Returns, without throwing, an error with the step and code of the failure. It contains nothing of the server's
 * response.
 */
export function connectionFailed(
  message: string,
  { step, code, field }: { step: string; code: string; field?: string },
): ApiError {
  return new ApiError("connection_failed", {
    message,
    ...(field !== undefined && { field }),
    details: { step, problem: code },
  });
}
