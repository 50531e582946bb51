import { z } from "zod";
import { idAt, listed } from "#sources/listed.ts";

/** The fields of GitHub's REST API that are read here. Source: https://docs.github.com/rest */

const Id = z.number().int().positive();
const Instant = z.string().transform((text, context) => {
  const at = Date.parse(text);
  if (Number.isNaN(at)) context.addIssue({ code: "custom", message: "It isn't a time." });
  return at;
});
/** Reads the id of a comment or review as a part of a thread. */
export function partIdAt(kind: "c" | "r" | "v"): z.ZodType<string> {
  return idAt(
    "id",
    Id.transform((id) => `${kind}${id}`),
  );
}

const OptionalInstant = Instant.nullish().catch(undefined);

export const UserRecord = z.object({ id: Id, login: z.string().min(1), type: z.string().nullish() });
export type UserRecord = z.infer<typeof UserRecord>;

export const CollaboratorRecord = UserRecord.extend({
  permissions: z.object({ pull: z.boolean().nullish() }).nullish(),
});

export const PersonRecord = UserRecord.extend({ name: z.string().nullish(), suspended_at: z.string().nullish() });
export type PersonRecord = z.infer<typeof PersonRecord>;

export const RepositoryRecord = z.object({
  id: Id,
  node_id: z.string().nullish(),
  full_name: z.string().regex(/^[^/]+\/[^/]+$/),
  owner: UserRecord,
  private: z.boolean(),
  visibility: z.string().nullish(),
  default_branch: z.string().nullish(),
  has_issues: z.boolean().nullish(),
});
export type RepositoryRecord = z.infer<typeof RepositoryRecord>;
export const Repositories = listed(RepositoryRecord, idAt("id", Id.transform(String)));

/** A label. In old data, labels are only names. */
const LabelRecord = z.union([
  z.object({ id: Id, name: z.string() }),
  z.string().transform((name) => ({ id: undefined, name })),
]);

export const IssueRecord = z.object({
  number: z.number().int().positive(),
  node_id: z.string().nullish(),
  title: z.string(),
  body: z.string().nullish(),
  user: UserRecord.nullish(),
  labels: z.array(LabelRecord).nullish(),
  assignees: z.array(UserRecord).nullish(),
  milestone: z.object({ title: z.string(), due_on: OptionalInstant }).nullish(),
  state: z.string(),
  draft: z.boolean().nullish(),
  pull_request: z.object({ merged_at: z.string().nullish() }).nullish(),
  created_at: Instant,
  updated_at: Instant,
});
export type IssueRecord = z.infer<typeof IssueRecord>;
export const Issues = listed(IssueRecord, idAt("number", Id.transform(String)));

export const CommentRecord = z.object({
  id: Id,
  body: z.string().nullish(),
  user: UserRecord.nullish(),
  issue_url: z.string(),
  html_url: z.string(),
  created_at: Instant,
  updated_at: Instant,
});
export type CommentRecord = z.infer<typeof CommentRecord>;
export const Comments = listed(CommentRecord, partIdAt("c"));

export const ReviewCommentRecord = z.object({
  id: Id,
  body: z.string().nullish(),
  user: UserRecord.nullish(),
  pull_request_url: z.string(),
  path: z.string().nullish(),
  in_reply_to_id: Id.nullish(),
  created_at: Instant,
  updated_at: Instant,
});
export type ReviewCommentRecord = z.infer<typeof ReviewCommentRecord>;
export const ReviewComments = listed(ReviewCommentRecord, partIdAt("v"));

export const ReviewRecord = z.object({
  id: Id,
  body: z.string().nullish(),
  user: UserRecord.nullish(),
  state: z.string(),
  /** Absent until the review is submitted. */
  submitted_at: OptionalInstant,
});
export type ReviewRecord = z.infer<typeof ReviewRecord>;

export const OrganizationRecord = z.object({
  id: Id,
  login: z.string(),
  /** Present only if the token has permission to see it. */
  default_repository_permission: z.string().nullish(),
});

export const TeamRecord = z.object({
  id: Id,
  name: z.string(),
  permission: z.string().nullish(),
  permissions: z.object({ pull: z.boolean().nullish() }).nullish(),
});
export type TeamRecord = z.infer<typeof TeamRecord>;

export const TeamRepositoryRecord = z.object({
  id: Id,
  permissions: z.object({ pull: z.boolean().nullish() }).nullish(),
});
