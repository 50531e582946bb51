import { operationRoutes } from "#api/operations.ts";
import { ApiError } from "#api/errors.ts";
import type { Mount } from "./mount.ts";

export interface Readiness {
  /** False while the server starts, and from the moment it begins to shut down. */
  isReady(): boolean;
  /** Returns the reason why records can't be stored or read now, if any. */
  storage: { findFault(): Promise<ApiError | undefined> };
}

/** `/healthz` and `/readyz`. */
export function mountOperations(at: Mount, readiness: Readiness): void {
  at.open(operationRoutes.health, () => ({ status: "ok" as const }));
  at.open(operationRoutes.readiness, () => checkReadiness(readiness));
}

async function checkReadiness({ isReady, storage }: Readiness): Promise<{ status: "ok" }> {
  if (!isReady()) throw new ApiError("unavailable", { message: "The server is starting or shutting down." });
  const fault = await storage.findFault();
  // Always 503 here, which load balancers understand.
  if (fault !== undefined) throw new ApiError("unavailable", { message: fault.message });
  return { status: "ok" };
}
