import { ApiError } from "#api/errors.ts";
import { actsAsAdmin, type Actor } from "#storage/access/actor.ts";
import type { Principal } from "#core/principals.ts";
import type { ItemAccess } from "#storage/records/items.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { meetsEvery, metBy } from "#storage/access/decision.ts";
import { connectorPrincipal, isConnectorList } from "#storage/access/item-clocks.ts";
import { itemNotFound, type Policy, type Viewer } from "./policy.ts";

export type AccessReason =
  | "allowed"
  | "not_a_member"
  | "removed"
  | "access_unknown"
  | "connector_deleting"
  | "permissions_too_old"
  | "list_unmet";

/** One OR list of an item's access, and how a person meets it. */
export interface ExplainedList {
  /** Where the list comes from: the connector's or connection's own access, or the source. */
  origin: "connector" | "connection" | "source";
  isMet: boolean;
  /** The number of principals on the list. */
  size: number;
  /**
   * The principals from the person to the one on the list that the person holds, each a member of the next; null when
   * the list isn't met.
   */
  chain: Principal[] | null;
  /**
   * The principals on the list, at most 50, for admins; null for members, who see only their own chain and a number.
   */
  principals: Principal[] | null;
}

/** Why a person can or can't read an item. */
export interface Explanation {
  kbId: string;
  userId: string;
  isAllowed: boolean;
  reason: AccessReason;
  /** Set only when the requester may read the item. */
  title: string | null;
  connectorId: string;
  lists: ExplainedList[];
  /**
   * True when this shows an admin something about other people, or about items that the admin may not read. Such a read
   * must be audited.
   */
  isAdminRead: boolean;
}

const MOST_PRINCIPALS = 50;
const ORIGINS: ExplainedList["origin"][] = ["connector", "connection", "source"];

/**
 * Explains why `userId` (default: the actor) can or can't read an item. Members get explanations about themselves and
 * items that they can see. Admins get explanations about any member, without the titles of items that the admin may not
 * read. Source: S18.
 *
 * @throws ApiError `forbidden` for a member who asks about someone else; `not_found` for an item that doesn't exist or
 * is hidden from a member, and for a user who isn't a member of this workspace
 */
export async function explainAccess(
  deps: { store: Store; policy: Policy },
  actor: Actor,
  kbId: string,
  userId = actor.userId,
): Promise<Explanation> {
  const isAdmin = actsAsAdmin(actor);
  if (!isAdmin && userId !== actor.userId) {
    throw new ApiError("forbidden", {
      message: "Only an admin can ask about someone else's access. Leave out userId to ask about your own.",
    });
  }
  return deps.store.snapshot(async (snapshot) => {
    const on = snapshot.in(actor.workspaceId);
    const [item] = await on.items.accessOf([kbId]);
    const asking = await deps.policy.viewerIn(on, actor.userId);
    const mayAskerRead = await deps.policy.isOpen(on, item, asking);
    if (!item || (!isAdmin && !mayAskerRead)) throw itemNotFound(kbId);
    if (userId !== actor.userId && !(await on.access.isMember(userId))) {
      throw new ApiError("not_found", { message: `This workspace has no member "${userId.slice(0, 60)}".` });
    }
    const viewer = userId === actor.userId ? asking : await deps.policy.viewerIn(on, userId);
    const [record] = mayAskerRead ? await on.items.records([kbId]) : [];
    return {
      ...(await explainItem(on, item, userId, viewer, isAdmin)),
      title: record?.title ?? null,
      isAdminRead: userId !== actor.userId || !mayAskerRead,
    };
  });
}

async function explainItem(on: WorkspaceStore, item: ItemAccess, userId: string, viewer: Viewer, isAdmin: boolean) {
  const lists = await on.access.listsOf(item.aclId);
  const held = new Set(viewer.principals);
  const own = [`user:${userId}`, "workspace", "everyone"];
  const parents = await parentsOf(on, own, (group) => held.has(group));
  const reachable = await parentsOf(on, own);
  const explained = lists.map((list): ExplainedList => {
    const match = metBy(list, held);
    const shown = withoutClock(list, item.connectorId);
    return {
      origin: originOf(list),
      isMet: match !== undefined,
      size: list.length,
      chain: match === undefined ? null : chainTo(shown.includes(match) ? match : (shown[0] ?? match), parents),
      principals: isAdmin ? shown.slice(0, MOST_PRINCIPALS) : null,
    };
  });
  explained.sort((a, b) => ORIGINS.indexOf(a.origin) - ORIGINS.indexOf(b.origin));
  const reason = await reasonOf(on, item, viewer, meetsEvery(lists, held), {
    all: new Set(reachable.keys()),
    lists: lists.map((list) => withoutClock(list, item.connectorId)),
  });
  return {
    kbId: item.kbId,
    userId,
    isAllowed: reason === "allowed",
    reason,
    connectorId: item.connectorId,
    lists: explained,
  };
}

async function reasonOf(
  on: WorkspaceStore,
  item: ItemAccess,
  viewer: Viewer,
  isMet: boolean,
  reachable: { all: ReadonlySet<Principal>; lists: readonly (readonly Principal[])[] },
): Promise<AccessReason> {
  if (item.isRemoved) return "removed";
  if (item.aclId === 0) return "access_unknown";
  if (viewer.principals.length === 0) return "not_a_member";
  if (isMet) return "allowed";
  const gate = (await on.access.connectorGates()).find((one) => one.connectorId === item.connectorId);
  if (gate?.state === "deleting") return "connector_deleting";
  const group = connectorPrincipal(item.connectorId);
  // The principal can be reached through memberships but isn't held. Only age can cause that: of the mirror, the group
  // or the item.
  const isTooOld = reachable.all.has(group) && !viewer.principals.includes(group);
  return isTooOld || meetsEvery(reachable.lists, reachable.all) ? "permissions_too_old" : "list_unmet";
}

/**
 * Returns all principals that the person reaches, of any age, each with the principal that leads to it (null = the
 * person's own).
 */
async function parentsOf(
  on: WorkspaceStore,
  own: readonly Principal[],
  isWanted: (group: Principal) => boolean = () => true,
): Promise<Map<Principal, Principal | null>> {
  const parents = new Map<Principal, Principal | null>(own.map((principal) => [principal, null]));
  let edge = [...parents.keys()];
  while (edge.length > 0) {
    const next: Principal[] = [];
    for (const { member, group } of await on.access.groupsOf(edge)) {
      if (parents.has(group) || !isWanted(group)) continue;
      parents.set(group, member);
      next.push(group);
    }
    edge = next;
  }
  return parents;
}

/**
 * Returns the connector's list of readers in the form that people know, also where the list depends on the item's own
 * clock.
 */
function withoutClock(list: readonly Principal[], connectorId: string): readonly Principal[] {
  return isConnectorList(list, connectorId) ? [connectorPrincipal(connectorId)] : list;
}

function chainTo(principal: Principal, parents: ReadonlyMap<Principal, Principal | null>): Principal[] {
  const chain: Principal[] = [];
  for (let at: Principal | null = principal; at !== null; at = parents.get(at) ?? null) chain.unshift(at);
  return chain;
}

function originOf(list: readonly Principal[]): ExplainedList["origin"] {
  const [only, ...others] = list;
  if (others.length > 0 || only === undefined) return "source";
  if (only.startsWith("group:connector:")) return "connector";
  return only.startsWith("group:connection:") ? "connection" : "source";
}
