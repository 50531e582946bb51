import { idSchema, PageCursor, PageLimit, Role, Timestamp } from "./common.ts";
import { Opening } from "./openings.ts";
import { answer, body, createRoute, problemAnswer, problems, z } from "./route.ts";
import { Email, PersonName, SecretsSetting, TimeZone, Workspace } from "./session.ts";

export const Member = z
  .object({ userId: idSchema("user"), name: z.string(), email: z.string(), role: Role, joinedAt: Timestamp })
  .openapi("Member");
export type Member = z.infer<typeof Member>;

export const Invitation = z
  .object({
    id: idSchema("invitation"),
    email: z.string(),
    role: Role,
    invitedBy: idSchema("user"),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    acceptedAt: Timestamp.nullable(),
  })
  .openapi("Invitation");
export type Invitation = z.infer<typeof Invitation>;

/** Members and groups of a group; groups nest. Only its owner changes a closed one; `ownerId` is null if they left. */
export const Group = z
  .object({
    id: idSchema("group"),
    name: z.string(),
    ownerId: idSchema("user").nullable(),
    isClosed: z.boolean(),
    memberIds: z.array(idSchema("user")),
    groupIds: z.array(idSchema("group")),
    createdAt: Timestamp,
    /** Changes by others that opened access through it in 90 days, newest first, at most 20; only when a single group is shown to its owner. */
    openedByOthers: z.array(Opening).optional(),
  })
  .openapi("Group");
export type Group = z.infer<typeof Group>;

/** A folder that the filesystem source may read. `id` is null for those from the settings. */
export const LocalRoot = z
  .object({
    id: idSchema("root").nullable(),
    path: z.string(),
    createdBy: idSchema("user").nullable(),
    createdAt: Timestamp.nullable(),
  })
  .openapi("LocalRoot");
export type LocalRoot = z.infer<typeof LocalRoot>;

/** An instance of an app whose users may be members here: the app and its base URL, origin and path. */
export const Instance = z
  .object({
    providerId: z.string(),
    baseUrl: z.string(),
    /** `operator` for those from the server's settings, which a workspace can't remove. */
    setBy: z.enum(["workspace", "operator"]),
  })
  .openapi("Instance");
export type Instance = z.infer<typeof Instance>;

/** A workspace with its settings for who its members are at sources. */
export const WorkspaceSettings = Workspace.extend({
  instances: z.array(Instance),
  identityDomains: z.array(z.string()),
  /** How long permissions of sources are trusted. */
  maxAclAgeHours: z.number(),
}).openapi("WorkspaceSettings");
export type WorkspaceSettings = z.infer<typeof WorkspaceSettings>;

export const InstanceInput = z.strictObject({
  providerId: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "Expected the name of a source, such as gitea"),
  baseUrl: z.string().min(1).max(300).openapi({ example: "https://git.acme.test" }),
});
export type InstanceInput = z.infer<typeof InstanceInput>;

/** A domain of email addresses, in lower case. */
export const IdentityDomain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/, "Expected a domain such as acme.test");

export const PatchWorkspaceBody = z.object({
  name: PersonName.optional(),
  timeZone: TimeZone.optional(),
  secrets: SecretsSetting.optional(),
  /** The complete list: omitted ones are no longer registered. */
  instances: z.array(InstanceInput).max(100).optional(),
  /** The complete list (owner). */
  identityDomains: z.array(IdentityDomain).max(100).optional(),
  /** How long permissions of sources are trusted: items that weren't checked within it are hidden. */
  maxAclAgeHours: z.number().int().min(1).max(720).optional(),
});
export type PatchWorkspaceBody = z.infer<typeof PatchWorkspaceBody>;

export const PatchMemberBody = z.object({ role: Role });
export type PatchMemberBody = z.infer<typeof PatchMemberBody>;

export const InviteBody = z.object({ email: Email, role: z.enum(["admin", "member"]) });
export type InviteBody = z.infer<typeof InviteBody>;

const GroupMembers = z.array(idSchema("user")).max(10_000);
const GroupGroups = z.array(idSchema("group")).max(1_000);
export const CreateGroupBody = z.object({
  name: PersonName,
  memberIds: GroupMembers.default([]),
  groupIds: GroupGroups.default([]),
  isClosed: z.boolean().default(false),
});
export type CreateGroupBody = z.infer<typeof CreateGroupBody>;

export const PatchGroupBody = z.object({
  name: PersonName.optional(),
  memberIds: GroupMembers.optional(),
  groupIds: GroupGroups.optional(),
  isClosed: z.boolean().optional(),
  ownerId: idSchema("user").optional(),
});
export type PatchGroupBody = z.infer<typeof PatchGroupBody>;

export const AddRootBody = z.object({ path: z.string().min(1).max(4096) });
export type AddRootBody = z.infer<typeof AddRootBody>;

/** The query of a plain list. */
export const PageQuery = z.object({ limit: PageLimit, cursor: PageCursor.optional() });
export type PageQuery = z.infer<typeof PageQuery>;

const nextCursor = z.string().nullable();
const userId = z.object({ id: idSchema("user") });
const groupId = z.object({ id: idSchema("group") });

export const workspaceRoutes = {
  get: createRoute({
    method: "get",
    path: "/api/workspace",
    summary: "Get the current workspace",
    responses: { 200: answer("The workspace", z.object({ workspace: WorkspaceSettings })), default: problemAnswer },
  }),
  update: createRoute({
    method: "patch",
    path: "/api/workspace",
    summary:
      "Update the workspace's name, time zone, handling of secrets in texts or registered instances (admin), or its identity domains (owner)",
    request: { body: body(PatchWorkspaceBody) },
    responses: { 200: answer("The workspace", z.object({ workspace: WorkspaceSettings })), default: problemAnswer },
  }),
  listMembers: createRoute({
    method: "get",
    path: "/api/workspace/members",
    summary: "List members in the order they joined",
    request: { query: PageQuery },
    responses: { 200: answer("A page", z.object({ members: z.array(Member), nextCursor })), default: problemAnswer },
  }),
  getMember: createRoute({
    method: "get",
    path: "/api/workspace/members/{id}",
    summary: "One member",
    request: { params: userId },
    responses: { 200: answer("The member", z.object({ member: Member })), default: problemAnswer },
  }),
  updateMember: createRoute({
    method: "patch",
    path: "/api/workspace/members/{id}",
    summary: "Change a member's role (owner)",
    request: { params: userId, body: body(PatchMemberBody) },
    responses: {
      200: answer("The member", z.object({ member: Member })),
      default: problems("role_too_low", "last_owner"),
    },
  }),
  removeMember: createRoute({
    method: "delete",
    path: "/api/workspace/members/{id}",
    summary: "Remove a member (admin), or leave; all of that member's credentials end",
    request: { params: userId },
    responses: { 204: { description: "Removed" }, default: problems("role_too_low", "last_owner") },
  }),
  resetMember: createRoute({
    method: "post",
    path: "/api/workspace/members/{id}/password-reset",
    summary: "Create a password reset link for a member (admin for members, owner for admins)",
    request: { params: userId },
    responses: {
      201: answer("The link, unless it was emailed", z.object({ url: z.string().nullable(), expiresAt: Timestamp })),
      default: problems("role_too_low", "mail_failed"),
    },
  }),
};

export const invitationRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/workspace/invitations",
    summary: "List invitations that were not withdrawn, newest first (admin)",
    request: { query: PageQuery },
    responses: {
      200: answer("A page", z.object({ invitations: z.array(Invitation), nextCursor })),
      default: problemAnswer,
    },
  }),
  create: createRoute({
    method: "post",
    path: "/api/workspace/invitations",
    summary:
      "Invite someone; the link is emailed if the server sends email, otherwise it is shown only once (admin; only an owner invites admins)",
    request: { body: body(InviteBody) },
    responses: {
      201: answer(
        "The invitation, and its link unless it was emailed",
        z.object({ invitation: Invitation, url: z.string().nullable() }),
      ),
      default: problems("role_too_low", "already_member", "quota_reached", "mail_failed"),
    },
  }),
  revoke: createRoute({
    method: "delete",
    path: "/api/workspace/invitations/{id}",
    summary: "Withdraw an invitation (admin)",
    request: { params: z.object({ id: idSchema("invitation") }) },
    responses: { 204: { description: "Withdrawn; the link no longer works" }, default: problems("role_too_low") },
  }),
};

export const groupRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/groups",
    summary: "List groups, oldest first",
    request: { query: PageQuery },
    responses: { 200: answer("A page", z.object({ groups: z.array(Group), nextCursor })), default: problemAnswer },
  }),
  get: createRoute({
    method: "get",
    path: "/api/groups/{id}",
    summary: "One group",
    request: { params: groupId },
    responses: { 200: answer("The group", z.object({ group: Group })), default: problemAnswer },
  }),
  create: createRoute({
    method: "post",
    path: "/api/groups",
    summary: "Create a group that you own (admin)",
    request: { body: body(CreateGroupBody) },
    responses: {
      201: answer("The group", z.object({ group: Group })),
      default: problems("unknown_member", "unknown_group", "group_cycle"),
    },
  }),
  update: createRoute({
    method: "patch",
    path: "/api/groups/{id}",
    summary: "Update a group's name, members or owner (its owner; an admin while it is open)",
    request: { params: groupId, body: body(PatchGroupBody) },
    responses: {
      200: answer("The group", z.object({ group: Group })),
      default: problems("unknown_member", "unknown_group", "group_cycle"),
    },
  }),
  remove: createRoute({
    method: "delete",
    path: "/api/groups/{id}",
    summary: "Delete a group; what it opened closes (its owner; an admin while it is open)",
    request: { params: groupId },
    responses: { 204: { description: "Deleted" }, default: problemAnswer },
  }),
};

export const localRootRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/local-roots",
    summary: "List the server's folders that connectors can read (owner, with the operator's proof)",
    responses: {
      200: answer("All of them", z.object({ roots: z.array(LocalRoot), nextCursor })),
      default: problemAnswer,
    },
  }),
  add: createRoute({
    method: "post",
    path: "/api/local-roots",
    summary: "Allow connectors to read a folder (owner, with the operator's proof)",
    request: { body: body(AddRootBody) },
    responses: {
      201: answer("The folder with its real path", z.object({ root: LocalRoot })),
      default: problems("root_not_allowed"),
    },
  }),
  remove: createRoute({
    method: "delete",
    path: "/api/local-roots/{id}",
    summary: "Stop allowing a folder (owner, with the operator's proof)",
    request: { params: z.object({ id: idSchema("root") }) },
    responses: { 204: { description: "No longer allowed" }, default: problemAnswer },
  }),
};
