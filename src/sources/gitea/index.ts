import type { Source } from "#sources/contract.ts";
import { browseRepositories } from "#sources/forge/browse.ts";
import { factsOf } from "#sources/forge/map.ts";
import { tellPeople } from "#sources/forge/people.ts";
import { isItemInScope } from "#sources/forge/scope.ts";
import { type ForgeCursor, syncForge } from "#sources/forge/sync.ts";
import { checkGitea } from "./check.ts";
import { baseOf, GiteaConfig, GiteaCredentials } from "./config.ts";
import { makeGiteaForge } from "./forge.ts";
import { makeGiteaPeople } from "./people.ts";

/** Gitea and Forgejo: issues, pull requests and what is said about them, for those who may read them there. */
export function makeGiteaSource({ batch }: { batch?: number } = {}): Source<GiteaConfig, ForgeCursor> {
  return {
    spec: {
      providerId: "gitea",
      name: "Gitea",
      kinds: ["task", "message"],
      auth: [{ type: "account" }, { type: "credentials", scheme: "bearer", token: "token" }],
      credentials: GiteaCredentials,
      config: GiteaConfig,
      acl: "container",
      // Items name groups of their repository for ever: who may read is told of these groups, and of nothing else.
      freshness: "feed",
      hasPeople: true,
      // A server of one's own, that has to serve people too.
      limits: { perMinute: 1_800, burst: 200 },
    },
    check: checkGitea,
    sync: (ctx, run) =>
      syncForge(ctx, run, {
        forge: makeGiteaForge(ctx),
        facts: factsOf(ctx, { providerId: "gitea", pullPath: "pulls" }),
        ...(batch !== undefined && { batch }),
      }),
    syncIdentities: (ctx, run) => tellPeople(ctx, run, makeGiteaPeople(ctx)),
    async browse(ctx, at) {
      const { repositories } = await makeGiteaForge(ctx).list();
      return browseRepositories(repositories, at);
    },
    inScope: isItemInScope,
    originOf: (config) => new URL(baseOf(config)).origin,
    baseUrlOf: baseOf,
  };
}
