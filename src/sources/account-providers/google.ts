import { defined } from "#core/defined.ts";
import { z } from "zod";
import type { AccountProvider } from "#sources/account-contract.ts";

/** Google, with access to Drive. */
export const google: AccountProvider = {
  providerId: "google",
  name: "Google",
  usersOf: "google-drive",
  usual: {
    baseUrl: "https://accounts.google.com",
    apiUrl: "https://www.googleapis.com",
    tokenBase: "https://oauth2.googleapis.com",
  },
  apiUrl: "{+baseUrl}",
  instance: "apiUrl",
  oauth: {
    authorizeUrl: "{+baseUrl}/o/oauth2/v2/auth",
    tokenUrl: "{+tokenBase}/token",
    scopes: ["openid", "email", "profile", "https://www.googleapis.com/auth/drive.readonly"],
    // Without both parameters, Google returns no refresh token.
    parameters: { access_type: "offline", prompt: "consent select_account" },
    hasPkce: true,
    issuer: "{+baseUrl}",
    async revoke(http, { place: { tokenBase }, secrets: { accessToken, refreshToken } }) {
      await http.request({
        method: "POST",
        url: `${tokenBase}/revoke`,
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ token: refreshToken ?? accessToken }).toString(),
        allow: [400],
      });
    },
    setUp: {
      url: "https://console.cloud.google.com/apis/credentials",
      steps:
        "Create an OAuth client of the type “Web application”, turn on the Google Drive API, and add the scope drive.readonly to the consent screen.",
    },
  },
  async whoami(http, { apiUrl }) {
    const answer = await http.request({ url: `${apiUrl}/oauth2/v3/userinfo`, auth: true });
    const { sub, email, name } = answer.json(Claims);
    return { id: sub, ...defined({ login: email }), label: email ?? name ?? sub };
  },
};

const Claims = z.object({ sub: z.string().min(1), email: z.string().optional(), name: z.string().optional() });
