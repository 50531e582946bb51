import { flag, text, maybe } from "#sources/lenient.ts";
import { z } from "zod";
import { idAt, listed, many } from "#sources/listed.ts";

const time = maybe(z.iso.datetime({ offset: true }));
const FILE_ID = /^[\w-]{3,200}$/;
const Id = z.string().regex(FILE_ID);
const nextPageToken = z.string().min(1).optional();

/** Whether a text can be the id of a file. Other texts are never used in a URL path. */
export function isFileId(id: string): boolean {
  return FILE_ID.test(id);
}

export const Permission = z.object({
  id: z.string().min(1).max(200),
  type: z.string(),
  role: z.string(),
  emailAddress: text,
  displayName: text,
  domain: text,
  allowFileDiscovery: flag,
  /** Kept unchanged. A value that can't be parsed as a time counts as expired. */
  expirationTime: z.unknown().optional(),
  deleted: flag,
  /** Kept unchanged. If the permission has a `view`, whatever its value, the permission isn't for the file itself. */
  view: z.unknown().optional(),
  permissionDetails: maybe(z.array(z.object({ inherited: flag }))),
});
export type Permission = z.infer<typeof Permission>;
export const PERMISSION_FIELDS =
  "id,type,role,emailAddress,displayName,domain,allowFileDiscovery,expirationTime,deleted,view,permissionDetails(inherited)";
export const Permissions = z.object({ permissions: many(Permission), nextPageToken });

const Person = maybe(z.object({ permissionId: text, displayName: text, emailAddress: text }));

export const DriveFile = z.object({
  id: Id,
  name: z.string().catch(""),
  mimeType: z.string().max(300).catch("application/octet-stream"),
  parents: z.array(Id).optional(),
  driveId: Id.optional(),
  trashed: flag,
  createdTime: time,
  modifiedTime: time,
  size: maybe(z.string().regex(/^\d{1,15}$/)),
  md5Checksum: text,
  webViewLink: text,
  owners: maybe(z.array(z.unknown()).transform(([first]) => Person.parse(first))),
  lastModifyingUser: Person,
  capabilities: maybe(z.object({ canDownload: flag })),
  /** A value that is neither true nor false counts as true, which closes the folder. */
  inheritedPermissionsDisabled: z.boolean().optional().catch(true),
  hasAugmentedPermissions: flag,
  clientEncryptionDetails: maybe(z.object({ encryptionState: text })),
  permissions: many(Permission).optional(),
});
export type DriveFile = z.infer<typeof DriveFile>;
export const FILE_FIELDS = `id,name,mimeType,parents,driveId,trashed,createdTime,modifiedTime,size,md5Checksum,webViewLink,owners(permissionId,displayName,emailAddress),lastModifyingUser(permissionId,displayName,emailAddress),capabilities(canDownload),inheritedPermissionsDisabled,hasAugmentedPermissions,clientEncryptionDetails(encryptionState),permissions(${PERMISSION_FIELDS})`;
export const Files = z.object({
  files: listed(DriveFile, idAt("id", Id)),
  incompleteSearch: z.boolean().optional(),
  nextPageToken,
});

export const SharedDrive = z.object({
  id: Id,
  name: z.string().catch(""),
  restrictions: z
    .object({
      domainUsersOnly: z.boolean().catch(true).optional(),
      driveMembersOnly: z.boolean().catch(true).optional(),
    })
    .optional()
    // A value that can't be parsed counts as restricted.
    .catch({ domainUsersOnly: true, driveMembersOnly: true }),
});
export type SharedDrive = z.infer<typeof SharedDrive>;
export const Drives = z.object({ drives: listed(SharedDrive, idAt("id", Id)), nextPageToken });

const Change = z.object({
  changeType: z.string().catch("file"),
  removed: flag,
  fileId: Id,
  file: maybe(DriveFile),
});
export const Changes = z.object({
  changes: listed(Change, idAt("fileId", Id)),
  nextPageToken,
  newStartPageToken: z.string().min(1).optional(),
});
export const Channel = z.object({
  resourceId: z.string().min(1),
  expiration: maybe(z.coerce.number()),
});
export const StartToken = z.object({ startPageToken: z.string().min(1) });

export const About = z.object({
  user: z.object({ permissionId: z.string().min(1), emailAddress: text, displayName: text }),
});
export type Me = z.infer<typeof About>["user"] & { /** The account's id outside of Drive. */ sub?: string };
export const UserInfo = z.object({ sub: maybe(z.string().min(1)) });
export const PermissionId = z.object({ id: z.string().min(1).max(200) });

export const Domains = z.object({
  domains: many(z.object({ domainName: z.string().min(1), verified: flag }))
    .optional()
    .default([]),
});
const DirectoryUser = z.object({
  id: z.string().min(1),
  primaryEmail: z.string().min(3),
  name: maybe(z.object({ fullName: text })),
  suspended: flag,
  archived: flag,
});
export type DirectoryUser = z.infer<typeof DirectoryUser>;
export const DirectoryUsers = z.object({ users: many(DirectoryUser).optional().default([]), nextPageToken });
const Member = z.object({ id: text, type: z.string().catch(""), email: text, status: text });
export const Members = z.object({ members: many(Member).optional().default([]), nextPageToken });

/** The reasons why a request was refused. */
export const Refusal = z.object({ error: z.object({ errors: z.array(z.object({ reason: text })).catch([]) }) });
