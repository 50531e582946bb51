import { defined } from "#core/defined.ts";
import type { Batching } from "#sources/session.ts";
import type { SyncContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { LimitSpec } from "#sources/http-contract.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";
import { browseRepositories } from "#sources/forge/browse.ts";
import { countAdded } from "#sources/forge/count-added.ts";
import { makeForgeFiles } from "#sources/forge/files.ts";
import { factsOf } from "#sources/forge/map.ts";
import { tellPeople } from "#sources/forge/people.ts";
import { isItemInScope } from "#sources/forge/scope.ts";
import { forgeSessions } from "#sources/forge/sync.ts";
import { verifyHook } from "#sources/forge/webhook.ts";
import type { GitPlaces } from "#sources/git-repository/environment.ts";
import { checkGithub } from "./check.ts";
import { GITHUB_API, GithubConfig, GithubCredentials, webUrlOf } from "./config.ts";
import { makeGithubForge } from "./forge.ts";
import { makeGithubPeople } from "./people.ts";

const HOOK = { signature: ["x-hub-signature-256"], prefix: "sha256=", event: ["x-github-event"] } as const;

/** Source: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api */
export const LIMITS: LimitSpec = {
  perMinute: 720,
  burst: 200,
  windows: [{ remaining: "x-ratelimit-remaining", reset: "x-ratelimit-reset", unit: "epoch_seconds" }],
  forbidden: [
    { header: "x-ratelimit-remaining", value: "0" },
    { header: "retry-after" },
    { phrase: "secondary rate limit" },
    { phrase: "abuse detection" },
    { phrase: "API rate limit exceeded" },
  ],
  leastWaitMs: 60_000,
};

/** GitHub: issues, pull requests, their comments and files, for their readers there. */
export function makeGithubSource(
  options: GitPlaces & { checkpoints?: Partial<Batching>; limits?: LimitSpec },
): Source<GithubConfig> {
  const { checkpoints, limits = LIMITS } = options;
  const files = makeForgeFiles(options, "github");
  return {
    spec: {
      providerId: "github",
      name: "GitHub",
      kinds: ["task", "message", "file"],
      auth: [
        { type: "account" },
        { type: "credentials", scheme: "bearer", token: "token" },
        {
          type: "credentials",
          scheme: "installation",
          appId: "appId",
          privateKey: "privateKey",
          installation: "installation",
          tokenUrl: "{+apiUrl}/app/installations/{installation}/access_tokens",
        },
      ],
      // A missing one is absent, never undefined.
      credentials: GithubCredentials as unknown as NonNullable<Source["spec"]["credentials"]>,
      config: GithubConfig,
      instances: [GITHUB_API],
      links: {
        hosts: [/(?:^|\.)github\.com$/],
        tails: [{ pattern: /^(\/[^/]+\/[^/]+\/pull\/\d+)\/(?:files|commits|checks)(?:\/.*)?$/, kept: "$1" }],
      },
      // 2: a cursor belongs to one run.
      stateVersion: 2,
      acl: "container",
      // Items always name the groups of their repository: only the members of these groups change.
      freshness: "feed",
      hasPeople: true,
      readsGit: true,
      limits,
    },
    check: (ctx) => checkGithub(ctx, files),
    sessions: {
      ...forgeSessions((ctx: SyncContext<GithubConfig>) => ({
        forge: makeGithubForge(ctx),
        files,
        facts: factsOf(ctx, { providerId: "github", pullPath: "pull" }),
      })),
      ...defined({ batching: checkpoints }),
    },
    syncIdentities: (ctx, run) => tellPeople(ctx, run, makeGithubPeople(ctx)),
    async browse(ctx, at) {
      const { repositories } = await makeGithubForge(ctx).list();
      return browseRepositories(repositories, at);
    },
    countAdded: (ctx, change) => countAdded(makeGithubForge(ctx), change),
    webhook: { verify: (secret, request) => verifyHook(secret, request, HOOK) },
    fetchContent: (ctx, item) => files.read(ctx, item),
    childRules: makeChildRules,
    forget: (connectorId) => files.forget(connectorId),
    inScope: isItemInScope,
    originOf: ({ apiUrl }) => new URL(apiUrl).origin,
    gitOriginOf: (config) => new URL(webUrlOf(config)).origin,
    baseUrlOf: ({ apiUrl }) => apiUrl,
  };
}
