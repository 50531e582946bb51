import { operationRoutes } from "#api/operations.ts";
import { ApiError } from "#api/errors.ts";
import type { Mount } from "./mount.ts";

export interface Readiness {
  /** Returns false while the server starts, and from the beginning of its shutdown. */
  isReady(): boolean;
  /** Returns the reason why records can't be stored or read now, if there is one. */
  storage: { findFault(): Promise<ApiError | undefined> };
}

/** Mounts `/healthz` and `/readyz`. */
export function mountOperations(at: Mount, readiness: Readiness): void {
  at.open(operationRoutes.health, () => ({ status: "ok" as const }));
  at.open(operationRoutes.readiness, () => checkReadiness(readiness));
}

async function checkReadiness({ isReady, storage }: Readiness): Promise<{ status: "ok" }> {
  if (!isReady()) throw new ApiError("unavailable", { message: "The server is starting or shutting down." });
  const fault = await storage.findFault();
  // Here the status is always 503, which load balancers understand.
  if (fault !== undefined) throw new ApiError("unavailable", { message: fault.message });
  return { status: "ok" };
}
