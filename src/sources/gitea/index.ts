import { defined } from "#core/defined.ts";
import type { Batching } from "#sources/session.ts";
import type { SyncContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";
import { browseRepositories } from "#sources/forge/browse.ts";
import { countAdded } from "#sources/forge/count-added.ts";
import { makeForgeFiles } from "#sources/forge/files.ts";
import { factsOf } from "#sources/forge/map.ts";
import { tellPeople } from "#sources/forge/people.ts";
import { isItemInScope } from "#sources/forge/scope.ts";
import { forgeSessions } from "#sources/forge/sync.ts";
import type { GitPlaces } from "#sources/git-repository/environment.ts";
import { verifyHook } from "#sources/forge/webhook.ts";
import { checkGitea } from "./check.ts";
import { baseOf, GiteaConfig, GiteaCredentials } from "./config.ts";
import { makeGiteaForge } from "./forge.ts";
import { makeGiteaPeople } from "./people.ts";

const HOOK = {
  signature: ["x-forgejo-signature", "x-gitea-signature"],
  event: ["x-forgejo-event", "x-gitea-event"],
} as const;

/** Gitea and Forgejo: issues, pull requests, their comments and files, for their readers there. */
export function makeGiteaSource(options: GitPlaces & { checkpoints?: Partial<Batching> }): Source<GiteaConfig> {
  const { checkpoints } = options;
  const files = makeForgeFiles(options, "gitea");
  return {
    spec: {
      providerId: "gitea",
      name: "Gitea",
      kinds: ["task", "message", "file"],
      auth: [{ type: "account" }, { type: "credentials", scheme: "bearer", token: "token" }],
      credentials: GiteaCredentials,
      config: GiteaConfig,
      // 2: a cursor belongs to one run.
      stateVersion: 2,
      acl: "container",
      // Items always name the groups of their repository: only the members of these groups change.
      freshness: "feed",
      hasPeople: true,
      readsGit: true,
      // A self-hosted server, which also has to serve people.
      limits: { perMinute: 1_800, burst: 200 },
    },
    check: (ctx) => checkGitea(ctx, files),
    sessions: {
      ...forgeSessions((ctx: SyncContext<GiteaConfig>) => ({
        forge: makeGiteaForge(ctx),
        files,
        facts: factsOf(ctx, { providerId: "gitea", pullPath: "pulls" }),
      })),
      ...defined({ batching: checkpoints }),
    },
    syncIdentities: (ctx, run) => tellPeople(ctx, run, makeGiteaPeople(ctx)),
    async browse(ctx, at) {
      const { repositories } = await makeGiteaForge(ctx).list();
      return browseRepositories(repositories, at);
    },
    countAdded: (ctx, change) => countAdded(makeGiteaForge(ctx), change),
    webhook: { verify: (secret, request) => verifyHook(secret, request, HOOK) },
    fetchContent: (ctx, item) => files.read(ctx, item),
    childRules: makeChildRules,
    forget: (connectorId) => files.forget(connectorId),
    inScope: isItemInScope,
    originOf: (config) => new URL(baseOf(config)).origin,
    baseUrlOf: baseOf,
  };
}
