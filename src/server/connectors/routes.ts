import { connectorRoutes as routes } from "#api/connectors.ts";
import type { Mount } from "#server/http/mount.ts";
import type { ConnectorService } from "./service.ts";

/** `/api/connectors` without pushing, files and search. */
export function mountConnectors(at: Mount, { connectors }: { connectors: ConnectorService }): void {
  at.member(routes.list, ({ actor, query }) => connectors.list(actor, query));
  at.member(routes.create, ({ actor, body }) => connectors.create(actor, body));
  at.member(routes.mine, ({ actor, query }) => connectors.listMine(actor, query));
  at.member(routes.sources, () => connectors.listSources());
  at.member(routes.progress, ({ actor }) => connectors.listProgress(actor));
  at.member(routes.browse, ({ actor, body }) => connectors.browse(actor, body));
  at.member(routes.get, ({ actor, params }) => connectors.get(actor, params.id));
  at.member(routes.update, ({ actor, params, body }) => connectors.update(actor, params.id, body));
  at.member(routes.remove, ({ actor, params }) => connectors.remove(actor, params.id));
  at.member(routes.changeScope, ({ actor, params, query, body }) =>
    connectors.changeScope(actor, params.id, body, query.dryRun === "true"),
  );
  at.member(routes.requestSync, ({ actor, params, body }) => connectors.requestSync(actor, params.id, body));
  at.member(routes.listSyncs, ({ actor, params, query }) => connectors.listSyncs(actor, params.id, query));
  at.member(routes.getSync, ({ actor, params }) => connectors.getSync(actor, params.id, params.syncId));
  at.member(routes.cancelSync, ({ actor, params }) => connectors.cancelSync(actor, params.id, params.syncId));
  at.member(routes.pause, ({ actor, params }) => connectors.pause(actor, params.id));
  at.member(routes.resume, ({ actor, params }) => connectors.resume(actor, params.id));
  at.member(routes.listRemovals, ({ actor, params, query }) => connectors.listRemovals(actor, params.id, query));
  at.member(routes.approveRemovals, ({ actor, params, body }) =>
    connectors.approveRemovals(actor, params.id, body?.kbIds),
  );
  at.member(routes.rejectRemovals, ({ actor, params, body }) =>
    connectors.rejectRemovals(actor, params.id, body?.kbIds),
  );
  at.member(routes.rotateKey, ({ actor, params, body }) =>
    connectors.rotateKey(actor, params.id, body?.overlapSeconds ?? DEFAULT_OVERLAP_SECONDS),
  );
}

const DEFAULT_OVERLAP_SECONDS = 600;
