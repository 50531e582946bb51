/** Where the bridge sends requests and with which token; read when first needed, read again after a refusal. */
import { ApiError } from "#api/errors.ts";
import { parseServerUrl } from "#api/server-url.ts";

/** A token and the one place it may go to. */
export interface BridgeLogin {
  mcpUrl: string;
  token: string;
  /** The origin the token was stored for, or of the address that was given together with it. */
  storedFor: string;
  /** Where it comes from, for messages: "KB_TOKEN", "KB_TOKEN_FILE", "the stored login". */
  from: string;
  /** True when the token is about to end, so that the login has to be looked up again; absent for one that lasts. */
  isEnding?(): boolean;
}

/**
 * Finds the login as it is now. A token that was `refused` is renewed where that can be done. Throws ApiError when nobody
 * has signed in, the settings are wrong or the login has ended.
 */
export type FindLogin = (refused?: string) => Promise<BridgeLogin>;

export interface Session {
  /**
   * The login for the next request.
   *
   * @throws ApiError `unauthenticated` when there is none, `forbidden` when a token would leave its origin
   */
  login(): Promise<BridgeLogin>;
  /**
   * After a refusal of `used`: true when a different login is there now, so that a repeat can help.
   *
   * @throws ApiError when the login can't be renewed, which says more than the refusal
   */
  renew(used: BridgeLogin): Promise<boolean>;
}

export function makeSession(findLogin: FindLogin): Session {
  let current: Promise<BridgeLogin> | undefined;

  /** One look-up for all that wait; a failed one is not kept, so that a later login is found without a restart. */
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
      // One of those who find it ending loads; the others take what that one gets.
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
