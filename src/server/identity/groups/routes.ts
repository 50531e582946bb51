import { groupRoutes } from "#api/workspace.ts";
import type { Mount } from "#server/http/mount.ts";
import type { GroupService } from "./service.ts";

/** `/api/groups`. */
export function mountGroups(at: Mount, { groups }: { groups: GroupService }): void {
  at.member(groupRoutes.list, ({ actor, query }) => groups.list(actor, query));
  at.member(groupRoutes.get, ({ actor, params }) => groups.get(actor, params.id));
  at.member(groupRoutes.create, ({ actor, body }) => groups.create(actor, body));
  at.member(groupRoutes.update, ({ actor, params, body }) => groups.update(actor, params.id, body));
  at.member(groupRoutes.remove, ({ actor, params }) => groups.remove(actor, params.id));
}
