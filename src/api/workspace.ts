import { byId, idSchema, nextCursor, PageQuery, Role, Timestamp } from "./common.ts";
import { Opening } from "./openings.ts";
import { answer, del, get, patch, post, z } from "./route.ts";
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

/** A group, whose members are people and groups. Only its owner can change a closed group; `ownerId` is null if the owner left. */
export const Group = z
  .object({
    id: idSchema("group"),
    name: z.string(),
    ownerId: idSchema("user").nullable(),
    isClosed: z.boolean(),
    memberIds: z.array(idSchema("user")),
    groupIds: z.array(idSchema("group")),
    createdAt: Timestamp,
    /**
     * Changes by others that gave more people access through the group in the last 90 days, newest first, at most 20. Present only when a single
     * group is shown to its owner.
     */
    openedByOthers: z.array(Opening).optional(),
  })
  .openapi("Group");
export type Group = z.infer<typeof Group>;

/** A folder that the filesystem source may read. `id` is null for folders from the server's settings. */
export const LocalRoot = z
  .object({
    id: idSchema("root").nullable(),
    path: z.string(),
    createdBy: idSchema("user").nullable(),
    createdAt: Timestamp.nullable(),
  })
  .openapi("LocalRoot");
export type LocalRoot = z.infer<typeof LocalRoot>;

/** An instance of an app whose users may be members here: the app and the instance's base URL (origin and path). */
export const Instance = z
  .object({
    providerId: z.string(),
    baseUrl: z.string(),
    /** `operator` for instances from the server's settings, which a workspace can't remove. */
    setBy: z.enum(["workspace", "operator"]),
  })
  .openapi("Instance");
export type Instance = z.infer<typeof Instance>;

/** A workspace with the settings that decide which source users are its members. */
export const WorkspaceSettings = Workspace.extend({
  instances: z.array(Instance),
  identityDomains: z.array(z.string()),
  /** How many hours permissions from sources are trusted. */
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

const GroupMembers = z.array(idSchema("user")).max(10_000);
const GroupGroups = z.array(idSchema("group")).max(1_000);

export const PatchGroupBody = z.object({
  name: PersonName.optional(),
  memberIds: GroupMembers.optional(),
  groupIds: GroupGroups.optional(),
  isClosed: z.boolean().optional(),
  ownerId: idSchema("user").optional(),
});
export type PatchGroupBody = z.infer<typeof PatchGroupBody>;

const userId = byId("user");
const groupId = byId("group");

export const workspaceRoutes = {
  get: get("/api/workspace", "Get the current workspace", {
    200: answer("The workspace", { workspace: WorkspaceSettings }),
  }),
  update: patch(
    "/api/workspace",
    "Update the workspace's name, time zone, handling of secrets in texts or registered instances (admins only), or its identity domains (owners only)",
    {
      body: z.object({
        name: PersonName.optional(),
        timeZone: TimeZone.optional(),
        secrets: SecretsSetting.optional(),
        /** The complete list of instances. Instances that are omitted are no longer registered. */
        instances: z.array(InstanceInput).max(100).optional(),
        /** The complete list of domains; only the owner can change it. */
        identityDomains: z.array(IdentityDomain).max(100).optional(),
        /** How many hours permissions from sources are trusted. Items that weren't checked within this time are hidden. */
        maxAclAgeHours: z.number().int().min(1).max(720).optional(),
      }),
      200: answer("The workspace", { workspace: WorkspaceSettings }),
    },
  ),
  listMembers: get("/api/workspace/members", "List members in the order they joined", {
    query: PageQuery,
    200: answer("A page", { members: z.array(Member), nextCursor }),
  }),
  getMember: get("/api/workspace/members/{id}", "One member", {
    params: userId,
    200: answer("The member", { member: Member }),
  }),
  updateMember: patch("/api/workspace/members/{id}", "Change a member's role (owners only)", {
    params: userId,
    body: z.object({ role: Role }),
    200: answer("The member", { member: Member }),
    problems: ["role_too_low", "last_owner"],
  }),
  removeMember: del(
    "/api/workspace/members/{id}",
    "Remove a member (admins only), or leave; all of that member's credentials are revoked",
    {
      params: userId,
      204: { description: "Removed" },
      problems: ["role_too_low", "last_owner"],
    },
  ),
  resetMember: post(
    "/api/workspace/members/{id}/password-reset",
    "Create a password reset link for a member (admins for members, owners for admins)",
    {
      params: userId,
      201: answer("The link, unless it was emailed", { url: z.string().nullable(), expiresAt: Timestamp }),
      problems: ["role_too_low", "mail_failed"],
    },
  ),
};

export const invitationRoutes = {
  list: get("/api/workspace/invitations", "List invitations that were not withdrawn, newest first (admins only)", {
    query: PageQuery,
    200: answer("A page", { invitations: z.array(Invitation), nextCursor }),
  }),
  create: post(
    "/api/workspace/invitations",
    "Invite someone; the link is emailed if the server sends email, otherwise it is shown only once (admins only; only owners can invite admins)",
    {
      body: z.object({ email: Email, role: z.enum(["admin", "member"]) }),
      201: answer("The invitation, and its link unless it was emailed", {
        invitation: Invitation,
        url: z.string().nullable(),
      }),
      problems: ["role_too_low", "already_member", "quota_reached", "mail_failed"],
    },
  ),
  revoke: del("/api/workspace/invitations/{id}", "Withdraw an invitation (admins only)", {
    params: byId("invitation"),
    204: { description: "Withdrawn; the link no longer works" },
    problems: ["role_too_low"],
  }),
};

export const groupRoutes = {
  list: get("/api/groups", "List groups, oldest first", {
    query: PageQuery,
    200: answer("A page", { groups: z.array(Group), nextCursor }),
  }),
  get: get("/api/groups/{id}", "One group", {
    params: groupId,
    200: answer("The group", { group: Group }),
  }),
  create: post("/api/groups", "Create a group that you own (admins only)", {
    body: z.object({
      name: PersonName,
      memberIds: GroupMembers.default([]),
      groupIds: GroupGroups.default([]),
      isClosed: z.boolean().default(false),
    }),
    201: answer("The group", { group: Group }),
    problems: ["unknown_member", "unknown_group", "group_cycle"],
  }),
  update: patch(
    "/api/groups/{id}",
    "Update a group's name, members or owner. Its owner can do this, and any admin if the group is open",
    {
      params: groupId,
      body: PatchGroupBody,
      200: answer("The group", { group: Group }),
      problems: ["unknown_member", "unknown_group", "group_cycle"],
    },
  ),
  remove: del(
    "/api/groups/{id}",
    "Delete a group; members lose the access it gave them. Its owner can do this, and any admin if the group is open",
    {
      params: groupId,
      204: { description: "Deleted" },
    },
  ),
};

export const localRootRoutes = {
  list: get(
    "/api/local-roots",
    "List the server's folders that connectors can read (owners only, with proof that they are the operator)",
    {
      200: answer("All allowed folders", { roots: z.array(LocalRoot), nextCursor }),
    },
  ),
  add: post(
    "/api/local-roots",
    "Allow connectors to read a folder (owners only, with proof that they are the operator)",
    {
      body: z.object({ path: z.string().min(1).max(4096) }),
      201: answer("The folder with its real path", { root: LocalRoot }),
      problems: ["root_not_allowed"],
    },
  ),
  remove: del("/api/local-roots/{id}", "Stop allowing a folder (owners only, with proof that they are the operator)", {
    params: byId("root"),
    204: { description: "The folder is no longer allowed" },
  }),
};
