import { storedIds } from "#sources/collect.ts";
import type { SourceItem } from "#sources/item.ts";
import { failedStatus, refused } from "#sources/failures.ts";
import { judgedEntryOf, type PageEntry, type WalkEvent } from "#sources/session.ts";
import { notUnderstood } from "#sources/unread.ts";
import type { Found } from "#sources/atlassian/sessions.ts";
import { projectRef } from "./ids.ts";
import { fieldsOf, isHere, narrowed } from "./issue.ts";
import { readIssues } from "./listing.ts";
import { partsIn } from "./map.ts";
import { readOne } from "./items.ts";
import { issueNotRead, storedParts, reportOdd, reportOddComments } from "./parts.ts";
import type { Projects } from "./projects.ts";
import type { ProjectRecord } from "./records.ts";
import type { Tools } from "./tools.ts";

/**
 * How far an increment looks back before the last run: Cloud's search index lags a little behind writes, and JQL has a
 * resolution of one minute.
 */
const OVERLAP_MINUTES = 10;

type Event = WalkEvent<never>;

/** Reads changes since `before`, parts that no longer exist, and issues that earlier runs could not read. */
export async function* readUpdated(
  tools: Tools,
  before: number,
  found: Found<ProjectRecord>,
): AsyncGenerator<Event, void> {
  const reported = yield* readChanged(tools, before, found);
  for (const id of found.due) yield* readNoted(tools, found.list, id, reported);
}

/** Reads the changed issues, and returns the ids that it reported. */
async function* readChanged(
  tools: Tools,
  before: number,
  { here, open }: Found<ProjectRecord>,
): AsyncGenerator<Event, ReadonlySet<string>> {
  const { ctx, client, containers } = tools;
  const changed = new Map<string, string>();
  const { ids: odd } = await client.odd.of(async () => {
    for await (const { issues } of client.search(`${since(tools, before)} ORDER BY key ASC`, ["project"]))
      for (const { id, fields } of issues) changed.set(id, fields.project.id);
  });
  const busy = new Set(changed.values());
  const found = new Set<string>();
  const read = new Set(open.map(({ id }) => id));
  const elsewhere = makeStoredIn(ctx);
  for (const project of open) {
    if (!busy.has(project.id)) continue;
    try {
      for await (const event of readProjectChanges(tools, project, before)) {
        for (const id of namedIn(event)) found.add(id);
        yield event;
      }
    } catch (error) {
      yield await containers.notRead(project, error);
      read.delete(project.id);
    }
  }
  for (const [id, projectId] of changed) {
    // The issue is in a project that is no longer read, or the configured JQL no longer matches it.
    const isOut = !here.has(projectId) || (ctx.config.jql !== "" && read.has(projectId));
    if (found.has(id)) continue;
    if (isOut) yield* dropStored(tools, id);
    else if (!read.has(projectId)) yield* hideMoved(tools, id, projectId, elsewhere);
  }
  for (const id of odd) if (!found.has(id)) yield await notUnderstood(tools, id);
  return found;
}

/** Reads the present state of an issue that an earlier run could not read. */
async function* readNoted(
  tools: Tools,
  projects: Projects,
  id: string,
  reported: ReadonlySet<string>,
): AsyncGenerator<Event, void> {
  const { ctx, failures, unread } = tools;
  ctx.signal.throwIfAborted();
  if (reported.has(id)) return;
  try {
    const read = await readOne(tools, projects, id);
    failures.well();
    await unread.done(id);
    if (!read || read.items.length === 0) return yield* dropStored(tools, id);
    const outcomes = await reportOddComments(tools, read.project, id, read);
    yield* outcomes;
    if (outcomes.length === 0) yield* dropParts(tools, read.project, read.items);
    yield { t: "page", entries: read.items.map(judgedEntryOf) };
  } catch (error) {
    const events = await issueNotRead(tools, { id: "" }, id, error);
    yield* events;
  }
}

function namedIn(event: Event | PageEntry): readonly string[] {
  if (!("t" in event)) return [event.externalId];
  if (event.t === "page") return event.entries.flatMap(namedIn);
  if (event.t === "seen") return event.externalIds;
  if (event.t === "refused") return "externalId" in event.what ? [event.what.externalId] : [];
  return event.t === "skip" ? [event.externalId] : [];
}

/**
 * Returns the JQL condition relative to the time of the request, so that it is the same in every time zone. The time of
 * the request matters because a run may take hours.
 */
function since(tools: Tools, before: number): string {
  return `updated >= -${Math.max(0, Math.ceil((tools.serverNow() - before) / 60_000)) + OVERLAP_MINUTES}m`;
}

async function* readProjectChanges(tools: Tools, project: ProjectRecord, before: number): AsyncGenerator<Event, void> {
  const rules = await tools.rules.rulesOf(project);
  const jql = `project = ${project.id} AND ${narrowed(tools, since(tools, before))} ORDER BY key ASC`;
  tools.client.odd.take();
  for await (const { issues } of tools.client.search(jql, fieldsOf(rules))) {
    for (const issue of issues) {
      if (!isHere(project, issue)) continue;
      const { items, outcomes, isWhole } = await readIssues(tools, project, [issue]);
      yield* outcomes;
      if (isWhole) yield* dropParts(tools, project, items);
      yield { t: "page", entries: items.map(judgedEntryOf) };
    }
  }
  yield* await reportOdd(tools, project, () => false);
}

/** Removes comments and attachments that an issue no longer has. */
async function* dropParts(
  tools: Tools,
  project: ProjectRecord,
  items: readonly SourceItem[],
): AsyncGenerator<Event, void> {
  const issue = items[0]?.externalId ?? "";
  const version = await tools.ctx.stored.version(issue);
  if (version === undefined || version === items[0]?.version) return;
  const now = new Set(items.map(({ externalId }) => externalId));
  for (const externalId of await storedParts(tools, project, issue))
    if (!now.has(externalId)) yield { t: "delete", externalId };
}

async function* dropStored({ ctx }: Tools, issue: string): AsyncGenerator<Event, void> {
  const version = await ctx.stored.version(issue);
  if (version === undefined) return;
  for (const externalId of partsIn(issue, version) ?? []) yield { t: "delete", externalId };
  yield { t: "delete", externalId: issue };
}

/**
 * Hides an issue that moved into a project that can't be read. Its readers are unknown there, and the readers of its
 * old project lose their access.
 */
async function* hideMoved(
  { ctx }: Tools,
  issue: string,
  projectId: string,
  storedIn: ReturnType<typeof makeStoredIn>,
): AsyncGenerator<Event, void> {
  if ((await ctx.stored.version(issue)) === undefined || (await storedIn(projectId)).has(issue)) return;
  yield refused(issue, "source_forbidden");
}

/** Makes a lookup of the stored items of a project, which are loaded once. */
function makeStoredIn({ stored }: Tools["ctx"]) {
  const known = new Map<string, Promise<ReadonlySet<string>>>();
  const list = async (projectId: string) => new Set(await storedIds({ stored }, projectRef(projectId)));
  return (projectId: string): Promise<ReadonlySet<string>> => {
    const ids = known.get(projectId) ?? list(projectId);
    known.set(projectId, ids);
    return ids;
  };
}

/** Whether the error means that the configured JQL is invalid. */
export function isBadJql(error: unknown): boolean {
  return failedStatus(error) === 400;
}
