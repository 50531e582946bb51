import type { TokenLookup, TokenStore } from "#server/ports/store/tokens.ts";
import type { SqlHandles } from "../handles.ts";

export function makeTokenLookup(_sql: SqlHandles): TokenLookup {
  return {};
}
export function makeTokenStore(_sql: SqlHandles, _workspaceId: string): TokenStore {
  return {};
}
