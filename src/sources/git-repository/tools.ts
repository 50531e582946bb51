import { leftOut } from "#sources/failures.ts";
import type { SyncContext } from "#sources/context.ts";
import type { Scope } from "#core/scope.ts";
import type { GitConfig } from "./config.ts";
import type { GitPlace } from "./cursor.ts";
import type { Refusal } from "./judge.ts";
import type { GitEnvironment, Mirror } from "./mirror.ts";
import type { Pages } from "./pages.ts";
import { type CommitView, openCommit } from "./view.ts";

/** The dependencies of a run. */
export interface GitTools {
  ctx: SyncContext<GitConfig>;
  scope: Scope;
  environment: GitEnvironment;
  mirror: Mirror;
  /** The git program and the directory in which it runs. */
  place: { program: GitEnvironment["program"]; gitDir: string; signal: AbortSignal };
  pagesOf(view: CommitView): Pages;
}

/** Opens this run's view of a commit. */
export function viewOf(
  { ctx, scope, environment, mirror }: GitTools,
  { commit, ref }: Pick<GitPlace, "commit" | "ref">,
): Promise<CommitView> {
  return openCommit(ctx, { scope }, environment, { mirror, commit, ref });
}

export function toSkip({ id, reason, message }: Refusal) {
  return leftOut(id, reason, message);
}
