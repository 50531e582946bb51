import { idSchema, PageCursor, PageLimit, Role, Scope, Timestamp } from "./common.ts";
import { answer, body, createRoute, problemAnswer, problems, z } from "./route.ts";
import { Password } from "./session.ts";

/** An OAuth client that a person authorized. */
export const Grant = z
  .object({
    id: idSchema("grant"),
    clientId: z.string(),
    clientName: z.string(),
    /** When the document at the client's own identifier was last read; null for a registered client. */
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

/** The request that a person decides before a client gets access. Source: S27, S33. */
export const ConsentRequest = z
  .object({
    client: z.object({
      id: z.string(),
      name: z.string(),
      /** The host that the answer goes to; null for a device. */
      host: z.string().nullable(),
      /** The answer goes to an app on the person's own computer. */
      isLocal: z.boolean(),
      /** The client's own page, shown as text only. */
      uri: z.string().nullable(),
      /** When the document at the client's own identifier was last read; null for a registered client. */
      documentReadAt: Timestamp.nullable(),
      /** True for `kb-cli`, which ships with this server; every other name is the client's own claim. */
      isOurs: z.boolean(),
    }),
    scopes: z.array(Scope),
    workspaces: z.array(z.object({ id: idSchema("workspace"), name: z.string(), role: Role })),
    currentWorkspaceId: idSchema("workspace"),
    /** The password must be entered again, because `kb:admin` is requested. */
    needsPassword: z.boolean(),
    /** Proves that the page was made for this session; sent back with the decision. */
    csrf: z.string(),
    expiresAt: Timestamp,
    /** For a device: where its request came from. */
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

/** The code that a device shows and a person types: case, dashes and spaces don't matter. */
const UserCode = z.string().trim().min(4).max(20);

const uid = z.object({ uid: z.string().min(1).max(100) });

export const grantRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/grants",
    summary: "List the OAuth clients that you allowed in this workspace, newest first",
    request: { query: z.object({ limit: PageLimit, cursor: PageCursor.optional() }) },
    responses: {
      200: answer("A page", z.object({ grants: z.array(Grant), nextCursor: z.string().nullable() })),
      default: problemAnswer,
    },
  }),
  revoke: createRoute({
    method: "delete",
    path: "/api/grants/{id}",
    summary: "Revoke a client's access; its tokens stop working at once",
    request: { params: z.object({ id: idSchema("grant") }) },
    responses: { 204: { description: "Its tokens no longer work" }, default: problemAnswer },
  }),
};

/** Routes of the consent page and the device page. The pages are at `/oauth/consent/{uid}` and `/oauth/device`. */
export const consentRoutes = {
  show: createRoute({
    method: "get",
    path: "/oauth/consent/{uid}/request",
    summary: "Read what a client asks for",
    request: { params: uid },
    responses: { 200: answer("The request to decide on", ConsentRequest), default: problems("consent_invalid") },
  }),
  decide: createRoute({
    method: "post",
    path: "/oauth/consent/{uid}/decision",
    summary: "Allow or deny a client",
    request: { params: uid, body: body(ConsentDecision) },
    responses: {
      200: answer("Where the browser goes next", z.object({ redirectTo: z.string() })),
      default: problems("consent_invalid", "password_needed", "sign_in_failed", "role_too_low"),
    },
  }),
  findDevice: createRoute({
    method: "post",
    path: "/oauth/device/request",
    summary: "Read what the device with this code asks for",
    request: { body: body(z.object({ userCode: UserCode })) },
    responses: { 200: answer("The request to decide on", ConsentRequest), default: problems("consent_invalid") },
  }),
  decideDevice: createRoute({
    method: "post",
    path: "/oauth/device/decision",
    summary: "Allow or deny a device",
    request: { body: body(ConsentDecision.extend({ userCode: UserCode })) },
    responses: {
      204: { description: "Decided" },
      default: problems("consent_invalid", "password_needed", "sign_in_failed", "role_too_low"),
    },
  }),
};
