import { personOf } from "#sources/atlassian/people.ts";
import { textContent } from "#sources/contents.ts";
import { fileContent } from "#sources/file-scope/file-content.ts";
import { defined } from "#core/defined.ts";
import type { SourceContainer, SourceItem, SourcePerson } from "#sources/item.ts";
import { textOfAdf } from "#sources/atlassian/adf.ts";
import { digestOf, readable } from "#sources/atlassian/report.ts";
import { accessOf, accessOfComment, type Naming, type ProjectRules } from "./access.ts";
import type { JiraContext } from "./client.ts";
import { partId, projectRef } from "./ids.ts";
import type { AttachmentRecord, CommentRecord, IssueRecord, ProjectRecord, UserRecord } from "./records.ts";
import { textOfWiki } from "./wiki.ts";

/** Values shared by all items of a run. */
export interface Mapping extends Naming {
  config: Pick<JiraContext["config"], "maxFileMb">;
  base: string;
}

/** The fields of an issue from which its items are built. */
export const ITEM_FIELDS = [
  ..."summary description status resolution priority issuetype labels components fixVersions assignee".split(" "),
  ..."reporter creator duedate created updated parent attachment comment".split(" "),
];

export function nameOf({ key, name }: ProjectRecord): string {
  return name.trim() === "" ? key : name.trim();
}

/** Builds the items of an issue: the issue as a task first, then its comments and its attachments. */
export function toItems(
  mapping: Mapping,
  rules: ProjectRules,
  issue: IssueRecord,
  comments: readonly CommentRecord[],
): SourceItem[] {
  const { base } = mapping;
  const { project } = rules;
  const { id, key, fields } = issue;
  const url = `${base}/browse/${encodeURIComponent(key)}`;
  const shared = { place: nameOf(project), containers: [homeOf(project)] };
  const parts = [
    ...comments.map((comment) => toComment(mapping, rules, { issue, comment, url, shared })),
    ...(fields.attachment ?? []).map((file) => toAttachment(mapping, { issue, file, shared })),
  ];
  const { status, priority, issuetype, resolution, parent } = fields;
  const author = fields.reporter ?? fields.creator;
  const summary = readable(fields.summary ?? "");
  const components = (fields.components ?? []).map(({ name }) => name);
  const versions = (fields.fixVersions ?? []).map(({ name }) => name);
  const item: SourceItem = {
    externalId: id,
    kind: "task",
    ...(issuetype && { subkind: issuetype.name.slice(0, 60) }),
    title: summary === "" ? key : summary.slice(0, 2_000),
    key,
    url,
    ...shared,
    status: isDone(fields) ? "done" : "open",
    labels: fields.labels ?? [],
    ...(priority && { priority: priority.name.slice(0, 60) }),
    ...(fields.assignee && { assignees: [authorOf(fields.assignee, mapping)] }),
    ...(author && { author: authorOf(author, mapping) }),
    ...defined({ dueAt: fields.duedate, createdAt: fields.created, updatedAt: fields.updated }),
    fields: {
      ...(issuetype && { type: issuetype.name }),
      ...(status && { state: status.name }),
      ...(resolution && { resolution: resolution.name }),
      ...(components.length > 0 && { components }),
      ...(versions.length > 0 && { fixVersions: versions }),
      ...(parent && { parent: parent.key }),
    },
    content: contentOf(fields.description, mapping),
    access: accessOf(issue, rules, mapping),
  };
  return [
    { ...item, version: `${digest(item)}.${spell(parts)}` },
    ...parts.map((part) => ({ ...part, version: digest(part) })),
  ];
}

interface Of {
  issue: IssueRecord;
  shared: Pick<SourceItem, "place" | "containers">;
}

function toComment(
  mapping: Mapping,
  rules: ProjectRules,
  { issue, comment, url, shared }: Of & { comment: CommentRecord; url: string },
): SourceItem {
  const { author, created, updated } = comment;
  const by = author?.displayName === undefined ? "" : ` by ${readable(author.displayName)}`;
  const access = accessOfComment(comment, rules, mapping);
  return {
    externalId: partId(issue.id, "c", comment.id),
    partOf: issue.id,
    kind: "message",
    subkind: "comment",
    title: readable(`Comment${by} on ${issue.key}`).slice(0, 2_000),
    url: `${url}?focusedCommentId=${comment.id}`,
    ...shared,
    ...(author && { author: authorOf(author, mapping) }),
    ...defined({ createdAt: created, updatedAt: updated ?? created }),
    content: contentOf(comment.body, mapping),
    ...(access && { access }),
  };
}

function toAttachment(
  { base, config, ...mapping }: Mapping,
  { issue, file, shared }: Of & { file: AttachmentRecord },
): SourceItem {
  const { id, author, created, size, mimeType } = file;
  const name = fileNameOf(file);
  return {
    externalId: partId(issue.id, "a", id),
    partOf: issue.id,
    kind: "file",
    subkind: "attachment",
    title: name,
    hasFileTitle: true,
    url: `${base}/secure/attachment/${id}/${encodeURIComponent(name)}`,
    ...shared,
    ...(author && { author: authorOf(author, mapping) }),
    ...defined({ createdAt: created, updatedAt: created, mimeType, size }),
    content: fileContent(config, file, id),
  };
}

export function fileNameOf({ filename, id }: Pick<AttachmentRecord, "filename" | "id">): string {
  const name = readable(filename).slice(0, 2_000);
  return name === "" ? `Attachment ${id}` : name;
}

export function homeOf(project: ProjectRecord): SourceContainer {
  return { ...projectRef(project.id), type: "project", name: nameOf(project), isHome: true };
}

function isDone({ status, resolution }: IssueRecord["fields"]): boolean {
  const category = status?.statusCategory?.key;
  return category === undefined ? resolution !== undefined && resolution !== null : category === "done";
}

/** Returns the content of a text field. Cloud returns documents, and Data Center returns wiki markup. */
function contentOf(body: unknown, { cloud }: Pick<Mapping, "cloud">): SourceItem["content"] {
  const text = (cloud ? textOfAdf(body) : textOfWiki(body)).replace(/\p{Surrogate}/gu, "");
  return textContent(text);
}

function authorOf(user: UserRecord, { names }: Pick<Naming, "names">): SourcePerson {
  return personOf(user, user.id, names);
}

/** Increase this number when the same records produce different items. */
const MAPPING_VERSION = 1;

function digest(item: SourceItem): string {
  return digestOf(MAPPING_VERSION, item);
}

/** The most parts that fit into a version. */
const MOST_SPELLED = 1_500;

/**
 * Returns the parts of an issue for its version, so that an increment finds parts that no longer exist; `*` if there
 * are too many.
 */
function spell(parts: readonly SourceItem[]): string {
  const text = parts.map(({ externalId }) => externalId.slice(externalId.indexOf(".") + 1)).join("-");
  return text.length > MOST_SPELLED ? "*" : text;
}

/**
 * Returns the external ids of an issue's parts, from its stored version; undefined if the version doesn't list them.
 */
export function partsIn(issue: string, version: string): string[] | undefined {
  const text = version.slice(version.indexOf(".") + 1);
  if (!version.includes(".") || text === "*") return undefined;
  return text === "" ? [] : text.split("-").map((part) => `${issue}.${part}`);
}
