import { operationRoutes } from "#api/operations.ts";
import { ApiError } from "#api/errors.ts";
import type { Deps } from "#server/deps.ts";
import type { Mount } from "./mount.ts";

/** `/healthz` and `/readyz`. */
export function mountOperations(at: Mount, deps: Pick<Deps, "isReady" | "storage">): void {
  at.open(operationRoutes.health, () => ({ status: "ok" as const }));
  at.open(operationRoutes.readiness, () => checkReadiness(deps));
}

async function checkReadiness({ isReady, storage }: Pick<Deps, "isReady" | "storage">): Promise<{ status: "ok" }> {
  if (!isReady()) throw new ApiError("unavailable", { message: "The server is starting or shutting down." });
  const fault = await storage.findFault();
  // Always 503 here: that is what balancers know.
  if (fault !== undefined) throw new ApiError("unavailable", { message: fault.message });
  return { status: "ok" };
}
