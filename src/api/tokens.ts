import { idSchema, Scope, Timestamp } from "./common.ts";
import { answer, body, createRoute, problemAnswer, problems, z } from "./route.ts";
import { PersonName } from "./session.ts";

/** A personal access token as its owner sees it. Two states: active while `revokedAt` is null, else revoked. */
export const Token = z
  .object({
    id: idSchema("token"),
    name: z.string(),
    prefix: z.string(),
    createdAt: Timestamp,
    lastUsedAt: Timestamp.nullable(),
    revokedAt: Timestamp.nullable(),
    scopes: z.array(Scope),
    expiresAt: Timestamp.nullable(),
    /** The OAuth grant that created it and with which it ends; null when a session created or adopted it. */
    grantId: idSchema("grant").nullable(),
  })
  .openapi("Token");
export type Token = z.infer<typeof Token>;

export const CreateTokenBody = z.object({
  name: PersonName,
  scopes: z.array(Scope).min(1).max(3).optional(),
  expiresInDays: z.number().int().min(1).max(3650).optional(),
});
export type CreateTokenBody = z.infer<typeof CreateTokenBody>;

export const TokenList = z.object({ tokens: z.array(Token), mcpUrl: z.string() });
export type TokenList = z.infer<typeof TokenList>;

export const CreatedToken = z.object({ token: Token, plaintext: z.string(), mcpUrl: z.string() });
export type CreatedToken = z.infer<typeof CreatedToken>;

export const tokenRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/api-tokens",
    summary: "List your active tokens, newest first, with the MCP URL",
    responses: { 200: answer("At most 50", TokenList), default: problemAnswer },
  }),
  create: createRoute({
    method: "post",
    path: "/api/api-tokens",
    summary: "Create a token; its plaintext is shown this once",
    request: { body: body(CreateTokenBody) },
    responses: {
      201: answer("The token and its secret", CreatedToken),
      default: problems("token_limit_reached", "quota_reached", "recent_sign_in_required"),
    },
  }),
  adopt: createRoute({
    method: "post",
    path: "/api/api-tokens/{id}/adopt",
    summary: "Keep a token that an OAuth client created, so that it no longer ends with that client",
    request: { params: z.object({ id: idSchema("token") }) },
    responses: {
      200: answer("The token, which is now yours", z.object({ token: Token })),
      default: problems("token_limit_reached", "recent_sign_in_required"),
    },
  }),
  revoke: createRoute({
    method: "delete",
    path: "/api/api-tokens/{id}",
    summary: "Revoke a token; repeating the call returns the same answer",
    request: { params: z.object({ id: idSchema("token") }) },
    responses: { 200: answer("The token with revokedAt", z.object({ token: Token })), default: problemAnswer },
  }),
};
