import { digestOf } from "#sources/digest.ts";
import { sourceGroup } from "#sources/principals.ts";
import { none } from "#sources/contents.ts";
import { defined } from "#core/defined.ts";
import { formatPrincipal, type Principal, type SourceAccess } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SourceContainer, SourceItem, SourcePerson } from "#sources/item.ts";
import type { ForgeContent, ForgePart, ForgeRepository, ForgeThread, ForgeUser } from "./contract.ts";
import { ownerRef, partId, readersGroup, repositoryRef, threadId } from "./ids.ts";

/** Values shared by all items of a connector. */
export interface ForgeFacts {
  providerId: string;
  connectorId: string;
  /** Absent in `check` and `browse`. */
  instance?: string;
  /** The segment before the number in the URL of a pull request, which differs between forges. */
  pullPath: "pull" | "pulls";
}

export function factsOf(
  { connector }: Pick<SourceContext<unknown>, "connector">,
  forge: Pick<ForgeFacts, "providerId" | "pullPath">,
): ForgeFacts {
  return { ...forge, connectorId: connector.id, ...defined({ instance: connector.instance }) };
}

/** Builds the item of an issue or a pull request, as a task. */
export function toThreadItem(thread: ForgeThread, repository: ForgeRepository, facts: ForgeFacts): SourceItem {
  const { number, isPull, title, body, author, milestone, isDraft, state } = thread;
  const shown = title.trim() === "" ? `${isPull ? "Pull request" : "Issue"} #${number}` : title.trim();
  const item: SourceItem = {
    externalId: threadId(repository, number),
    kind: "task",
    subkind: isPull ? "pull_request" : "issue",
    title: whole(shown.slice(0, 2_000)),
    key: `${repository.fullName}#${number}`,
    url: urlOf(repository, thread, facts),
    place: repository.fullName,
    status: state === "open" ? "open" : "done",
    labels: thread.labels.map(({ name }) => name),
    assignees: thread.assignees.map((user) => personOf(user, facts)),
    ...(author && { author: personOf(author, facts) }),
    ...defined({ dueAt: thread.dueAt }),
    createdAt: thread.createdAt,
    updatedAt: thread.updatedAt,
    fields: {
      ...defined({ milestone }),
      ...(isPull && { state: isDraft && state === "open" ? "draft" : state }),
    },
    containers: [...homeOf(repository), ...thread.labels.map((label) => labelOf(label, repository))],
    content: textOf(body),
    access: accessOf(repository, isPull ? "pulls" : "issues", facts),
  };
  return withVersion(item);
}

/** Builds the item of a comment or a review, which the readers of its thread can read. */
export function toPartItem(part: ForgePart, repository: ForgeRepository, facts: ForgeFacts): SourceItem {
  const { id, number, author, verdict, file, body, of, anchor } = part;
  const what = verdict === undefined ? "Comment" : "Review";
  const by = author === undefined ? "" : ` by ${author.login}`;
  const item: SourceItem = {
    externalId: partId(repository, number, id),
    partOf: threadId(repository, number),
    ...(of !== undefined && { replyTo: partId(repository, number, of) }),
    kind: "message",
    subkind: verdict !== undefined ? "review" : id.startsWith("v") ? "review_comment" : "comment",
    title: whole(`${what}${by} on ${repository.fullName}#${number}`),
    url: `${urlOf(repository, part, facts)}${anchor === undefined ? "" : `#${anchor}`}`,
    place: repository.fullName,
    ...(author && { author: personOf(author, facts) }),
    createdAt: part.createdAt,
    updatedAt: part.updatedAt,
    fields: { ...defined({ verdict, file }) },
    containers: homeOf(repository),
    content: textOf(body),
  };
  return withVersion(item);
}

/**
 * Returns the access to one kind of content in a repository, as one group. When its readers change, only the group
 * changes, not the items.
 */
export function accessOf({ id }: ForgeRepository, content: ForgeContent, { connectorId }: ForgeFacts): SourceAccess {
  const group = sourceGroup(connectorId, readersGroup(id, content));
  return { known: true, all: [[group]] };
}

export function userPrincipal(id: string, { providerId, instance, connectorId }: ForgeFacts): Principal {
  return formatPrincipal({ type: "source_user", providerId, instance: instance ?? connectorId, id });
}

/** Returns the chain of containers of everything in a repository. */
export function homeOf(repository: ForgeRepository): SourceContainer[] {
  const owner = ownerRef(repository);
  return [
    { ...owner, type: "space", name: repository.owner.login, isHome: true },
    { ...repositoryRef(repository), type: "repository", name: repository.fullName, parentId: owner.id, isHome: true },
  ];
}

function labelOf({ id, name }: { id: string; name: string }, { id: repository }: ForgeRepository): SourceContainer {
  return { type: "label", id: `r${repository}.${id}`, name };
}

function personOf({ id, login, name }: ForgeUser, facts: ForgeFacts): SourcePerson {
  return {
    name: (name ?? "").trim() === "" ? login : (name ?? login),
    login,
    ...(id !== undefined && { principal: userPrincipal(id, facts) }),
    // A person who isn't a user of this instance is only a name in a text.
    claimed: id === undefined,
  };
}

function textOf(text: string): SourceItem["content"] {
  return text.trim() === "" ? none("empty") : { type: "inline", text };
}

function urlOf(
  { webUrl }: ForgeRepository,
  { number, isPull }: Pick<ForgeThread, "number" | "isPull">,
  { pullPath }: ForgeFacts,
): string {
  return `${webUrl}/${isPull ? pullPath : "issues"}/${number}`;
}

/** Removes halves of surrogate pairs from a text. */
function whole(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "");
}

/** Increase this number when the same records produce different items. */
const MAPPING_VERSION = 1;

/**
 * Computes the version from the item itself, because timestamps of forges have a resolution of one second, and names
 * change without changing a timestamp.
 */
function withVersion(item: SourceItem): SourceItem {
  return { ...item, version: digestOf([MAPPING_VERSION, item], 22) };
}
