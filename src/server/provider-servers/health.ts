import type { MemberCall } from "#server/http/mount.ts";
import type { providerServerRoutes, ServerTest } from "#api/provider-servers.ts";
import { isoOrNull } from "#core/instant.ts";
import type { ProviderServerPatch, ProviderServerRecord } from "#storage/records/provider-servers.ts";
import { requireServer, type ServerDeps, visibleConnections } from "./deps.ts";
import { triedOf } from "./headers.ts";
import { runTest } from "./test-run.ts";
import { toStoredProblem } from "./view.ts";

/** Milliseconds between two probes of a server that responds. */
const PROBE_MS = 5 * 60_000;
const MOST_MS = 60 * 60_000;
/** Number of consecutive failures after which a server is considered down. */
const DOWN_AFTER = 3;

/** Returns the health of a server at its last probe. Sends no request. @throws ApiError `not_found` */
export async function healthOf(
  deps: ServerDeps,
  { actor, params: { id: serverId } }: MemberCall<typeof providerServerRoutes.health>,
) {
  const server = await requireServer(deps, actor, serverId);
  const connections = await visibleConnections(deps, actor, serverId);
  const count = (status: string) => connections.filter((one) => one.status === status).length;
  return {
    status: server.health,
    checkedAt: isoOrNull(server.checkedAt),
    latencyMs: server.latencyMs,
    consecutiveFailures: server.failures,
    lastProblem: toStoredProblem(server.lastProblem),
    nextCheckAt: isoOrNull(server.dueAt),
    connections: { active: count("active"), needsReauth: count("needs_reauth"), failed: count("failed") },
  };
}

/**
 * Updates the health of a server after a test.
 *
 * @param isDown whether a failure makes the server down at once, because a person tested it
 */
export function afterTest(
  { failures, isEnabled }: Pick<ProviderServerRecord, "failures" | "isEnabled">,
  test: ServerTest,
  now: number,
  isDown = false,
): ProviderServerPatch {
  const inRow = test.ok ? 0 : failures + 1;
  const problem = test.steps.find(({ ok }) => !ok)?.problem;
  const wait = Math.min(PROBE_MS * 2 ** Math.max(0, inRow - 1), MOST_MS);
  return {
    health: test.ok ? "healthy" : isDown || inRow >= DOWN_AFTER ? "down" : "degraded",
    checkedAt: now,
    latencyMs: test.steps.reduce((sum, { ms }) => sum + ms, 0),
    failures: inRow,
    lastProblem: problem ? { step: problem.step, code: problem.code } : null,
    dueAt: isEnabled ? now + wait : null,
    ...(test.serverInfo && { serverInfo: test.serverInfo }),
    ...(test.protocolVersion !== undefined && { protocolVersion: test.protocolVersion }),
    ...(test.capabilities && { capabilities: test.capabilities }),
  };
}

/** Probes a server that is due. A server that fails is probed less and less often. */
export async function probeServer(deps: ServerDeps, workspaceId: string, serverId: string): Promise<void> {
  const { providerServers } = deps.store.in(workspaceId);
  const before = await providerServers.find(serverId);
  if (!before || before.dueAt === null || before.dueAt > deps.clock.now()) return;
  const { openMcp, clock, log } = deps;
  const test = await runTest({ openMcp, clock, log }, await triedOf(deps, workspaceId, before));
  const after = await providerServers.find(serverId);
  // The server was moved or disabled during the probe, so the result is for another address.
  if (!after?.isEnabled || after.url !== before.url) return;
  await providerServers.update(serverId, afterTest(after, test, deps.clock.now()));
}
