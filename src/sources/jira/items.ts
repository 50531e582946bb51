import { isApiError } from "#api/errors.ts";
import type { SourceItem } from "#sources/contract.ts";
import { refusalOf } from "#sources/failures.ts";
import { isPlaceInScope } from "#sources/atlassian/tell.ts";
import { parseId } from "./ids.ts";
import { readWhole } from "./issue.ts";
import { isAskedFor } from "./left-out.ts";
import type { ProjectRecord } from "./records.ts";
import type { Event, Tools } from "./tools.ts";

/** Only these, as they are now. */
export async function* readItems(tools: Tools): AsyncGenerator<Event, void> {
  const { client, run } = tools;
  const projects = new Map((await client.projects()).map((project) => [project.id, project]));
  const read = new Map<string, Promise<SourceItem[] | undefined>>();
  for (const externalId of run.externalIds ?? []) {
    tools.ctx.signal.throwIfAborted();
    const issue = parseId(externalId)?.issue;
    const items = issue === undefined ? undefined : (read.get(issue) ?? readOne(tools, projects, issue));
    if (issue !== undefined && items) read.set(issue, items);
    try {
      const item = (await items)?.find((each) => each.externalId === externalId);
      yield item ? { t: "upsert", item } : { t: "delete", externalId };
    } catch (error) {
      const code = refusalOf(error);
      if (code === undefined) throw error;
      yield { t: "refused", what: { externalId }, code };
    }
  }
  yield { t: "end", listing: "partial", permissions: "not_checked" };
}

/** An issue with its parts; undefined when it is gone, out of scope, or not what the narrowing asks for. */
async function readOne(
  tools: Tools,
  projects: ReadonlyMap<string, ProjectRecord>,
  id: string,
): Promise<SourceItem[] | undefined> {
  const { client, run } = tools;
  try {
    const { fields } = await client.issue(id, ["project"]);
    const project = projects.get(fields.project?.id ?? "");
    if (!project || !isPlaceInScope(run.scope, project.id)) return undefined;
    return (await isAskedFor(tools, id)) ? await readWhole(tools, project, id) : undefined;
  } catch (error) {
    if (!isApiError(error, "source_not_found")) throw error;
    return undefined;
  }
}
