import { useState } from "react";
import { addressParameter } from "#server/web/app/data/browser.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { toProblem, type Problem } from "#server/web/app/data/problem.ts";

/** Redirects to the provider; a failure is shown next to the button. */
export function useDeparture(): {
  failure: Problem | undefined;
  isBusy: boolean;
  go(provider: string, accountId?: string): void;
} {
  const [failure, setFailure] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  async function go(provider: string, accountId?: string): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    try {
      const returnTo = addressParameter("returnTo");
      const body = { ...(returnTo !== undefined && { returnTo }), ...(accountId !== undefined && { accountId }) };
      const { url } = await take(
        api.POST("/api/accounts/{provider}/authorize", { params: { path: { provider } }, body }),
      );
      window.location.assign(url);
    } catch (error) {
      setFailure(toProblem(error));
      setBusy(false);
    }
  }
  return { failure, isBusy, go: (provider, accountId) => void go(provider, accountId) };
}

/** The host name of a URL, for display. */
export function hostOf(baseUrl: string | null): string {
  return baseUrl === null ? "" : baseUrl.replace(/^https?:\/\//, "");
}
