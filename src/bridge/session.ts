/** The server and token for the bridge's requests: read when first needed, and again after a rejection. */
import { ApiError } from "#api/errors.ts";
import { parseServerUrl } from "#api/server-url.ts";

/** A token and the only server it may go to. */
export interface BridgeLogin {
  mcpUrl: string;
  token: string;
  /** The origin that the token was stored for, or the origin of the address that was given together with the token. */
  storedFor: string;
  /** Where the token comes from, for messages: "KB_TOKEN", "KB_TOKEN_FILE", "the stored login". */
  from: string;
  /** Whether the token is about to expire, so that the login must be looked up again. Absent for a token that doesn't expire. */
  isEnding?(): boolean;
}

/**
 * Finds the current login. A `refused` token is renewed if possible. Throws ApiError when no one has signed in, the
 * settings are wrong or the login has ended.
 */
export type FindLogin = (refused?: string) => Promise<BridgeLogin>;

export interface Session {
  /**
   * Returns the login for the next request.
   *
   * @throws ApiError `unauthenticated` when there is none, `forbidden` when a token would be sent to another origin
   */
  login(): Promise<BridgeLogin>;
  /**
   * Called after the server rejected `used`. Returns true when there is a different login now, so that a retry can help.
   *
   * @throws ApiError when the login can't be renewed, which explains more than the rejection
   */
  renew(used: BridgeLogin): Promise<boolean>;
}

export function makeSession(findLogin: FindLogin): Session {
  let current: Promise<BridgeLogin> | undefined;

  /** All callers share one look-up. A failed look-up isn't cached, so that a later login works without a restart. */
  function load(refused?: string): Promise<BridgeLogin> {
    const loading = findLogin(refused).then(checked);
    current = loading;
    loading.catch(() => {
      if (current === loading) current = undefined;
    });
    return loading;
  }

  return {
    async login() {
      const used = current;
      const login = await (used ?? load());
      if (login.isEnding?.() !== true) return login;
      // The first caller that finds the token expiring starts the look-up; the others use its result.
      return await (current === used || current === undefined ? load() : current);
    },
    async renew(used) {
      const known = await current?.catch(() => undefined);
      if (known !== undefined && known.token !== used.token) return true;
      const fresh = await load(used.token);
      return fresh !== undefined && (fresh.token !== used.token || fresh.mcpUrl !== used.mcpUrl);
    },
  };
}

function checked(login: BridgeLogin): BridgeLogin {
  const { origin } = parseServerUrl(login.mcpUrl);
  if (origin !== login.storedFor) {
    throw new ApiError("forbidden", {
      message: `forbidden: ${login.from} belongs to ${login.storedFor} and is not sent to ${origin}, so ask the person to run: kb login ${origin}`,
    });
  }
  return login;
}
