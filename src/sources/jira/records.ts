import { flag, maybe, text, count, mimeType } from "#sources/lenient.ts";
import { z } from "zod";
import { Id, Instant } from "#sources/atlassian/parse.ts";
import { idAt, listed, many } from "#sources/listed.ts";

/** A user. A Cloud user has an `accountId`. A Data Center user has a `key` that never changes and a `name` that can. */
export const UserRecord = z
  .object({
    accountId: text,
    accountType: text,
    key: text,
    name: text,
    displayName: text,
    emailAddress: text,
    active: z.boolean().catch(false),
    timeZone: text,
  })
  .transform(({ accountId, key, ...more }) => ({ ...more, id: accountId ?? key }));
export type UserRecord = z.infer<typeof UserRecord>;

const user = UserRecord.nullish().catch(undefined);

export const ProjectRecord = z.object({
  id: Id,
  key: z.string().min(1),
  name: z.string().catch(""),
  projectTypeKey: text,
  simplified: flag,
  archived: flag,
  lead: user,
});
export type ProjectRecord = z.infer<typeof ProjectRecord>;

export const Projects = listed(ProjectRecord, idAt("id", Id));
export const ProjectPage = z.object({
  values: Projects,
  total: z.number().optional(),
  isLast: z.boolean().optional(),
});

/** A holder of a permission or a security level. */
export const HolderRecord = z.object({
  type: z.string().catch(""),
  parameter: text,
  value: text,
  user: user,
  group: maybe(z.object({ name: text, groupId: text })),
});
export type HolderRecord = z.infer<typeof HolderRecord>;

export const PermissionScheme = z.object({
  permissions: many(z.object({ permission: z.string(), holder: HolderRecord })),
});

export const SecurityScheme = z.object({ id: Id, levels: many(z.object({ id: Id })) });
export type SecurityScheme = z.infer<typeof SecurityScheme>;

export const LevelMembers = z.object({
  values: listed(z.object({ issueSecurityLevelId: Id, holder: HolderRecord })),
  total: z.number().optional(),
  isLast: z.boolean().optional(),
});

/** Role names with the URLs of the roles. The last part of a URL is the role's id. */
export const RoleLinks = z.record(z.string(), z.string());

const ActorRecord = z.object({
  type: z.string(),
  name: text,
  actorUser: maybe(z.object({ accountId: text, key: text, name: text })),
  actorGroup: maybe(z.object({ name: text, groupId: text })),
});
export type ActorRecord = z.infer<typeof ActorRecord>;
export const RoleRecord = z.object({ actors: many(ActorRecord) });

export const ApplicationRoles = many(
  z.object({
    key: z.string().min(1),
    groups: many(z.string()).optional(),
    groupDetails: many(z.object({ groupId: text, name: text })).optional(),
  }),
);

export const MemberPage = z.object({
  values: listed(UserRecord),
  total: z.number().optional(),
  isLast: z.boolean().optional(),
});

const Named = z.object({ name: z.string() }).nullish().catch(undefined);

const CommentRecord = z.object({
  id: Id,
  author: user,
  body: z.unknown().optional(),
  created: Instant,
  updated: Instant,
  jsdPublic: flag,
  /** A value that can't be parsed still counts as a restriction. */
  visibility: z
    .object({ type: text, value: text, identifier: text })
    .nullish()
    .catch({ type: undefined, value: undefined, identifier: undefined }),
});
export type CommentRecord = z.infer<typeof CommentRecord>;
export const CommentPage = z.object({ comments: listed(CommentRecord, idAt("id", Id)), total: z.number() });

const AttachmentRecord = z.object({
  id: Id,
  filename: z.string().catch(""),
  author: user,
  created: Instant,
  size: count,
  mimeType,
  content: text,
});
export type AttachmentRecord = z.infer<typeof AttachmentRecord>;

/** Fields are parsed one by one, so that an issue with a malformed field is still an issue. */
const IssueFields = z.looseObject({
  /** An issue without a known project can't be parsed. */
  project: z.object({ id: Id }),
  summary: text,
  description: z.unknown().optional(),
  status: z
    .object({ name: z.string(), statusCategory: z.object({ key: z.string() }).nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
  resolution: Named,
  priority: Named,
  issuetype: Named,
  labels: maybe(many(z.string())),
  components: maybe(many(z.object({ name: z.string() }))),
  fixVersions: maybe(many(z.object({ name: z.string() }))),
  assignee: user,
  reporter: user,
  creator: user,
  duedate: Instant,
  created: Instant,
  updated: Instant,
  archiveddate: z.unknown().optional(),
  parent: z.object({ key: z.string() }).nullish().catch(undefined),
  security: z.unknown().optional(),
  issuerestriction: z.unknown().optional(),
  attachment: z.array(AttachmentRecord).optional(),
  comment: maybe(z.object({ comments: z.array(CommentRecord), total: z.number().optional() })),
});

export const IssueRecord = z.object({ id: Id, key: z.string().min(1), fields: IssueFields });
export type IssueRecord = z.infer<typeof IssueRecord>;

const Issues = listed(IssueRecord, idAt("id", Id));
export const CloudSearch = z.object({
  issues: Issues,
  nextPageToken: z.string().nullish(),
  isLast: z.boolean().nullish(),
});
export const ServerSearch = z.object({ issues: Issues, total: z.number() });
export const Permissions = z.object({
  permissions: z.record(z.string(), maybe(z.object({ havePermission: z.boolean() }))),
});
export const ServerInfo = z.object({ deploymentType: text, baseUrl: text });
