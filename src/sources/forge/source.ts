import { defined } from "#core/defined.ts";
import type { CheckOutcome } from "#sources/check.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source, SourceSpec } from "#sources/contract.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";
import type { GitPlaces } from "#sources/git-repository/environment.ts";
import type { Batching } from "#sources/session.ts";
import { browseRepositories } from "./browse.ts";
import type { Forge } from "./contract.ts";
import { countAdded } from "./count-added.ts";
import { type ForgeFiles, makeForgeFiles } from "./files.ts";
import { factsOf, type ForgeFacts } from "./map.ts";
import { type PeopleReader, reportPeople } from "./people.ts";
import { isItemInScope } from "./scope.ts";
import { forgeSessions } from "./sync.ts";
import { type HookHeaders, verifyHook } from "./webhook.ts";

export type ForgeOptions = GitPlaces & { checkpoints?: Partial<Batching> };

/** The parts that differ between kinds of forges. */
interface ForgeKind<Config> extends Pick<ForgeFacts, "pullPath">, Pick<Source<Config>, "gitOriginOf"> {
  providerId: "gitea" | "github";
  spec: Pick<SourceSpec<Config>, "name" | "auth" | "credentials" | "config" | "limits" | "instances" | "links">;
  hook: HookHeaders;
  check(ctx: SourceContext<Config>, files: ForgeFiles): Promise<CheckOutcome>;
  open(ctx: SourceContext<Config>): Forge;
  people(ctx: SourceContext<Config>): PeopleReader;
  baseUrlOf(config: Config): string;
}

/** Makes the source of a forge: issues, pull requests, their comments and files, readable by their readers there. */
export function makeForgeSource<Config extends Parameters<typeof makeChildRules>[0]>(
  { providerId, pullPath, spec, hook, check, open, people, baseUrlOf, gitOriginOf }: ForgeKind<Config>,
  options: ForgeOptions,
): Source<Config> {
  const files = makeForgeFiles(options, providerId);
  return {
    spec: {
      providerId,
      ...spec,
      kinds: ["task", "message", "file"],
      // 2: a cursor belongs to one run.
      stateVersion: 2,
      acl: "container",
      // Items always name the groups of their repository, and only the members of these groups change.
      freshness: "feed",
      hasPeople: true,
      readsGit: true,
    },
    check: (ctx) => check(ctx, files),
    sessions: {
      ...forgeSessions((ctx) => ({ forge: open(ctx), files, facts: factsOf(ctx, { providerId, pullPath }) })),
      ...defined({ batching: options.checkpoints }),
    },
    syncIdentities: (ctx, run) => reportPeople(ctx, run, people(ctx)),
    async browse(ctx, at) {
      const { repositories } = await open(ctx).list();
      return browseRepositories(repositories, at);
    },
    countAdded: (ctx, change) => countAdded(open(ctx), change),
    webhook: { verify: (secret, request) => verifyHook(secret, request, hook) },
    fetchContent: (ctx, item) => files.read(ctx, item),
    childRules: makeChildRules,
    forget: (connectorId) => files.forget(connectorId),
    inScope: isItemInScope,
    ...defined({ gitOriginOf }),
    baseUrlOf,
  };
}
