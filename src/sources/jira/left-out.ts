import type { SourceItem } from "#sources/contract.ts";
import { refusalOf } from "#sources/atlassian/refusals.ts";
import { tellItems } from "#sources/atlassian/tell.ts";
import { lookAgain } from "#sources/left-out.ts";
import { parseId, projectRef } from "./ids.ts";
import { narrowed, readWhole } from "./issue.ts";
import type { ProjectRecord } from "./records.ts";
import type { Event, Tools } from "./tools.ts";

interface Found {
  events: Event[];
  count: number;
}

/**
 * Issues that are stored and that no search named, as they are now where they are there. Costs a request for each that is
 * asked for, and one for 50 of them with a narrowing.
 */
export function tellLeftOut(
  tools: Tools,
  project: ProjectRecord,
  missing: readonly string[],
): AsyncGenerator<Found, void> {
  return lookAgain(missing, (ids) => askFor(tools, project, ids));
}

/** Issues of a project that are stored, and that are none of these. */
export async function missingFrom(
  { ctx }: Tools,
  project: ProjectRecord,
  named: ReadonlySet<string>,
): Promise<string[]> {
  const missing: string[] = [];
  for await (const { externalId } of ctx.stored.list(projectRef(project.id))) {
    if (parseId(externalId)?.part === undefined && !named.has(externalId)) missing.push(externalId);
  }
  return missing;
}

/** Whether the narrowing asks for an issue that is there. One that no search finds at all is as it was: stored, or not. */
export async function isAskedFor(tools: Tools, id: string): Promise<boolean> {
  const { client, ctx } = tools;
  if (ctx.config.jql === "") return true;
  const matching = await client.search(narrowed(tools, `id = ${id}`), ["project"]).next();
  if (matching.value?.issues.some((issue) => issue.id === id)) return true;
  return (await ctx.stored.version(id)) !== undefined && !(await inIndex(tools, [id])).has(id);
}

async function askFor(tools: Tools, project: ProjectRecord, ids: readonly string[]): Promise<Found> {
  const events: Event[] = [];
  const found = new Map<string, SourceItem[]>();
  for (const id of ids) {
    tools.ctx.signal.throwIfAborted();
    try {
      const items = await readWhole(tools, project, id);
      if (items.length > 0) found.set(id, items);
    } catch (error) {
      const code = refusalOf(error);
      if (code === undefined) throw error;
      events.push({ t: "refused", what: { externalId: id }, code });
    }
  }
  // What the index has, and gave not, is not what the narrowing asks for any more.
  if (tools.ctx.config.jql !== "") for (const id of await inIndex(tools, [...found.keys()])) found.delete(id);
  events.push(...(await tellItems(tools.ctx.stored, [...found.values()].flat())));
  return { events, count: found.size };
}

async function inIndex({ client }: Tools, ids: readonly string[]): Promise<Set<string>> {
  const known = new Set<string>();
  if (ids.length === 0) return known;
  for await (const { issues } of client.search(`id in (${ids.join(", ")})`, ["project"]))
    for (const { id } of issues) known.add(id);
  return known;
}
