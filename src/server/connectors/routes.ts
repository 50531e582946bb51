import { connectorRoutes as routes } from "#api/connectors.ts";
import type { PushResult } from "#api/connectors.ts";
import type { Mount } from "#server/http/mount.ts";
import type { ConnectorService } from "./service.ts";

/** `/api/connectors` without files and search. */
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
  // Node's web streams are async iterables; the DOM type just does not say so.
  at.push(routes.push, async ({ connector, c }) =>
    streamLines(await connectors.push(connector, c.req.raw.body as unknown as AsyncIterable<Uint8Array> | null)),
  );
  at.push(routes.removeItem, ({ connector, params }) => connectors.removeItem(connector, params.externalId));
}

const DEFAULT_OVERLAP_SECONDS = 600;

/** Results as they come, one JSON a line; the reader's pace is the pace of the work. */
function streamLines(results: AsyncGenerator<PushResult, void>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await results.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
    },
    async cancel() {
      await results.return();
    },
  });
  return new Response(body, { headers: { "Content-Type": "application/x-ndjson" } });
}
