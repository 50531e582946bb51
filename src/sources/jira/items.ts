import { ifThere } from "#sources/failures.ts";
import { halfRead, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import type { Result } from "#sources/outcomes.ts";
import { parseId } from "./ids.ts";
import { type IssueItems, readWhole } from "./issue.ts";
import { isAskedFor } from "./left-out.ts";
import { type Projects, readProjects } from "./projects.ts";
import type { ProjectRecord } from "./records.ts";
import type { Tools } from "./tools.ts";

/** Reads the present state of these items alone. */
export async function* readItems(tools: Tools, externalIds: readonly string[]): AsyncGenerator<Result, void> {
  const projects = await readProjects(tools.client, tools.scope);
  const read = new Map<string, ReturnType<typeof readOne>>();
  yield* readEach<Result>(tools, externalIds, async (externalId) => {
    const { issue, part } = parseId(externalId) ?? {};
    if (issue === undefined) return [];
    const reading = read.get(issue) ?? readOne(tools, projects, issue);
    read.set(issue, reading);
    const { items = [], odd = [], nameless = 0 } = (await reading) ?? {};
    const item = items.find((each) => each.externalId === externalId);
    if (!item && part && (odd.includes(part.id) || nameless > 0)) throw halfRead(NOT_UNDERSTOOD);
    return item ? [{ t: "upsert", item }] : [];
  });
}

/**
 * Returns an issue with its parts; undefined if it no longer exists, is out of scope, or isn't matched by the
 * configured JQL.
 */
export function readOne(
  tools: Tools,
  { known, odd, isWhole }: Projects,
  id: string,
): Promise<(IssueItems & { project: ProjectRecord }) | undefined> {
  return ifThere(async () => {
    const { fields } = await tools.client.issue(id, ["project"]);
    const project = known.find((each) => each.id === fields.project.id);
    if (!project && (!isWhole || odd.includes(fields.project.id))) throw halfRead(NOT_UNDERSTOOD);
    if (!project) return undefined;
    return (await isAskedFor(tools, id)) ? { project, ...(await readWhole(tools, project, id)) } : undefined;
  });
}
