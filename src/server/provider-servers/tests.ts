import { forbidden } from "#api/errors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import type { providerServerRoutes, ServerTest } from "#api/provider-servers.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import { requireConnection, requireEnabled, requireServer, type ServerDeps } from "./deps.ts";
import { resume } from "./arrive.ts";
import { isElicited } from "./elicitation.ts";
import { afterTest } from "./health.ts";
import { headersOf, triedOf } from "./headers.ts";
import { makeTarget, parseAuth, parseServerUrl, signWith } from "./target.ts";
import { runTest } from "./test-run.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";

/** Tests settings that are not stored, and stores nothing. @throws ApiError `server_config_invalid`, `rate_limited` */
export async function testUnsaved(
  deps: ServerDeps,
  { actor, body }: Pick<MemberCall<typeof providerServerRoutes.testUnsaved>, "actor" | "body">,
) {
  const url = parseServerUrl(body.url);
  const { auth, secret } = parseAuth(body.auth);
  deps.throttle.take(actor.userId);
  // The secret of an OAuth server belongs to its client, and grants no access.
  const token = auth.authKind === "oauth" ? undefined : (secret ?? undefined);
  const headers = token === undefined ? {} : signWith(auth, token);
  return runTest(deps, { target: makeTarget(url, async () => headers), auth, isSigned: token !== undefined });
}

/**
 * Tests a stored server, which only admins may do, or one of the actor's own connections.
 *
 * @throws ApiError `not_found`, `forbidden`, `server_disabled`, `rate_limited`
 */
export async function testStored(
  deps: ServerDeps,
  { actor, params: { id: serverId }, body: { connectionId } }: MemberCall<typeof providerServerRoutes.test>,
) {
  const server = await requireServer(deps, actor, serverId);
  if (connectionId !== undefined) return testConnection(deps, actor, server, connectionId);
  if (!actsAsAdmin(actor)) {
    throw forbidden("Only an admin can test a server. Send connectionId to test a connection of yours.");
  }
  deps.throttle.take(actor.userId);
  const test = await runTest(deps, await triedOf(deps, actor.workspaceId, server));
  const patch = afterTest(server, test, deps.clock.now(), !test.ok);
  await deps.store.in(actor.workspaceId).providerServers.update(serverId, patch);
  return test;
}

async function testConnection(
  deps: ServerDeps,
  actor: Actor,
  server: ProviderServerRecord,
  connectionId: string,
): Promise<ServerTest> {
  const connection = await requireConnection(deps, actor, server.serverId, connectionId);
  // Only the owner of a connection may use it. Source: S5.
  if (connection.ownerUserId !== actor.userId) {
    throw forbidden("Only the owner of a connection can use it.");
  }
  requireEnabled(server);
  deps.throttle.take(actor.userId);
  const headers = () => headersOf(deps, actor.workspaceId, server, connectionId);
  const test = await runTest(deps, { target: makeTarget(server.url, headers), auth: server, isSigned: true });
  const patch = { lastCheckedAt: deps.clock.now() };
  await deps.store.transaction(async (tx) => {
    const today = await tx.in(actor.workspaceId).connections.find(connectionId);
    if (!today || today.status === "revoked") return;
    // The owner has completed the page that the server wanted opened.
    const isDone = test.ok && isElicited(today);
    if (isDone) await resume(deps, tx, actor, today, { ...patch, status: "active", statusReason: null }, {});
    else await tx.in(actor.workspaceId).connections.update(connectionId, patch);
  });
  deps.signal();
  return test;
}
