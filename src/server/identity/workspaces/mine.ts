import { readPage, inMemory } from "#server/http/pages.ts";
import type { MemberHandlers } from "#server/http/mount.ts";
import { ApiError, existing, forbidden } from "#api/errors.ts";
import type { MyWorkspace, Session, myWorkspaceRoutes } from "#api/session.ts";
import { isoOf } from "#core/instant.ts";
import type { CursorCodec } from "#server/http/cursor.ts";
import type { Actor, RequestOrigin } from "#storage/access/actor.ts";
import type { Store } from "#storage/records/store.ts";
import { toWorkspace } from "./service.ts";

/** Maximum number of workspaces that a person may own on a managed server. */
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
}): MemberHandlers<typeof myWorkspaceRoutes> {
  const { store, mode, signup, addWorkspace } = options;

  async function requireMayCreate(tx: Store, actor: Actor): Promise<void> {
    const memberships = await tx.users.membershipsOf(actor.userId);
    const isForAll = mode === "managed" || signup === "open";
    if (!isForAll && !memberships.some(({ role }) => role !== "member")) {
      throw forbidden("Only owners and admins of a workspace can create workspaces.");
    }
    if (mode === "managed" && memberships.filter(({ role }) => role === "owner").length >= MAX_OWNED) {
      throw new ApiError("workspace_limit_reached", { message: `You can own at most ${MAX_OWNED} workspaces.` });
    }
  }

  return {
    /** Lists the person's workspaces, in the order in which they joined them. */
    async list({ actor, query }) {
      const memberships = await store.users.membershipsOf(actor.userId);
      const mine = inMemory(memberships, ({ joinedAt, workspaceId }) => ({ value: joinedAt, id: workspaceId }));
      const list = { route: "GET /api/workspaces", kind: "workspace", ...mine } as const;
      const { page, nextCursor } = await readPage(options, actor, list, query);
      const workspaces: MyWorkspace[] = [];
      for (const one of page) {
        const record = await store.workspaces.find(one.workspaceId);
        if (!record) continue;
        const { name } = record;
        const current = one.workspaceId === actor.workspaceId;
        workspaces.push({ id: one.workspaceId, name, role: one.role, joinedAt: isoOf(one.joinedAt), current });
      }
      return { workspaces, nextCursor };
    },

    /** Creates a workspace that the actor owns. @throws ApiError `forbidden`, `workspace_limit_reached` */
    async create({ actor, body: { name, timeZone } }) {
      return store.transaction(async (tx) => {
        await requireMayCreate(tx, actor);
        const made = { ownerId: actor.userId, name, timeZone: timeZone ?? actor.timeZone, origin: actor.origin };
        return { workspace: toWorkspace(existing(await tx.workspaces.find(await addWorkspace(tx, made)))) };
      });
    },
  };
}

/** Memberships are ordered by (joinedAt, workspaceId). */
