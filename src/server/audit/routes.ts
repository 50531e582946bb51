import { auditRoutes } from "#api/audit.ts";
import type { Deps } from "#server/deps.ts";
import type { Mount } from "#server/http/mount.ts";

/** `/api/audit`. */
export function mountAudit(at: Mount, { audit }: Pick<Deps, "audit">): void {
  at.member(auditRoutes.list, ({ actor, query }) => audit.list(actor, query));
}
