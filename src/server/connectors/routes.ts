import { accepts } from "hono/accepts";
import { connectorRoutes } from "#api/connectors.ts";
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

/** Mounts `/api/connectors`, except pushing, files and search. */
export function mountConnectors(
  at: Mount,
  { connectorDeps: deps, isReady }: { connectorDeps: PeopleDeps; isReady(): boolean },
): void {
  const streamProgress = makeProgressStream(deps, isReady);
  at.membersWith(deps, connectorRoutes, {
    list: listConnectors,
    create: createConnector,
    mine: listOwnConnectors,
    sources: listSources,
    progress(_deps, { actor, reauthenticate, c }) {
      if (accepts(c, { header: "Accept", supports: [JSON_TYPE, EVENTS], default: JSON_TYPE }) === JSON_TYPE) {
        return listProgress(deps, actor);
      }
      const viewer = { actor, reauthenticate, signal: c.req.raw.signal };
      return streamProgress(viewer, (today) => listProgress(deps, today));
    },
    browse: browseSource,
    get: getConnector,
    update: updateConnector,
    remove: removeConnector,
    changeScope,
    browseOwn: browseConnector,
    requestSync,
    listSyncs,
    getSync,
    cancelSync,
    pause: (_deps, { actor, params }) => pauseOrResume(deps, actor, params.id, "pause"),
    resume: (_deps, { actor, params }) => pauseOrResume(deps, actor, params.id, "resume"),
    listRemovals,
    listRemoved,
    restoreFile: restoreItem,
    approveRemovals: async (_deps, { actor, params, body }) => ({
      removed: await decideRemovals(deps, actor, params.id, "approved", body?.kbIds),
    }),
    rejectRemovals: async (_deps, { actor, params, body }) => ({
      kept: await decideRemovals(deps, actor, params.id, "rejected", body?.kbIds),
    }),
    rotateKey,
    webhook: showWebhook,
    rotateWebhook,
  });
  at.membersWith(deps, peopleRoutes, { list: listPeople, link: linkPeople });
}

const JSON_TYPE = "application/json";
const EVENTS = "text/event-stream";
