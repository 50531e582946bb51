import { ApiError, noSuchThing } from "#api/errors.ts";
import type { CreateWorkspaceBody, MyWorkspace, Session, Workspace } from "#api/session.ts";
import type { PageQuery } from "#api/workspace.ts";
import { isoOf } from "#core/instant.ts";
import { cutPage, type CursorCodec } from "#server/http/cursor.ts";
import type { Actor, RequestOrigin } from "#storage/access/actor.ts";
import type { Store } from "#storage/records/store.ts";
import { toWorkspace } from "./service.ts";

export type MyWorkspaceService = ReturnType<typeof makeMyWorkspaceService>;

/** Workspaces that one person may own on a managed server. */
const MAX_OWNED = 10;

export function makeMyWorkspaceService(options: {
  store: Store;
  cursors: CursorCodec;
  mode: Session["mode"];
  signup: Session["signup"];
  /** Makes a workspace with its owner. @returns its workspaceId */
  addWorkspace(
    tx: Store,
    workspace: { ownerId: string; name: string; timeZone: string | null; origin?: RequestOrigin | undefined },
  ): Promise<string>;
}) {
  const { store, cursors, mode, signup, addWorkspace } = options;

  async function requireMayCreate(tx: Store, actor: Actor): Promise<void> {
    const memberships = await tx.users.membershipsOf(actor.userId);
    const isForAll = mode === "managed" || signup === "open";
    if (!isForAll && !memberships.some(({ role }) => role !== "member")) {
      throw new ApiError("forbidden", { message: "Only owners and admins of a workspace can create workspaces." });
    }
    if (mode === "managed" && memberships.filter(({ role }) => role === "owner").length >= MAX_OWNED) {
      throw new ApiError("workspace_limit_reached", { message: `You can own at most ${MAX_OWNED} workspaces.` });
    }
  }

  return {
    /** Lists the person's workspaces in the order they joined them. */
    async list(
      actor: Actor,
      { limit, cursor }: PageQuery,
    ): Promise<{ workspaces: MyWorkspace[]; nextCursor: string | null }> {
      const { userId, workspaceId } = actor;
      const scope = { workspaceId, userId, route: "GET /api/workspaces", args: {} };
      const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
      const memberships = await store.users.membershipsOf(userId);
      const rest = memberships.filter((one) => after === undefined || isAfter(one, after));
      const { page, nextCursor } = cutPage(
        rest.slice(0, limit + 1),
        limit,
        (row) => ({ flags: 0, value: row.joinedAt, id: row.workspaceId.slice(4) }),
        (position) => cursors.encode(scope, position),
      );
      const workspaces: MyWorkspace[] = [];
      for (const one of page) {
        const record = await store.workspaces.find(one.workspaceId);
        if (!record) continue;
        const { name } = record;
        const current = one.workspaceId === workspaceId;
        workspaces.push({ id: one.workspaceId, name, role: one.role, joinedAt: isoOf(one.joinedAt), current });
      }
      return { workspaces, nextCursor };
    },

    /** Creates a workspace that the actor owns. @throws ApiError `forbidden`, `workspace_limit_reached` */
    async create(actor: Actor, { name, timeZone }: CreateWorkspaceBody): Promise<{ workspace: Workspace }> {
      return store.transaction(async (tx) => {
        await requireMayCreate(tx, actor);
        const made = { ownerId: actor.userId, name, timeZone: timeZone ?? actor.timeZone, origin: actor.origin };
        const record = await tx.workspaces.find(await addWorkspace(tx, made));
        if (!record) throw noSuchThing();
        return { workspace: toWorkspace(record) };
      });
    },
  };
}

/** Memberships are ordered by (joinedAt, workspaceId). */
function isAfter(one: { joinedAt: number; workspaceId: string }, after: { value: number; id: string }): boolean {
  const at = one.joinedAt;
  return at > after.value || (at === after.value && one.workspaceId > `wsp_${after.id}`);
}
