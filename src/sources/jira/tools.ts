import { makeNames } from "#sources/atlassian/names.ts";
import { beginRun } from "#sources/atlassian/sessions.ts";
import type { SyncContext } from "#sources/context.ts";
import type { OpenRequest } from "#sources/session.ts";
import { makeJiraClient } from "./client.ts";
import type { JiraConfig } from "./config.ts";
import { projectRef } from "./ids.ts";
import { nameOf } from "./map.ts";
import { makeRulesReader } from "./projects.ts";
import type { ProjectRecord } from "./records.ts";

export type Tools = Awaited<ReturnType<typeof makeTools>>;

/** The dependencies of a run. */
export async function makeTools(ctx: SyncContext<JiraConfig>, { mode, scope }: OpenRequest) {
  const client = makeJiraClient(ctx);
  const run = await beginRun<ProjectRecord>(ctx, client, { key: "project", refOf: projectRef, nameOf });
  const mapping = { names: makeNames(ctx, "jira"), cloud: client.cloud, config: ctx.config, base: client.base };
  return { ...run, ctx, mode, scope, client, mapping, rules: makeRulesReader(client) };
}
