import { requireMembers } from "#storage/records/known.ts";
import { actOn } from "#storage/audit-act.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { ApiError } from "#api/errors.ts";
import type { LinkPeopleBody, peopleRoutes, SourceUser, UnlinkedReason } from "#api/people.ts";
import { isoOf } from "#core/instant.ts";
import type { Principal } from "#core/principals.ts";
import { readPage } from "#server/http/pages.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { IdentityRecord } from "#storage/records/identities.ts";
import type { RegisteredInstance } from "#storage/records/instances.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import { requireActs } from "./acts.ts";
import { findInstance } from "./authority.ts";
import { type ConnectorDeps, requireManaged, requireSource } from "./deps.ts";
import { toSync } from "./view.ts";

/** Dependencies of the functions about people, in addition to those of connectors. */
export interface PeopleDeps extends ConnectorDeps {
  /** The instances in the server's settings. */
  instances: readonly RegisteredInstance[];
}

/** The conditions for trusting a connector's identities: an admin made it, and its instance is registered. */
export interface Trust {
  isRegistered: boolean;
  isAdminMade: boolean;
}

/** Whether users of the connector's instance may be members here. Source: S2, S3. */
export async function trustOf(
  { store, sources, credentials, instances }: Pick<PeopleDeps, "store" | "sources" | "credentials" | "instances">,
  workspaceId: string,
  connector: ConnectorRecord,
): Promise<Trust> {
  const source = await requireSource(sources, connector.providerId);
  const instance = await findInstance(store.in(workspaceId), source, connector, instances);
  const isAdminMade = await credentials.isAdminMade(workspaceId, connector);
  return { isRegistered: instance?.isRegistered === true, isAdminMade };
}

/**
 * Lists the users whom the connector's source reported, linked or not.
 *
 * @throws ApiError `not_found`, `invalid_cursor`
 */
export async function listPeople(
  deps: PeopleDeps,
  { actor, params: { id: connectorId }, query }: MemberCall<typeof peopleRoutes.list>,
) {
  const connector = await requireManaged(deps.store, actor, connectorId);
  const { workspaceId } = actor;
  const workspace = deps.store.in(workspaceId);
  const { limit, unlinked } = query;
  let from = 0;
  const { page, nextCursor } = await readPage(
    deps,
    actor,
    {
      route: "GET /api/connectors/:id/people",
      args: { connectorId, unlinked },
      read({ after, ...wanted }) {
        from = after?.value ?? 0;
        return workspace.identities.list(connectorId, {
          ...wanted,
          offset: from,
          ...(unlinked === "true" && { isJoined: false }),
        });
      },
      positionOf: () => ({ value: from + limit, id: "" }),
    },
    query,
  );
  const trust = await trustOf(deps, workspaceId, connector);
  const people = await toSourceUsers(deps, workspaceId, trust, page);
  const { users, joined, groups, oldestAt, wholeAt } = await workspace.sourcePeople.summaryOf(connectorId);
  const lastSync = await workspace.syncs.findLastIdentities(connectorId);
  const summary = {
    users,
    linked: joined,
    groups,
    oldestGroupAt: oldestAt === null ? null : isoOf(oldestAt),
    wholeAt: wholeAt === null ? null : isoOf(wholeAt),
    lastSync: lastSync ? await toSync(workspace, deps.policy, actor, connector, lastSync) : null,
    canLink: trust.isAdminMade && trust.isRegistered,
  };
  return { people, summary, nextCursor };
}

/**
 * Links users of a source to members manually, or unlinks them, for the whole instance.
 *
 * @throws ApiError `not_found`, `forbidden` for a person who isn't an admin or names themselves,
 *   `instance_not_trusted`, `unknown_person`, `unknown_member`
 */
export async function linkPeople(
  deps: PeopleDeps,
  { actor, params: { id: connectorId }, body: { links } }: MemberCall<typeof peopleRoutes.link>,
) {
  const connector = await requireActs(deps, actor, connectorId, ["link_people"]);
  const trust = await trustOf(deps, actor.workspaceId, connector);
  requireMayTie(trust, actor, links);
  await deps.store.transaction(async (tx) => {
    const workspace = tx.in(actor.workspaceId);
    for (const { principal, userId } of links) {
      const known = await workspace.identities.find(connectorId, principal);
      if (!known) throw unknownPerson(principal);
      if (userId !== null) await requireTieable(workspace, known.state, userId);
      await tie(deps, tx, actor, { connectorId, principal, userId });
    }
  });
  const named = new Set(links.map(({ principal }) => principal));
  const rows = await deps.store.in(actor.workspaceId).identities.listNamed(connectorId, [...named]);
  return { people: await toSourceUsers(deps, actor.workspaceId, trust, rows) };
}

function requireMayTie({ isAdminMade, isRegistered }: Trust, actor: Actor, links: LinkPeopleBody["links"]): void {
  // By linking themselves, people would get access to everything that this user may read.
  if (links.some(({ userId }) => userId === actor.userId)) {
    throw new ApiError("forbidden", {
      message: "You can't link yourself. Connect your own account at the source instead, or ask another admin.",
      field: "links",
      hint: "Connect your account with a token of yours: kb accounts connect SERVICE --token",
    });
  }
  if (isAdminMade && isRegistered) return;
  if (links.every(({ userId }) => userId === null)) return;
  throw new ApiError("instance_not_trusted", {
    message: isRegistered
      ? "Only a connector that an admin created can link users to members."
      : "The instance of this connector is not registered, so its users are only names.",
    ...(!isRegistered && { hint: "Register it: kb workspace update --add-instance SOURCE=URL." }),
  });
}

async function requireTieable(
  workspace: WorkspaceStore,
  state: IdentityRecord["state"],
  userId: string,
): Promise<void> {
  if (state !== "active") {
    throw new ApiError("unknown_person", {
      message: `The source says that this user is ${state}, so no one can be linked to them.`,
      field: "links",
    });
  }
  await requireMembers(workspace, [userId], "links");
}

async function tie(
  { audit, clock }: PeopleDeps,
  tx: Parameters<Parameters<PeopleDeps["store"]["transaction"]>[0]>[0],
  actor: Actor,
  { connectorId, principal, userId }: { connectorId: string; principal: Principal; userId: string | null },
): Promise<void> {
  const { identities } = tx.in(actor.workspaceId);
  const now = clock.now();
  const before = (await identities.joinsOf(principal)).find(({ endedAt }) => endedAt === null)?.userId ?? null;
  if (before === userId) return;
  if (userId === null) await identities.end(principal, { at: now, by: actor.userId, reason: "untied" });
  else {
    const join = { principal, userId, connectorId, basis: "admin", joinedBy: actor.userId, joinedAt: now } as const;
    await identities.join(join);
  }
  await audit.record(
    tx,
    actor,
    actOn(userId ?? before ?? "", userId === null ? "person.unlinked" : "person.linked", {
      connectorId,
      principal,
      basis: "admin",
      from: before,
      to: userId,
      isWidened: userId !== null,
    }),
  );
}

async function toSourceUsers(
  { store }: Pick<PeopleDeps, "store">,
  workspaceId: string,
  trust: Trust,
  rows: readonly IdentityRecord[],
): Promise<SourceUser[]> {
  const { members } = store.in(workspaceId);
  const domains = new Set((await store.workspaces.find(workspaceId))?.identityDomains ?? []);
  const people: SourceUser[] = [];
  for (const row of rows) {
    const { principal, name, login, email, state, toldAt, userId, basis } = row;
    const member = userId === null ? undefined : await members.find(userId);
    people.push({
      principal,
      name,
      login,
      email,
      state,
      toldAt: isoOf(toldAt),
      member: userId === null ? null : { id: userId, name: member?.name ?? "" },
      linkedBy: basis,
      reason: userId === null ? reasonOf(row, trust, domains) : null,
    });
  }
  return people;
}

function reasonOf(
  { state, email, isEmailVerified }: IdentityRecord,
  { isRegistered, isAdminMade }: Trust,
  domains: ReadonlySet<string>,
): UnlinkedReason {
  if (state !== "active") return state;
  if (!isRegistered) return "instance_not_registered";
  if (!isAdminMade) return "connector_not_admin_made";
  if (email === null) return "email_missing";
  if (!isEmailVerified) return "email_not_verified";
  if (!domains.has(email.slice(email.lastIndexOf("@") + 1).toLowerCase())) return "email_domain_not_listed";
  return "no_match";
}

function unknownPerson(principal: Principal): ApiError {
  return new ApiError("unknown_person", {
    message: `The source named no user ${JSON.stringify(principal)}.`,
    field: "links",
  });
}
