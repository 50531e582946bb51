import { storedIds } from "#sources/collect.ts";
import type { SourceItem } from "#sources/item.ts";
import { askAgain } from "#sources/left-out.ts";
import { judgedEntryOf, type PageEntry } from "#sources/session.ts";
import { parseId, projectRef } from "./ids.ts";
import { type IssueItems, narrowed, readWhole } from "./issue.ts";
import { issueNotRead, reportOddComments } from "./parts.ts";
import type { ProjectRecord } from "./records.ts";
import type { Tools } from "./tools.ts";

interface Found {
  events: PageEntry[];
  count: number;
}

/**
 * Reports the present state of stored issues that no search named, if they still exist. Takes one request for each
 * issue, and with configured JQL one more for 50 of them.
 */
export function reportLeftOut(
  tools: Tools,
  project: ProjectRecord,
  missing: readonly string[],
): AsyncGenerator<Found, void> {
  return askAgain(missing, (ids) => askFor(tools, project, ids));
}

/** Returns the stored issues of a project that aren't among these. */
export async function missingFrom(
  { ctx }: Tools,
  project: ProjectRecord,
  named: ReadonlySet<string>,
): Promise<string[]> {
  const isMissing = (id: string) => parseId(id)?.part === undefined && !named.has(id);
  return storedIds(ctx, projectRef(project.id), isMissing);
}

/**
 * Whether the configured JQL matches an existing issue. If no search finds the issue at all, the answer is whether the
 * issue is stored.
 */
export async function isAskedFor(tools: Tools, id: string): Promise<boolean> {
  const { ctx } = tools;
  if (ctx.config.jql === "") return true;
  if ((await matching(tools, [id])).has(id)) return true;
  if ((await ctx.stored.version(id)) === undefined) return false;
  return (await noLongerMatching(tools, [id])).length === 0;
}

async function askFor(tools: Tools, project: ProjectRecord, ids: readonly string[]): Promise<Found> {
  const events: PageEntry[] = [];
  const found = new Map<string, SourceItem[]>();
  let failed = 0;
  for (const id of ids) {
    tools.ctx.signal.throwIfAborted();
    try {
      const read = await readWherever(tools, project, id);
      if (read.items.length > 0) found.set(id, read.items);
      events.push(...(await reportOddComments(tools, project, id, read)));
    } catch (error) {
      const notRead = await issueNotRead(tools, project, id, error);
      if (notRead.some(({ t }) => t === "skip")) failed++;
      events.push(...notRead);
    }
  }
  if (tools.ctx.config.jql !== "") for (const id of await noLongerMatching(tools, [...found.keys()])) found.delete(id);
  events.push(...[...found.values()].flat().map(judgedEntryOf));
  return { events, count: found.size + failed };
}

/** Reads an issue in its project, or in the project that it has moved to since the listing. */
async function readWherever(tools: Tools, project: ProjectRecord, id: string): Promise<IssueItems> {
  const read = await readWhole(tools, project, id);
  const other = tools.byId.get(read.elsewhere ?? "");
  return other ? readWhole(tools, other, id) : read;
}

/**
 * Returns the issues that are in the index and that the configured JQL doesn't match. Searches twice, because an issue
 * may have been indexed a moment ago.
 */
async function noLongerMatching(tools: Tools, ids: readonly string[]): Promise<string[]> {
  const indexed = [...(await searched(tools, ids, (jql) => jql))];
  const wanted = await matching(tools, indexed);
  return indexed.filter((id) => !wanted.has(id));
}

function matching(tools: Tools, ids: readonly string[]): Promise<Set<string>> {
  return searched(tools, ids, (jql) => narrowed(tools, jql));
}

async function searched(
  { client }: Tools,
  ids: readonly string[],
  toQuery: (jql: string) => string,
): Promise<Set<string>> {
  const found = new Set<string>();
  if (ids.length === 0) return found;
  for await (const { issues } of client.search(toQuery(`id in (${ids.join(", ")})`), ["project"]))
    for (const { id } of issues) found.add(id);
  return found;
}
