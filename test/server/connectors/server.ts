import { z } from "zod";
import type { Extractor } from "#extract/extractor.ts";
import type { Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { makePushSource } from "#sources/push/index.ts";
import { scripted } from "../../scripted.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer, type TestServerOptions } from "../../helpers.ts";
import { fakeExtractor, item, listing } from "../sync/harness.ts";

/** What the source `folder` holds and says. */
export interface FolderWorld {
  items: SourceItem[];
  /** What each run says that it left out. */
  skips?: Extract<SyncEvent, { t: "skip" }>[];
  /** Where its permissions are; the connector's alone unless told. */
  acl?: Source["spec"]["acl"];
  problem?: string;
  hint?: string;
  /** Called before each line of a run. */
  between?: () => Promise<void>;
}

export const FOLDER = { providerId: "folder", name: "Docs", config: { root: "/srv/docs" } };

/** The app with connectors on two sources: `folder`, whose items are `world.items`, and `push`. */
export async function makeConnectorServer(
  extractor: Pick<Extractor, "extract"> = fakeExtractor,
  options: TestServerOptions = {},
) {
  const world: FolderWorld = { items: [item("a.md", "alpha"), item("b/c.md", "beta")] };
  const sources: Source[] = [folderSource(world), makePushSource() as Source];
  const registry = {
    find: async (id: string) => sources.find((s) => s.spec.providerId === id),
    list: async () => sources,
  };
  const kb = await makeServer(options, (core, database) =>
    composeFeatures(core, database, { sources: registry, extractor }),
  );
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

export function folderSource(world: FolderWorld): Source {
  return {
    spec: {
      providerId: "folder",
      name: "Folder",
      kinds: ["file"],
      auth: [{ type: "none" }],
      config: z.strictObject({ root: z.string().min(1), depth: z.number().int().default(9) }),
      get acl() {
        return world.acl ?? "connector";
      },
    },
    check: async () =>
      world.problem === undefined
        ? { ok: true }
        : {
            ok: false,
            problem: {
              code: "not_found",
              message: world.problem,
              field: "root",
              ...(world.hint && { hint: world.hint }),
            },
          },
    sessions: scripted(async function* (ctx, run) {
      const inScope = world.items.filter(({ externalId }) => !run.scope.exclude.some((p) => externalId.startsWith(p)));
      yield* world.skips ?? [];
      for await (const line of listing(() => inScope)(ctx)) {
        await world.between?.();
        yield line;
      }
    }),
    inScope: (scope, { externalId }) => !scope.exclude.some((prefix) => externalId.startsWith(prefix)),
    browse: async (_ctx, { parent }) => ({
      nodes: [{ id: `${parent ?? ""}b`, parent, title: "b", kind: "folder", selectable: true, expandable: true }],
      nextCursor: null,
    }),
  };
}
