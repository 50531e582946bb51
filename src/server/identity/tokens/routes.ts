import { tokenRoutes } from "#api/tokens.ts";
import type { Mount } from "#server/http/mount.ts";
import type { TokenService } from "./service.ts";

/** `/api/api-tokens`. */
export function mountTokens(at: Mount, { tokens }: { tokens: TokenService }): void {
  at.member(tokenRoutes.list, ({ actor }) => tokens.list(actor));
  at.member(tokenRoutes.create, ({ actor, body }) => tokens.create(actor, body));
  at.member(tokenRoutes.adopt, ({ actor, params }) => tokens.adopt(actor, params.id));
  at.member(tokenRoutes.revoke, ({ actor, params }) => tokens.revoke(actor, params.id));
}
