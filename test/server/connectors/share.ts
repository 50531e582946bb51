import { z } from "zod";
import { makePushSource } from "#sources/push/index.ts";
import { namedReaders, readersGroup, readersKey, reportReaders } from "#sources/file-scope/readers.ts";
import type { SourceContext, SyncContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";
import { scripted } from "../../scripted.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer, TEST_PASSWORD, type TestUser } from "../../helpers.ts";
import { fakeExtractor, item } from "../sync/harness.ts";

/** A file of a share, and the tokens that may read it; without any everybody may. */
export interface ShareFile {
  path: string;
  tokens?: readonly string[];
}

/** What there is, by root, and what happens when it is asked. */
export interface ShareWorld {
  roots: Record<string, ShareFile[]>;
  /** Whose each token is, as the check tells. */
  accounts?: Record<string, string>;
  /** Fails the check. */
  problem?: string;
  /** Called in each check, and before each line of a run. */
  onCheck?: () => Promise<void>;
  between?: () => Promise<void>;
}

const ORIGIN = "https://share.test";

/** Who reads it, as the text of each file says: the same version for every reader, at every place. */
export function textOf(root: string, path: string, token: string | undefined): string {
  return `${root} ${path} by ${token ?? "nobody"}`;
}

/**
 * Three kinds of source over the same world: `share`, whose config names its readers; `plain`, which its access alone says
 * who reads; `mirror`, which says of each item that everybody may.
 */
export function shareSources(world: ShareWorld): Source[] {
  const plain = sourceOf(
    world,
    "plain",
    z.strictObject({ root: z.string(), depth: z.number().optional() }),
    "workspace",
  );
  const config = z.strictObject({ root: z.string(), depth: z.number().optional(), readers: readersKey("files") });
  const share = sourceOf(world, "share", config, readersGroup);
  const mirror = sourceOf(world, "mirror", z.strictObject({ root: z.string() }), "everyone");
  const readers = { namedGroup: namedReaders, syncIdentities: (ctx) => reportReaders(ctx) } satisfies Partial<
    Source<z.infer<typeof config>>
  >;
  // Sources of configs of their own stand among the others as every source does.
  return [
    plain,
    { ...share, ...readers, spec: { ...share.spec, namedIn: ["readers"] } } as unknown as Source,
    { ...mirror, spec: { ...mirror.spec, acl: "per_item" } },
    makePushSource() as Source,
  ];
}

function sourceOf(
  world: ShareWorld,
  providerId: string,
  config: z.ZodType<{ root: string }>,
  reader: "workspace" | "everyone" | ((connectorId: string) => string),
): Source {
  const tokenOf = async ({ git }: SourceContext<unknown>) => (await git?.credentialsFor(ORIGIN))?.["token"];
  const access = (id: string) => ({
    known: true as const,
    all: [[typeof reader === "string" ? reader : reader(id)]],
  });
  async function* sync(ctx: SyncContext<{ root: string }>, { scope }: SyncRequest): AsyncGenerator<SyncEvent> {
    const token = await tokenOf(ctx);
    const { root } = ctx.config;
    for (const { path, tokens } of world.roots[root] ?? []) {
      await world.between?.();
      const isOpen = tokens === undefined || (token !== undefined && tokens.includes(token));
      if (!isOpen || !isInScope(scope, path)) continue;
      if ((await ctx.stored.version(path)) === "1") yield { t: "seen", externalIds: [path] };
      else {
        const file = { version: "1", access: access(ctx.connector.id) };
        yield { t: "upsert", item: item(path, textOf(root, path, token), file) };
      }
    }
    yield { t: "end", listing: "complete", permissions: "current" };
  }
  const source: Source<{ root: string }> = {
    spec: {
      providerId,
      name: "Share",
      kinds: ["file"],
      auth: [
        { type: "none" },
        { type: "credentials", scheme: "git" },
        { type: "credentials", scheme: "basic", username: "user", password: "token" },
      ],
      config,
      credentials: z.strictObject({ token: z.string().min(1), user: z.string().exactOptional() }),
      acl: "connector",
    },
    async check(ctx) {
      await world.onCheck?.();
      if (world.problem === undefined) {
        const accountId = world.accounts?.[(await tokenOf(ctx)) ?? ""];
        return { ok: true, ...(accountId !== undefined && { accountId }) };
      }
      return { ok: false, problem: { code: "not_found", message: world.problem } };
    },
    sessions: scripted(sync),
    browse: async () => ({ nodes: [], nextCursor: null }),
    inScope: (scope, { externalId }) => isInScope(scope, externalId),
    originOf: () => ORIGIN,
    placeOf: ({ root }) => root,
  };
  return source as unknown as Source;
}

export function isInScope(
  { include, exclude }: { include: readonly string[]; exclude: readonly string[] },
  path: string,
) {
  const isNamed = (entries: readonly string[]) => entries.some((entry) => path.startsWith(entry));
  return (include.length === 0 || isNamed(include)) && !isNamed(exclude);
}

/** A workspace with people of every role, and connectors on the sources of `shareSources`. */
export async function makeShareServer(world: ShareWorld = { roots: { "/a": [{ path: "pub1" }, { path: "sub1" }] } }) {
  const sources = shareSources(world);
  const registry = {
    find: async (id: string) => sources.find((source) => source.spec.providerId === id),
    list: async () => sources,
  };
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, { sources: registry, extractor: fakeExtractor }),
  );
  const top = await kb.addOwner();
  const { workspaceId } = top;
  const admin = await kb.addMember(workspaceId, "admin");
  const owner = await kb.addMember(workspaceId, "member");
  const member = await kb.addMember(workspaceId, "member");
  const outsider = await kb.addMember(workspaceId, "member");
  const work = () => kb.deps.worker.runUntilIdle();

  const setRole = (user: TestUser, role: string) => kb.as(top).patch(`/api/workspace/members/${user.userId}`, { role });

  async function connect(user: TestUser, body: Record<string, unknown> = {}): Promise<string> {
    const { status, text, json } = await kb.as(user).post("/api/connectors", {
      providerId: "share",
      name: "Docs",
      config: { root: "/a" },
      access: { visibility: "members", memberIds: [member.userId] },
      ...body,
    });
    if (status !== 201) throw new Error(text);
    return json.connector.id;
  }

  return {
    ...kb,
    world,
    top,
    admin,
    owner,
    /** Reads what `connect` shares. */
    member,
    /** Reads nothing. */
    outsider,
    work,
    setRole,
    connect,
    patch: (user: TestUser, id: string, body: unknown) => kb.as(user).patch(`/api/connectors/${id}`, body),
    scope: (user: TestUser, id: string, body: unknown) => kb.as(user).patch(`/api/connectors/${id}/scope`, body),
    recordOf: (id: string) => kb.store.in(workspaceId).connectors.find(id),
    leave: (user: TestUser) => kb.as(top).delete(`/api/workspace/members/${user.userId}`),
    /** Somebody who left is invited again and signs in. */
    async comeBack(user: TestUser, role: string): Promise<TestUser> {
      const { email } = user;
      const { url } = (await kb.as(top).post("/api/workspace/invitations", { email, role })).json;
      const token = String(url).split("#token=")[1];
      await kb.anyone().post("/api/invitations/accept", { token, name: email, email, password: TEST_PASSWORD });
      return kb.signIn(user);
    },
    /** The texts of everything of these connectors that somebody may read now, sorted. */
    async texts(user: TestUser, ...ids: string[]): Promise<string[]> {
      const { files } = (await kb.as(user).get("/api/connectors/all-files?limit=100")).json;
      const found: string[] = [];
      for (const { kbId, connectorId } of files) {
        if (ids.length > 0 && !ids.includes(connectorId)) continue;
        const { text } = await kb.as(user).get(`/api/connectors/files/${kbId}/content`);
        found.push(text);
      }
      return found.toSorted();
    },
  };
}

export type ShareServer = Awaited<ReturnType<typeof makeShareServer>>;
