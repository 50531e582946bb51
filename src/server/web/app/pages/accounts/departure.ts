import { addressParameter } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { leaveFor } from "#server/web/app/data/leave.ts";
import { useAct, type Act } from "#server/web/app/ui/act.ts";

/** Opens the provider's site, to connect an account there or to reconnect one. */
export function useDeparture(provider: string, accountId?: string): Act<unknown> {
  return useAct(async () => {
    const returnTo = addressParameter("returnTo");
    const body = { ...(returnTo !== undefined && { returnTo }), ...(accountId !== undefined && { accountId }) };
    const { url } = await api.post("/api/accounts/{provider}/authorize", { params: { path: { provider } }, body });
    await leaveFor(url);
  });
}

/** Returns the host name of a URL, for display. */
export function hostOf(baseUrl: string | null): string {
  return baseUrl === null ? "" : baseUrl.replace(/^https?:\/\//, "");
}
