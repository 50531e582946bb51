import { ifThere } from "#sources/failures.ts";
import { defined } from "#core/defined.ts";
import type { SourceItem } from "#sources/item.ts";
import { accessFields, type ProjectRules } from "./access.ts";
import { ITEM_FIELDS, toItems } from "./map.ts";
import type { IssueRecord, ProjectRecord } from "./records.ts";
import type { Tools } from "./tools.ts";

/** Combines the configured JQL with this query. */
export function narrowed({ ctx }: Pick<Tools, "ctx">, jql: string): string {
  return ctx.config.jql === "" ? jql : `${jql} AND (${ctx.config.jql})`;
}

export function fieldsOf(rules: ProjectRules): string[] {
  return [...new Set([...ITEM_FIELDS, ...accessFields(rules)])];
}

export function isHere({ id }: Pick<ProjectRecord, "id">, { fields }: IssueRecord): boolean {
  return fields.project.id === id;
}

/**
 * An issue's items. `odd` are the ids of comments that could not be parsed, and `nameless` counts the comments without
 * an id.
 */
export interface IssueItems {
  items: SourceItem[];
  odd: readonly string[];
  nameless: number;
  /** The id of the issue's present project, if it is another project. */
  elsewhere?: string;
}

/** Builds the items of an issue that was returned with its fields. */
export async function readIssue(tools: Tools, project: ProjectRecord, issue: IssueRecord): Promise<IssueItems> {
  const { client, rules, mapping, failures } = tools;
  const { comment } = issue.fields;
  // A listing returns only the first comments of an issue.
  const isWhole = comment !== undefined && comment.total !== undefined && comment.comments.length >= comment.total;
  const { known: comments, ...rest } = isWhole
    ? { ...NOTHING_ODD, known: comment.comments }
    : await client.comments(issue.id);
  const ofRoles = comments.filter(({ visibility }) => visibility?.type === "role");
  if (ofRoles.length === 0) return { items: toItems(mapping, await rules.rulesOf(project), issue, comments), ...rest };
  try {
    return { items: toItems(mapping, await rules.withRoles(project), issue, comments), ...rest };
  } catch (error) {
    await failures.requireOfOne(error);
    // Only the readers of these comments are unknown.
    const items = toItems(
      mapping,
      await rules.rulesOf(project),
      issue,
      comments.filter((each) => !ofRoles.includes(each)),
    );
    return { items, ...rest, odd: [...rest.odd, ...ofRoles.map(({ id }) => id)] };
  }
}

const NOTHING_ODD = { odd: [], nameless: 0 };
const NOTHING: IssueItems = { ...NOTHING_ODD, items: [] };

/** Reads a single issue. Returns no items if it no longer exists, is archived, or is in another project. */
export async function readWhole(tools: Tools, project: ProjectRecord, issueId: string): Promise<IssueItems> {
  const rules = await tools.rules.rulesOf(project);
  const read = await ifThere(async () => {
    // An archived issue appears in no search, but can still be requested by id.
    const issue = await tools.client.issue(issueId, [...fieldsOf(rules), "archiveddate"]);
    if ((issue.fields.archiveddate ?? undefined) !== undefined) return NOTHING;
    if (isHere(project, issue)) return readIssue(tools, project, issue);
    return { ...NOTHING, ...defined({ elsewhere: issue.fields.project?.id }) };
  });
  return read ?? NOTHING;
}
