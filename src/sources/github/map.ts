import { defined } from "#core/defined.ts";
import type { ForgePart, ForgeThread, ForgeUser } from "#sources/forge/contract.ts";
import type { ReviewNode } from "./graphql.ts";
import type { CommentRecord, IssueRecord, ReviewCommentRecord, ReviewRecord, UserRecord } from "./records.ts";

export function toThread(record: IssueRecord): ForgeThread {
  const { number, title, body, labels, assignees, milestone, pull_request: pull, user } = record;
  const merged = pull?.merged_at ?? undefined;
  const dueAt = milestone?.due_on ?? undefined;
  return {
    number,
    isPull: isPull(record),
    title,
    body: body ?? "",
    state: merged !== undefined ? "merged" : record.state === "open" ? "open" : "closed",
    isDraft: record.draft === true,
    labels: (labels ?? []).map(({ id, name }) => ({ id: id === undefined ? `=${name}` : String(id), name })),
    assignees: (assignees ?? []).map(toUser),
    ...(user && { author: toUser(user) }),
    ...(milestone && { milestone: milestone.title }),
    ...defined({ dueAt }),
    createdAt: record.created_at,
    updatedAt: record.updated_at,
  };
}

export function isPull({ pull_request: pull }: Pick<IssueRecord, "pull_request">): boolean {
  return pull !== null && pull !== undefined;
}

/** Converts a comment; undefined if it belongs to nothing that has a number. */
export function toComment(record: CommentRecord): ForgePart | undefined {
  const number = numberOf(record.issue_url);
  if (number === undefined) return undefined;
  return {
    id: `c${record.id}`,
    number,
    isPull: /\/pull\/\d+(?:#|$)/.test(record.html_url),
    body: record.body ?? "",
    anchor: `issuecomment-${record.id}`,
    ...(record.user && { author: toUser(record.user) }),
    createdAt: record.created_at,
    updatedAt: record.updated_at,
  };
}

export function toReviewComment(record: ReviewCommentRecord): ForgePart | undefined {
  const number = numberOf(record.pull_request_url);
  if (number === undefined) return undefined;
  const of = record.in_reply_to_id ?? undefined;
  return {
    id: `v${record.id}`,
    number,
    isPull: true,
    body: record.body ?? "",
    anchor: `discussion_r${record.id}`,
    ...(record.user && { author: toUser(record.user) }),
    ...(record.path && { file: record.path }),
    ...(of !== undefined && { of: `v${of}` }),
    createdAt: record.created_at,
    updatedAt: record.updated_at,
  };
}

/**
 * Converts a review; undefined if it isn't submitted, or if it only contains comments on the code, which are reported
 * separately.
 */
export function toReview(record: ReviewRecord, number: number): ForgePart | undefined {
  const verdict = VERDICTS.get(record.state);
  const at = record.submitted_at ?? undefined;
  const body = record.body ?? "";
  if (verdict === undefined || at === undefined || (verdict === "commented" && body.trim() === "")) return undefined;
  return {
    id: `r${record.id}`,
    number,
    isPull: true,
    body,
    verdict,
    anchor: `pullrequestreview-${record.id}`,
    ...(record.user && { author: toUser(record.user) }),
    createdAt: at,
    updatedAt: at,
  };
}

/**
 * Converts a review into the form of REST; undefined if it has no usable id. GraphQL's numeric id has too small a type.
 */
export function toReviewRecord({ url, body, state, submittedAt, author }: ReviewNode): ReviewRecord | undefined {
  const [, id] = /#pullrequestreview-(\d{1,15})$/.exec(url) ?? [];
  const at = Date.parse(submittedAt ?? "");
  if (id === undefined) return undefined;
  const login = author?.kind === "Bot" ? `${author.login}[bot]` : author?.login;
  const user = author?.databaseId && login !== undefined ? { id: author.databaseId, login } : undefined;
  return { id: Number(id), body, state, ...(user && { user }), ...(!Number.isNaN(at) && { submitted_at: at }) };
}

const VERDICTS: ReadonlyMap<string, NonNullable<ForgePart["verdict"]>> = new Map([
  ["APPROVED", "approved"],
  ["CHANGES_REQUESTED", "changes requested"],
  ["COMMENTED", "commented"],
  ["DISMISSED", "dismissed"],
] as const);

function numberOf(url: string): number | undefined {
  const [, digits] = /\/(\d{1,10})$/.exec(url) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function toUser({ id, login }: Pick<UserRecord, "id" | "login">): ForgeUser {
  return { id: String(id), login };
}
