import { accepts } from "hono/accepts";
import { connectorRoutes as routes } from "#api/connectors.ts";
import { peopleRoutes } from "#api/people.ts";
import type { Mount } from "#server/http/mount.ts";
import { browseConnector, browseSource } from "./browse.ts";
import { pauseOrResume, removeConnector } from "./change.ts";
import { createConnector } from "./create.ts";
import { rotateKey } from "./keys.ts";
import { getConnector, listConnectors, listOwnConnectors } from "./list.ts";
import { linkPeople, listPeople, type PeopleDeps } from "./people.ts";
import { makeProgressStream } from "./progress-stream.ts";
import { listRemoved, restoreItem } from "./removed.ts";
import { cancelSync, decideRemovals, getSync, listProgress, listRemovals, listSyncs, requestSync } from "./runs.ts";
import { changeScope } from "./scope.ts";
import { listSources } from "./sources.ts";
import { updateConnector } from "./update.ts";
import { rotateWebhook, showWebhook } from "./webhooks.ts";

/** `/api/connectors` without pushing, files and search. */
export function mountConnectors(
  at: Mount,
  { connectorDeps: deps, isReady }: { connectorDeps: PeopleDeps; isReady(): boolean },
): void {
  const streamProgress = makeProgressStream(deps, isReady);
  at.member(routes.list, ({ actor, query }) => listConnectors(deps, actor, query));
  at.member(routes.create, ({ actor, body }) => createConnector(deps, actor, body));
  at.member(routes.mine, ({ actor, query }) => listOwnConnectors(deps, actor, query));
  at.member(routes.sources, () => listSources(deps));
  at.member(routes.progress, ({ actor, reauthenticate, c }) => {
    if (accepts(c, { header: "Accept", supports: [JSON_TYPE, EVENTS], default: JSON_TYPE }) === JSON_TYPE) {
      return listProgress(deps, actor);
    }
    return streamProgress({ actor, reauthenticate, signal: c.req.raw.signal }, (viewer) => listProgress(deps, viewer));
  });
  at.member(routes.browse, ({ actor, body }) => browseSource(deps, actor, body));
  at.member(routes.get, ({ actor, params }) => getConnector(deps, actor, params.id));
  at.member(routes.update, ({ actor, params, body }) => updateConnector(deps, actor, params.id, body));
  at.member(routes.remove, ({ actor, params }) => removeConnector(deps, actor, params.id));
  at.member(routes.changeScope, ({ actor, params, query, body }) =>
    changeScope(deps, actor, params.id, body, query.dryRun === "true"),
  );
  at.member(routes.browseOwn, ({ actor, params, body }) => browseConnector(deps, actor, params.id, body));
  at.member(routes.requestSync, ({ actor, params, body }) => requestSync(deps, actor, params.id, body));
  at.member(routes.listSyncs, ({ actor, params, query }) => listSyncs(deps, actor, params.id, query));
  at.member(routes.getSync, ({ actor, params }) => getSync(deps, actor, params.id, params.syncId));
  at.member(routes.cancelSync, ({ actor, params }) => cancelSync(deps, actor, params.id, params.syncId));
  at.member(routes.pause, ({ actor, params }) => pauseOrResume(deps, actor, params.id, "pause"));
  at.member(routes.resume, ({ actor, params }) => pauseOrResume(deps, actor, params.id, "resume"));
  at.member(routes.listRemovals, ({ actor, params, query }) => listRemovals(deps, actor, params.id, query));
  at.member(routes.listRemoved, ({ actor, params, query }) => listRemoved(deps, actor, params.id, query));
  at.member(routes.restoreFile, ({ actor, params }) => restoreItem(deps, actor, params.fileId));
  at.member(routes.approveRemovals, async ({ actor, params, body }) => ({
    removed: await decideRemovals(deps, actor, params.id, "approved", body?.kbIds),
  }));
  at.member(routes.rejectRemovals, async ({ actor, params, body }) => ({
    kept: await decideRemovals(deps, actor, params.id, "rejected", body?.kbIds),
  }));
  at.member(peopleRoutes.list, ({ actor, params, query }) => listPeople(deps, actor, params.id, query));
  at.member(peopleRoutes.link, ({ actor, params, body }) => linkPeople(deps, actor, params.id, body));
  at.member(routes.rotateKey, ({ actor, params, body }) =>
    rotateKey(deps, actor, params.id, body?.overlapSeconds ?? DEFAULT_OVERLAP_SECONDS),
  );
  at.member(routes.webhook, ({ actor, params }) => showWebhook(deps, actor, params.id));
  at.member(routes.rotateWebhook, ({ actor, params }) => rotateWebhook(deps, actor, params.id));
}

const JSON_TYPE = "application/json";
const EVENTS = "text/event-stream";
const DEFAULT_OVERLAP_SECONDS = 600;
