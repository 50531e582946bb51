import { z } from "zod";
import type { AccountProvider } from "#sources/account-contract.ts";

/** Matrix, with the access token of a session. The homeserver reports the token's owner. */
export const matrix: AccountProvider = {
  providerId: "matrix",
  name: "Matrix",
  apiUrl: "{+baseUrl}/_matrix/client/v3",
  instance: "baseUrl",
  ownTokens: {
    steps:
      "Sign in to your client in a private window, copy the access token (in Element: All settings → Help & About → Access token), and close the window without signing out: that would end the token.",
  },
  async whoami(http, { apiUrl }) {
    const { user_id } = (await http.request({ url: `${apiUrl}/account/whoami`, auth: true })).json(Whoami);
    return { id: user_id, login: user_id, label: user_id };
  },
};

const Whoami = z.object({ user_id: z.string().regex(/^@[^:]*:./) });
