import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { Source } from "#sources/contract.ts";
import type { FileContent } from "#sources/item.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";
import type { SourceAccess } from "#core/principals.ts";
import { scripted } from "../../scripted.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { fakeExtractor, upsert } from "./harness.ts";

export const HOUR_MS = 3_600_000;
export const OPEN: SourceAccess = { known: true, all: [["workspace"]] };

/** Whose credentials its source says they are. */
type Account = { accountId?: string; scopes?: string[] } | undefined;

export type Script = (run: SyncRequest) => Iterable<SyncEvent>;

const notFound = (externalId: string): FileContent => {
  throw new ApiError("source_not_found", { message: `Nothing is at ${externalId}.` });
};

/** A server with one connector that mirrors the permissions of its source, which says what `world.script` says. */
export async function makeMirror(
  script: Script,
  readers: readonly string[] = ["workspace"],
  spec: Partial<Pick<Source["spec"], "acl" | "freshness" | "placement" | "hasLastingContent">> = {},
) {
  const world = {
    script,
    runs: [] as string[],
    fetch: notFound,
    origin: "https://one.test",
    account: undefined as Account,
  };
  const source: Source = {
    spec: {
      providerId: "mirror",
      name: "Mirror",
      kinds: ["file"],
      auth: [{ type: "none" }, { type: "credentials", scheme: "bearer", token: "token" }],
      credentials: z.strictObject({ token: z.string() }),
      config: z.strictObject({ readers: z.array(z.string()) }),
      acl: "container",
      namedIn: ["readers"],
      ...spec,
    },
    check: async () => ({ ok: true, ...world.account }),
    sessions: scripted(async function* (_ctx, run) {
      world.runs.push(run.mode);
      yield* world.script(run);
    }),
    originOf: () => world.origin,
    fetchContent: async (_ctx, { externalId }) => world.fetch(externalId),
  };
  const sources = { find: async (id: string) => (id === "mirror" ? source : undefined), list: async () => [source] };
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, { sources, extractor: fakeExtractor }),
  );
  const owner = await kb.addOwner();
  const body = { providerId: "mirror", name: "Wiki", config: { readers }, access: { visibility: "workspace" } };
  const { json } = await kb.as(owner).post("/api/connectors", body);
  const id: string = json.connector.id;
  const search = async (query: string) => kb.deps.search.search(await kb.actor(owner), { query, limit: 10 });
  return {
    world,
    kb,
    owner,
    connectorId: id,
    search,
    connector: async () => (await kb.as(owner).get(`/api/connectors/${id}`)).json.connector,
    work: () => kb.deps.worker.runUntilIdle(),
    async pass(ms: number) {
      kb.clock.advance(ms);
      await kb.deps.worker.runUntilIdle();
    },
    async sync() {
      // Runs are listed by the time of their request.
      kb.clock.advance(1);
      await kb.as(owner).post(`/api/connectors/${id}/syncs`, {});
      await kb.deps.worker.runUntilIdle();
    },
    lastSync: async () => (await kb.as(owner).get(`/api/connectors/${id}/syncs`)).json.syncs[0],
    async explain(externalId: string) {
      const rows = await kb.database.read.selectFrom("items").select(["kbId", "externalId"]).execute();
      const kbId = rows.find((row) => row.externalId === externalId)?.kbId ?? "";
      return (await kb.as(owner).get(`/api/connectors/files/${kbId}/access`)).json;
    },
    async readable() {
      const rows = await kb.database.read.selectFrom("items").select(["kbId", "externalId"]).execute();
      const open = await kb.deps.policy.mayRead(
        await kb.actor(owner),
        rows.map((row) => row.kbId),
      );
      return rows.flatMap((row) => (open.has(row.kbId) ? [row.externalId] : [])).sort();
    },
  };
}

export function* listed(...ids: string[]): Iterable<SyncEvent> {
  for (const id of ids) yield upsert(id, `text of ${id}`, { access: OPEN });
  yield { t: "end", listing: "complete", permissions: "current" };
}
