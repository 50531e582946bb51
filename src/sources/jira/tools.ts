import { z } from "zod";
import { makeNames } from "#sources/atlassian/names.ts";
import { byNumber, makeContainers, placeSchema } from "#sources/containers.ts";
import type { SyncContext } from "#sources/contract.ts";
import { makeFailures } from "#sources/failures.ts";
import type { OpenRequest } from "#sources/session.ts";
import { makeUnread } from "#sources/unread.ts";
import { makeJiraClient } from "./client.ts";
import type { JiraConfig } from "./config.ts";
import { projectRef } from "./ids.ts";
import { nameOf } from "./map.ts";
import { makeRulesReader } from "./projects.ts";
import type { ProjectRecord } from "./records.ts";

/** By the server's clock: what changed before was read. */
export const JiraCursor = z.object({ at: z.number() });
export type JiraCursor = z.infer<typeof JiraCursor>;

const Place = z.union([
  z.object({ token: z.string() }),
  z.object({ startAt: z.number(), total: z.number().optional() }),
]);

export const JiraCheckpoint = placeSchema(Place, JiraCursor);
export type JiraCheckpoint = z.infer<typeof JiraCheckpoint>;

export type Tools = Awaited<ReturnType<typeof makeTools>>;

/** What a run works with. */
export async function makeTools(ctx: SyncContext<JiraConfig>, { mode, scope }: OpenRequest) {
  const client = makeJiraClient(ctx);
  // Signed in as nobody, Jira shows what is public: that is not all there is.
  const { at } = await client.whoAmI();
  const ahead = at - ctx.now();
  const mapping = { names: makeNames(ctx, "jira"), cloud: client.cloud, config: ctx.config, base: client.base };
  const failures = makeFailures(() => client.whoAmI());
  return {
    ctx,
    mode,
    scope,
    client,
    at,
    /** The server's clock, now. */
    serverNow: () => ctx.now() + ahead,
    mapping,
    /** Those that are read, by id. */
    projects: new Map<string, ProjectRecord>(),
    rules: makeRulesReader(client),
    failures,
    /** Issues that could not be read, or not in full. */
    unread: makeUnread(ctx.state),
    containers: makeContainers<ProjectRecord>(ctx, {
      key: "project",
      refOf: projectRef,
      nameOf,
      compare: byNumber,
      labelOf: (project) => `${project.key}\n${nameOf(project)}`,
      countedAs: (id) => `project ${id}`,
      failures,
    }),
  };
}
