/** The fields that `--json a,b` may choose, per record of the contract. */
export const TOKEN_FIELDS = ["id", "name", "prefix", "createdAt", "lastUsedAt", "revokedAt", "scopes", "expiresAt"];
export const MEMBER_FIELDS = ["userId", "name", "email", "role", "joinedAt"];
export const INVITATION_FIELDS = ["id", "email", "role", "invitedBy", "createdAt", "expiresAt", "acceptedAt"];
export const ROOT_FIELDS = ["id", "path", "createdBy", "createdAt"];
export const SESSION_FIELDS = ["user", "workspace", "role", "scopes", "mode", "signup"];
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
