import { isApiError } from "#api/errors.ts";
import type { SourceItem } from "#sources/contract.ts";
import { accessFields, type ProjectRules } from "./access.ts";
import { ITEM_FIELDS, toItems } from "./map.ts";
import type { CommentRecord, IssueRecord, ProjectRecord } from "./records.ts";
import type { Tools } from "./tools.ts";

/** The narrowing of the config with this. */
export function narrowed({ ctx }: Pick<Tools, "ctx">, jql: string): string {
  return ctx.config.jql === "" ? jql : `${jql} AND (${ctx.config.jql})`;
}

export function fieldsOf(rules: ProjectRules): string[] {
  return [...new Set([...ITEM_FIELDS, ...accessFields(rules)])];
}

export function isHere({ id }: Pick<ProjectRecord, "id">, { fields }: IssueRecord): boolean {
  return fields.project?.id === id;
}

/** The items of an issue that came with its fields. */
export async function readIssue(tools: Tools, project: ProjectRecord, issue: IssueRecord): Promise<SourceItem[]> {
  const { client, rules, mapping } = tools;
  const { comment } = issue.fields;
  // A listing gives the first comments only.
  const isWhole = comment !== undefined && comment.total !== undefined && comment.comments.length >= comment.total;
  const comments: CommentRecord[] = isWhole ? comment.comments : await client.comments(issue.id);
  const needsRoles = comments.some(({ visibility }) => visibility?.type === "role");
  const facts = needsRoles ? await rules.withRoles(project) : await rules.rulesOf(project);
  return toItems(mapping, facts, issue, comments);
}

/** An issue by itself; nothing when it is gone, archived or elsewhere. */
export async function readWhole(tools: Tools, project: ProjectRecord, issueId: string): Promise<SourceItem[]> {
  const rules = await tools.rules.rulesOf(project);
  try {
    // What is archived is in no search, and answers by its address all the same.
    const issue = await tools.client.issue(issueId, [...fieldsOf(rules), "archiveddate"]);
    const isLiving = isHere(project, issue) && (issue.fields.archiveddate ?? undefined) === undefined;
    return isLiving ? await readIssue(tools, project, issue) : [];
  } catch (error) {
    if (!isApiError(error, "source_not_found")) throw error;
    return [];
  }
}
