import { operationRoutes } from "#api/operations.ts";
import { ApiError } from "#api/errors.ts";
import type { Deps } from "#server/deps.ts";
import type { Mount } from "./mount.ts";

/** `/healthz` and `/readyz`. */
export function mountOperations(at: Mount, deps: Pick<Deps, "isReady" | "store">): void {
  at.open(operationRoutes.health, () => ({ status: "ok" as const }));
  at.open(operationRoutes.readiness, () => checkReadiness(deps));
}

async function checkReadiness({ isReady }: Pick<Deps, "isReady">): Promise<{ status: "ok" }> {
  if (!isReady()) throw new ApiError("unavailable", { message: "The server is starting or shutting down." });
  return { status: "ok" };
}
