import { byId, idSchema, Scope, Timestamp } from "./common.ts";
import { answer, del, get, post, z } from "./route.ts";
import { PersonName } from "./session.ts";

/** A personal access token as its owner sees it. It is active while `revokedAt` is null, and revoked otherwise. */
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
    /** The OAuth grant that created the token. The token ends with the grant. Null if a session created or adopted the token. */
    grantId: idSchema("grant").nullable(),
  })
  .openapi("Token");
export type Token = z.infer<typeof Token>;

export const TokenList = z.object({ tokens: z.array(Token), mcpUrl: z.string() });
export type TokenList = z.infer<typeof TokenList>;

export const CreatedToken = z.object({ token: Token, plaintext: z.string(), mcpUrl: z.string() });
export type CreatedToken = z.infer<typeof CreatedToken>;

export const tokenRoutes = {
  list: get("/api/api-tokens", "List your active tokens, newest first, with the MCP URL", {
    200: answer("At most 50", TokenList),
  }),
  create: post("/api/api-tokens", "Create a token; its plaintext is shown only once", {
    body: z.object({
      name: PersonName,
      scopes: z.array(Scope).min(1).max(3).optional(),
      expiresInDays: z.number().int().min(1).max(3650).optional(),
    }),
    201: answer("The token and its secret", CreatedToken),
    problems: ["token_limit_reached", "quota_reached", "recent_sign_in_required"],
  }),
  adopt: post(
    "/api/api-tokens/{id}/adopt",
    "Keep a token that an OAuth client created, so that it no longer ends with that client",
    {
      params: byId("token"),
      200: answer("The token, which no longer ends with the client", { token: Token }),
      problems: ["token_limit_reached", "recent_sign_in_required"],
    },
  ),
  revoke: del("/api/api-tokens/{id}", "Revoke a token; repeating the call returns the same answer", {
    params: byId("token"),
    200: answer("The token with revokedAt", { token: Token }),
  }),
};
