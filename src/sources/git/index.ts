import { makeInScope } from "#sources/file-scope/scope.ts";
import { rm } from "node:fs/promises";
import { defined } from "#core/defined.ts";
import { ApiError } from "#api/errors.ts";
import type { Scope } from "#core/scope.ts";
import type { Batching } from "#sources/session.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";
import { GitConfig, GitCredentials } from "#sources/git-repository/config.ts";
import { makeContents } from "#sources/git-repository/contents.ts";
import { type GitPlaces, makeEnvironment, whyUnavailable } from "#sources/git-repository/environment.ts";
import { toCheckProblem } from "#sources/git-repository/failures.ts";
import { COMMIT_PREFIX } from "#sources/git-repository/judge.ts";
import { askRemote, folderOf, requireRemote } from "#sources/git-repository/mirror.ts";
import { originOfRemote } from "#sources/git-repository/remote.ts";
import { gitSessions } from "#sources/git-repository/sync.ts";
import { browseRepository } from "./browse.ts";
import { countAdded } from "./count-added.ts";

export interface GitOptions extends GitPlaces {
  isOpenToStrangers: boolean;
  batching?: Partial<Batching>;
}

type Context = SourceContext<GitConfig>;

/**
 * Makes the source for git repositories: each file of one branch or tag is an item, with its last author. It uses a
 * bare mirror, and never executes anything of a repository. Source: S38.
 */
export function makeGitSource(options: GitOptions): Source<GitConfig> {
  const environment = makeEnvironment(options);
  const contents = makeContents(environment);
  const isNamed = makeInScope();
  const inScope = (scope: Scope, path: string) => path.startsWith(COMMIT_PREFIX) || isNamed(scope, path);
  const { batching } = options;
  const sessions = gitSessions(environment, batching?.upserts);
  const open: typeof sessions.open = async (ctx, run) => {
    refusePathOfTheServer(ctx, options);
    return sessions.open(ctx, run);
  };
  let browsed = 0;
  return {
    spec: {
      providerId: "git",
      name: "Git repository",
      kinds: ["file", "message"],
      auth: [{ type: "none" }, { type: "credentials", scheme: "git" }],
      config: GitConfig,
      // Every key is a string or absent, and JSON omits absent keys.
      credentials: GitCredentials as unknown as NonNullable<Source["spec"]["credentials"]>,
      acl: "connector",
    },
    async check(ctx) {
      try {
        refusePathOfTheServer(ctx, options);
        await environment.prepare();
        const ref = await askRemote(environment, ctx);
        return ref ? { ok: true } : { ok: true, warnings: ["The repository is empty."] };
      } catch (error) {
        return { ok: false, problem: toCheckProblem(error) };
      }
    },
    sessions: { ...sessions, ...defined({ batching }), open },
    async browse(ctx, at) {
      refusePathOfTheServer(ctx, options);
      await environment.prepare();
      return browseRepository(environment, ctx, at, `${process.pid}x${++browsed}`);
    },
    async countAdded(ctx, { from, to }) {
      refusePathOfTheServer(ctx, options);
      await environment.prepare();
      const isBefore = (path: string) => inScope(from, path);
      return countAdded(environment, ctx, { to, isBefore, name: `${process.pid}x${++browsed}` });
    },
    fetchContent: (ctx, item) => contents.read(ctx, item),
    inScope: (scope, { externalId }) => inScope(scope, externalId),
    childRules: makeChildRules,
    originOf: (config) => originOfRemote(requireRemote(config)),
    placeOf: ({ url, ref }) => JSON.stringify([url, ref ?? null]),
    isForAdmins: (config, { hasCredentials }) => requireRemote(config).type === "path" || !hasCredentials,
    async forget(connectorId) {
      contents.close(connectorId);
      await rm(folderOf(environment, connectorId), { recursive: true, force: true });
    },
    unavailable: () => whyUnavailable(environment),
  };
}

function refusePathOfTheServer({ config }: Context, { isOpenToStrangers }: GitOptions): void {
  if (!isOpenToStrangers || requireRemote(config).type !== "path") return;
  throw new ApiError("root_not_allowed", {
    message: "Local repositories can't be connected on a server with open sign-up.",
    field: "url",
  });
}
