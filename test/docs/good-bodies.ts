/** A body that the server takes, for every operation of the document with a JSON body. */
const ID = (prefix: string) => `${prefix}_2222222222222222`;
const signIn = { email: "anna@acme.test", password: "blue kettle morning" };
const who = { ...signIn, name: "Anna Berger", timeZone: "Europe/Vienna" };
const decision = { csrf: "abc", decision: "allow", workspaceId: ID("wsp"), password: "blue kettle morning" };
const access = { visibility: "members", memberIds: [ID("usr")], groupIds: [ID("grp")] };

export const GOOD_BODIES: Readonly<Record<string, unknown>> = {
  "POST /api/session": { ...signIn, timeZone: "UTC" },
  "POST /api/onboarding": { ...who, setupCode: "2222-2222", workspaceName: "Ácme & Söhne 🌱" },
  "POST /api/invitations/accept": { ...who, token: "abc" },
  "POST /api/invitations/check": { token: "abc" },
  "POST /api/session/workspace": { workspaceId: ID("wsp") },
  "POST /api/sign-up": { ...who, workspaceName: "Acme" },
  "POST /api/password-reset": { email: "admin@localhost" },
  "POST /api/password-reset/check": { token: "abc" },
  "POST /api/password-reset/confirm": { token: "abc", password: "blue kettle morning" },
  "POST /api/email-verification/confirm": { token: "abc" },
  "PATCH /api/profile": { name: "Bo O'Neill", timeZone: null },
  "POST /api/profile/password": { currentPassword: "a", newPassword: "blue kettle morning" },
  "POST /api/profile/email": signIn,
  "POST /api/sso/link": { password: "blue kettle morning" },
  "POST /api/workspaces": { name: "Acme", timeZone: "Europe/Vienna" },
  "POST /oauth/consent/{uid}/decision": decision,
  "POST /oauth/device/request": { userCode: "ABCD-EFGH" },
  "POST /oauth/device/decision": { ...decision, userCode: "ABCD-EFGH" },
  "POST /api/api-tokens": { name: "Cursor", scopes: ["mcp:read"], expiresInDays: 90 },
  "PATCH /api/workspace": { name: "Acme", timeZone: "UTC", secrets: "mask" },
  "PATCH /api/workspace/members/{id}": { role: "admin" },
  "POST /api/workspace/invitations": { email: "bo@acme.test", role: "member" },
  "POST /api/groups": { name: "docs", memberIds: [ID("usr")], groupIds: [] },
  "PATCH /api/groups/{id}": { name: "docs" },
  "POST /api/local-roots": { path: "/srv/documents" },
  "POST /api/connectors": {
    providerId: "filesystem",
    name: "Handbook",
    config: { root: "/srv/documents" },
    scope: { include: ["*.md"], exclude: [] },
    access,
    schedule: { everyMinutes: 30 },
  },
  "POST /api/connectors/browse": { providerId: "filesystem", config: { root: "/srv" }, parent: null },
  "PATCH /api/connectors/{id}": { name: "Handbook", schedule: null, access },
  "PATCH /api/connectors/{id}/scope": { include: ["docs/"], exclude: ["*.log"] },
  "POST /api/connectors/{id}/syncs": { mode: "full" },
  "POST /api/connectors/{id}/removals/approve": { kbIds: [ID("kbi")] },
  "POST /api/connectors/{id}/removals/reject": {},
  "POST /api/connectors/{id}/rotate-key": { overlapSeconds: 600 },
  "POST /api/connectors/{id}/uploads": { mode: "set", name: "nightly", resume: true },
  "POST /api/connectors/{id}/uploads/{uploadId}/end": { lines: 12 },
  "POST /mcp": { jsonrpc: "2.0", id: 1, method: "tools/list" },
  "POST /oauth/register": { redirect_uris: ["http://127.0.0.1/callback"], client_name: "Test" },
  "POST /oauth/authorize": { uid: "abc", csrf: "abc", decision: "allow" },
};
