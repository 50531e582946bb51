import { byId, idSchema, nextCursor, PageQuery, Role, Scope, Timestamp } from "./common.ts";
import { answer, del, get, post, z } from "./route.ts";
import { Password } from "./session.ts";

/** An OAuth client that a person authorized. */
export const Grant = z
  .object({
    id: idSchema("grant"),
    clientId: z.string(),
    clientName: z.string(),
    /** When the document at the client's identifier was last read; null for a registered client. */
    documentReadAt: Timestamp.nullable(),
    /** Where the client is redirected: a host, or "this computer". */
    place: z.string(),
    scopes: z.array(Scope),
    createdAt: Timestamp,
    lastUsedAt: Timestamp.nullable(),
    expiresAt: Timestamp,
  })
  .openapi("Grant");
export type Grant = z.infer<typeof Grant>;

/** The request that a person approves or denies before a client gets access. Source: S27, S33. */
export const ConsentRequest = z
  .object({
    client: z.object({
      id: z.string(),
      name: z.string(),
      /** The host that receives the answer; null for a device. */
      host: z.string().nullable(),
      /** Whether the answer goes to an app on the person's own computer. */
      isLocal: z.boolean(),
      /** The client's own page; shown as text only. */
      uri: z.string().nullable(),
      /** When the document at the client's identifier was last read; null for a registered client. */
      documentReadAt: Timestamp.nullable(),
      /** True for `kb-cli`, which ships with this server. Every other client's name is only its own claim. */
      isOurs: z.boolean(),
    }),
    scopes: z.array(Scope),
    workspaces: z.array(z.object({ id: idSchema("workspace"), name: z.string(), role: Role })),
    currentWorkspaceId: idSchema("workspace"),
    /** Whether the password must be entered again, because `kb:admin` is requested. */
    needsPassword: z.boolean(),
    /** Proves that the page was made for this session; must be sent back with the decision. */
    csrf: z.string(),
    expiresAt: Timestamp,
    /** For a device: where the device sent its request from. */
    askedFrom: z.string().nullable(),
  })
  .openapi("ConsentRequest");
export type ConsentRequest = z.infer<typeof ConsentRequest>;

/** The answer to a `ConsentRequest`. */
export const ConsentDecision = z.object({
  csrf: z.string().min(1).max(200),
  decision: z.enum(["allow", "deny"]),
  workspaceId: idSchema("workspace").optional(),
  password: Password.optional(),
});
export type ConsentDecision = z.infer<typeof ConsentDecision>;

/** The code that a device shows and a person types. Case, dashes and spaces don't matter. */
const UserCode = z.string().trim().min(4).max(20);

const uid = { uid: z.string().min(1).max(100) };

export const grantRoutes = {
  list: get("/api/grants", "List the OAuth clients that you allowed in this workspace, newest first", {
    query: PageQuery,
    200: answer("A page", { grants: z.array(Grant), nextCursor }),
  }),
  revoke: del("/api/grants/{id}", "Revoke a client's access; its tokens stop working at once", {
    params: byId("grant"),
    204: { description: "Its tokens no longer work" },
  }),
};

/** Routes of the consent page and the device page. The pages are at `/oauth/consent/{uid}` and `/oauth/device`. */
export const consentRoutes = {
  show: get("/oauth/consent/{uid}/request", "Get the access that a client asks for", {
    params: uid,
    200: answer("The request to decide on", ConsentRequest),
    problems: ["consent_invalid"],
  }),
  decide: post("/oauth/consent/{uid}/decision", "Allow or deny a client", {
    params: uid,
    body: ConsentDecision,
    200: answer("Where the browser goes next", { redirectTo: z.string() }),
    problems: ["consent_invalid", "password_needed", "sign_in_failed", "role_too_low"],
  }),
  findDevice: post("/oauth/device/request", "Get the access that the device with this code asks for", {
    body: z.object({ userCode: UserCode }),
    200: answer("The request to decide on", ConsentRequest),
    problems: ["consent_invalid"],
  }),
  decideDevice: post("/oauth/device/decision", "Allow or deny a device", {
    body: ConsentDecision.extend({ userCode: UserCode }),
    204: { description: "Decided" },
    problems: ["consent_invalid", "password_needed", "sign_in_failed", "role_too_low"],
  }),
};
