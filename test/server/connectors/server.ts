import { z } from "zod";
import { makePolicy, type Policy } from "#server/access/policy.ts";
import { judgeAccess } from "#server/access/principals.ts";
import { analyzeDocument } from "#server/analysis/analyzer.ts";
import { makeConnectorService, type ConnectorService } from "#server/connectors/service.ts";
import type { Source, SourceItem } from "#server/ports/source.ts";
import { parsePushLines } from "#server/sources/push/lines.ts";
import { makePushSource } from "#server/sources/push/index.ts";
import { makeItemPreparer, makeSyncControl } from "#server/sync/control.ts";
import { makeSyncWorker, type SyncWorker } from "#server/sync/worker.ts";
import { makeServer } from "../../helpers.ts";
import { fakeExtractor, item, listing, untilAborted } from "../sync/harness.ts";

export const FOLDER = { providerId: "folder", name: "Docs", config: { root: "/srv/docs" } };

/** The app with connectors on two sources: `folder`, whose items are `world.items`, and `push`. */
export async function makeConnectorServer() {
  const world: { items: SourceItem[]; problem?: string } = { items: [item("a.md", "alpha"), item("b/c.md", "beta")] };
  const sources: Source[] = [folderSource(world), makePushSource() as Source];
  const kb = await makeServer<{ connectors: ConnectorService; worker: SyncWorker; policy: Policy }>({}, (house) => {
    const { store, clock, log, randomBytes, cursors, audit } = house;
    const now = () => clock.now();
    const policy = makePolicy({ store, clock, aclOf: (id) => sources.find((s) => s.spec.providerId === id)?.spec.acl });
    const registry = { find: (id: string) => sources.find((s) => s.spec.providerId === id), list: () => sources };
    const common = { analyze: analyzeDocument, extractor: fakeExtractor, now, randomBytes };
    const worker = makeSyncWorker({
      ...common,
      store,
      findSource: registry.find,
      judge: (access, { connectorId }) => judgeAccess(access, { connectorId }).access,
      sleep: untilAborted,
      log,
    });
    const connectors = makeConnectorService({
      store,
      sources: registry,
      syncs: makeSyncControl({ now, randomBytes, worker }),
      policy,
      audit,
      cursors,
      clock,
      randomBytes,
      log,
      readLines: parsePushLines,
      prepareItem: makeItemPreparer(common),
    });
    return { connectors, worker, policy };
  });
  const owner = await kb.addOwner();
  const admin = await kb.addMember(owner.workspaceId, "admin");
  const member = await kb.addMember(owner.workspaceId, "member");
  const stranger = await kb.addOwner("Other");
  return { ...kb, world, owner, admin, member, stranger, worker: kb.deps.worker };
}

export const pushed = (externalId: string, more: Record<string, unknown> = {}) => ({
  t: "upsert",
  item: {
    externalId,
    kind: "task",
    title: `Task ${externalId}`,
    text: `text of ${externalId}`,
    version: "1",
    access: { known: true, all: [["workspace"]] },
    ...more,
  },
});

function folderSource(world: { items: SourceItem[]; problem?: string }): Source {
  return {
    spec: {
      providerId: "folder",
      name: "Folder",
      kinds: ["file"],
      auth: "none",
      config: z.strictObject({ root: z.string().min(1), depth: z.number().int().default(9) }),
      acl: "connector",
    },
    check: async () =>
      world.problem === undefined
        ? { ok: true }
        : { ok: false, problem: { code: "not_found", message: world.problem, field: "root" } },
    async *sync(_ctx, run) {
      const inScope = world.items.filter(({ externalId }) => !run.scope.exclude.some((p) => externalId.startsWith(p)));
      yield* listing(() => inScope)(run, AbortSignal.timeout(10_000));
    },
    inScope: (scope, { externalId }) => !scope.exclude.some((prefix) => externalId.startsWith(prefix)),
    browse: async (_ctx, { parent }) => ({
      nodes: [{ id: `${parent ?? ""}b`, parent, title: "b", kind: "folder", selectable: true, expandable: true }],
      nextCursor: null,
    }),
  };
}
