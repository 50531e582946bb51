import { z } from "zod";
import { makeNames } from "#sources/atlassian/names.ts";
import type { SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { failedSkip, makeFailures } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { makeUnread } from "#sources/unread.ts";
import { makeWaits, notRead } from "#sources/waits.ts";
import { makeJiraClient } from "./client.ts";
import type { JiraConfig } from "./config.ts";
import { projectRef } from "./ids.ts";
import { nameOf } from "./map.ts";
import { makeRulesReader } from "./projects.ts";
import type { ProjectRecord } from "./records.ts";

const Place = z.union([
  z.object({ token: z.string() }),
  z.object({ startAt: z.number(), total: z.number().optional() }),
]);

/** An unreadable cursor is ignored: everything is listed again, and nothing is lost. */
export const JiraCursor = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("listing"),
    runId: z.string().nullable(),
    at: z.number(),
    /** Every project up to this one was read, and of the next what comes before `place`. */
    after: z.string().nullable(),
    project: z.object({ id: z.string(), place: Place }).optional(),
    done: z.number(),
    notLookedAt: z.array(z.string()),
  }),
  z.object({
    type: z.literal("changes"),
    /** By the server's clock: what changed before was read. */
    at: z.number(),
  }),
]);
export type JiraCursor = z.infer<typeof JiraCursor>;

type Context = SyncContext<JiraConfig>;
export type Event = SyncEvent<JiraCursor>;

export type Tools = Awaited<ReturnType<typeof makeTools>>;

/** What a run works with. */
export async function makeTools(ctx: Context, run: SyncRequest<JiraCursor>) {
  const client = makeJiraClient(ctx);
  // Signed in as nobody, Jira shows what is public: that is not all there is.
  const { at } = await client.whoAmI();
  const ahead = at - ctx.now();
  const mapping = { names: makeNames(ctx, "jira"), cloud: client.cloud, config: ctx.config, base: client.base };
  return {
    ctx,
    run,
    client,
    at,
    /** The server's clock, now. */
    serverNow: () => ctx.now() + ahead,
    mapping,
    /** Those that are read, by id. */
    projects: new Map<string, ProjectRecord>(),
    rules: makeRulesReader(client),
    failures: makeFailures(() => client.whoAmI()),
    /** Issues that could not be read, or not in full. */
    unread: makeUnread(ctx.state),
    waits: makeWaits(ctx),
  };
}

/** A project was listed to its end, by somebody who is signed in still. */
export async function* endProject(
  { ctx, client, run, waits }: Tools,
  project: ProjectRecord,
): AsyncGenerator<Event, void> {
  await client.whoAmI();
  yield { t: "listed", container: projectRef(project.id) };
  await waits.done(project.id);
  // What only says who reads it leaves the name of its place as it was.
  if (run.mode !== "access") ctx.state.put(`project:${project.id}`, labelOf(project));
}

/** What stands in the items of a project: another one, and it is read again. */
export function labelOf(project: ProjectRecord): string {
  return `${project.key}\n${nameOf(project)}`;
}

/** So many ids fit into one value of the state; of more, a full run finds those that are gone. */
export const MOST_KNOWN = 5_000;

/** A project that is refused, or fails, alone. @throws what is about more than the project */
export async function projectNotRead(tools: Tools, project: ProjectRecord, error: unknown): Promise<Event> {
  const { id } = project;
  const message = `${nameOf(project)} can't be read now.`;
  const event = await notRead(tools, { container: projectRef(id), externalId: `project ${id}`, message }, error);
  // The next run reads it whole.
  tools.ctx.state.put(`project:${id}`, undefined);
  return event;
}

/** A project that was listed and isn't understood: it stays as it is. */
export function oddProject({ ctx }: Tools, id: string): Event {
  ctx.state.put(`project:${id}`, undefined);
  return failedSkip(`project ${id}`, NOT_UNDERSTOOD);
}
