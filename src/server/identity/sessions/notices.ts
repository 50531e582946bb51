import { cleanLine, MAX_CHARS } from "#api/clean.ts";
import type { Role } from "#api/common.ts";
import type { LinkNotice, Notice } from "#api/notices.ts";
import { isoOf } from "#core/instant.ts";
import { parsePrincipal } from "#core/principals.ts";
import type { Tie } from "#storage/records/ties.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";

const DAY_MS = 86_400_000;
/** How long after an event a sign-in shows a notice of it, in milliseconds. */
const TOLD_MS = 90 * DAY_MS;
/** How long after a sign-in its notices are shown, in milliseconds. */
const SHOWN_MS = DAY_MS;

interface Reader {
  userId: string;
  workspaceId: string;
  role: Role;
}

/**
 * Notices to a person about their account, and to an owner about the workspace. Three events are shown for a day after
 * each following sign-in: a link with which someone else could sign in, a password set by the operator, and a manual
 * link to a user of a source. The person who used a sign-in link sees the notice too, but the account's owner still
 * sees it.
 */
export async function noticesOf(
  store: Pick<Store, "users" | "in">,
  reader: Reader,
  { signedInAt, now }: { signedInAt: number; now: number },
): Promise<Notice[]> {
  const { userId, workspaceId } = reader;
  // If the sign-in was more than a day ago, only events of the last day are shown.
  const since = now - (now - signedInAt <= SHOWN_MS ? TOLD_MS : SHOWN_MS);
  const notices: Notice[] = [];
  const setAt = await store.users.findPasswordSet(userId);
  if (setAt !== undefined && setAt >= since) notices.push({ type: "password_set", at: isoOf(setAt), by: null });
  const link = await store.users.findResetLink(userId);
  if (link && link.at >= since) {
    const here = (await store.in(workspaceId).names.of([link.madeBy])).get(link.madeBy);
    const by = here ?? (await store.users.find(link.madeBy))?.name ?? null;
    notices.push({ type: "reset_link_made", at: isoOf(link.at), by });
  }
  notices.push(...(await linkNoticesOf(store.in(workspaceId), reader, since)));
  notices.push(...(await toolsNoticesOf(store.in(workspaceId), userId)));
  if (reader.role !== "member") notices.push(...(await targetNoticesOf(store.in(workspaceId))));
  return notices;
}

/** The reader's own connections that wait for the reader's consent to an admin's mapping of the tools. Source: S65. */
async function toolsNoticesOf(
  { connections, providerServers, names }: Pick<WorkspaceStore, "connections" | "providerServers" | "names">,
  userId: string,
): Promise<Notice[]> {
  const notices: Notice[] = [];
  for (const { connectionId, serverId, name, status, waitingSince } of await connections.list({
    ownerUserId: userId,
  })) {
    const server = waitingSince === null ? undefined : await providerServers.find(serverId);
    if (waitingSince === null || !server?.isEnabled || (status !== "active" && status !== "needs_reauth")) continue;
    const by = (await names.of([server.mappedBy ?? ""])).get(server.mappedBy ?? "") ?? null;
    const at = isoOf(waitingSince);
    notices.push({ type: "tools_changed", at, by, connectionId, serverId, connection: name, server: server.name });
  }
  return notices;
}

/**
 * Event targets that the server has paused. The notice is shown while they are paused, since their events wait for an
 * admin.
 */
async function targetNoticesOf({ eventTargets }: Pick<WorkspaceStore, "eventTargets">): Promise<Notice[]> {
  return (await eventTargets.list()).flatMap(({ targetId, url, pausedFor, pausedAt }) => {
    if (pausedFor === null || pausedFor === "admin" || pausedAt === null) return [];
    const at = isoOf(pausedAt);
    return [
      { type: "event_target_paused", at, by: null, targetId, host: new URL(url).host, reason: pausedFor } as const,
    ];
  });
}

interface LinkEvent {
  type: LinkNotice["type"];
  tie: Tie;
  count: number;
}

/**
 * Notices of manual links: for the member linked, for the member previously linked to that user of the source, and for
 * every owner. Source: S3.
 */
async function linkNoticesOf(
  workspace: Pick<WorkspaceStore, "ties" | "names" | "connectors">,
  reader: Reader,
  since: number,
): Promise<LinkNotice[]> {
  const { ties, names } = workspace;
  const { userId, role } = reader;
  const events: LinkEvent[] = [];
  for (const tie of await ties.listOf(userId, since)) events.push({ type: "person_linked", tie, count: 1 });
  for (const tie of await ties.listAfter(userId, since)) events.push({ type: "person_unlinked", tie, count: 1 });
  if (role === "owner") {
    for (const tie of await ties.listLatest(userId, since))
      events.push({ type: "people_linked", tie, count: tie.count });
  }
  const managed = await managedOf(workspace, reader, events);
  const named = await names.of(events.flatMap(({ tie }) => [tie.userId, tie.joinedBy ?? ""]));
  return events.map(({ type, tie, count }) => {
    const isEnded = type === "person_unlinked" || tie.endedAt !== null;
    return {
      type,
      at: isoOf(tie.joinedAt),
      by: named.get(tie.joinedBy ?? "") ?? null,
      person: personIn(tie, type === "people_linked" || !isEnded),
      connector: managed.get(tie.connectorId) ?? null,
      member: type === "people_linked" ? (named.get(tie.userId) ?? null) : null,
      count,
      isEnded,
    };
  });
}

/**
 * A member who is no longer linked to a user doesn't see the user's current name, since sources rename people.
 * Source: S11.
 */
function personIn({ principal, name, login }: Tie, isNamed: boolean): LinkNotice["person"] {
  const parsed = parsePrincipal(principal);
  const called = isNamed ? (name ?? login) : null;
  return {
    principal,
    providerId: parsed?.type === "source_user" ? parsed.providerId : "",
    name: called === null ? null : cleanLine(called, MAX_CHARS.person),
  };
}

/**
 * The names of these links' connectors, if the reader manages them. A linked member may not be able to see any item of
 * the connector.
 */
async function managedOf(
  { connectors }: Pick<WorkspaceStore, "connectors">,
  { userId, role }: Reader,
  events: readonly LinkEvent[],
): Promise<Map<string, string>> {
  const managed = new Map<string, string>();
  for (const connectorId of new Set(events.map(({ tie }) => tie.connectorId))) {
    const connector = await connectors.find(connectorId);
    if (connector && (role !== "member" || connector.ownerUserId === userId)) managed.set(connectorId, connector.name);
  }
  return managed;
}
