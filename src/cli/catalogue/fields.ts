/** The fields that `--json a,b` may choose, per record of the contract. */
export const TOKEN_FIELDS = ["id", "name", "prefix", "createdAt", "lastUsedAt", "revokedAt", "scopes", "expiresAt"];
export const MEMBER_FIELDS = ["userId", "name", "email", "role", "joinedAt"];
export const INVITATION_FIELDS = ["id", "email", "role", "invitedBy", "createdAt", "expiresAt", "acceptedAt"];
export const ROOT_FIELDS = ["id", "path", "createdBy", "createdAt"];
export const WORKSPACE_FIELDS = ["id", "name", "timeZone", "secrets", "createdAt"];
export const MY_WORKSPACE_FIELDS = ["id", "name", "role", "joinedAt", "current"];
export const GROUP_FIELDS = ["id", "name", "ownerId", "isClosed", "memberIds", "groupIds", "createdAt"];
export const AUDIT_FIELDS =
  "seq at actorUserId credential action targetType targetId outcome ip requestId details".split(" ");
export const READ_FIELDS = ["seq", "at", "userId", "credential", "client", "tool", "kbIds"];
export const AUDIT_CHECK_FIELDS = ["isIntact", "entries", "brokenAt", "firstSeq", "lastSeq", "lastHash"];
export const GRANT_FIELDS = "id clientId clientName place scopes createdAt lastUsedAt expiresAt".split(" ");
export const USER_FIELDS = ["id", "name", "email", "emailVerifiedAt", "timeZone", "createdAt"];
export const LOGIN_FIELDS = "server profiles isCurrent email kind scopes store place adminUntil problem".split(" ");
export const SESSION_FIELDS = ["user", "workspace", "role", "scopes", "mode", "signup", "notices"];
export const CONNECTOR_FIELDS = [
  ..."id providerId name owner access config scope accountId connectionId schedule state stateReason nextRunAt".split(
    " ",
  ),
  ..."lastSync counts aclCheckedAt createdAt hasKey keyPrefix".split(" "),
];
export const SOURCE_FIELDS = "providerId name kinds auth configSchema acl capabilities available reason".split(" ");
export const SYNC_FIELDS =
  "id connectorId mode trigger state attempt counts progress resumeAt startedAt finishedAt problem skips".split(" ");
export const NODE_FIELDS = "id parent title kind selectable expandable count".split(" ");
export const FILE_FIELDS = [
  ..."kbId externalId key providerId source connectorId kind title url path mimeType size author status".split(" "),
  ..."assignees dueAt labels createdAt updatedAt indexedAt aclCheckedAt indexState textState fields".split(" "),
];
export const FILE_COUNT_FIELDS = "source providerId kind indexed unsearchable".split(" ");
export const RESULT_FIELDS = [
  ..."kbId providerId source url title kind snippet highlights updatedAt indexedAt author status".split(" "),
  ..."assignees dueAt path section sectionUrl fields".split(" "),
];
export const ENTITY_FIELDS = "entityId type name aliases email login claimed providers itemCount lastSeenAt".split(" ");
export const ACCESS_FIELDS = "kbId userId isAllowed reason title connectorId lists".split(" ");
