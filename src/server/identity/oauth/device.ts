import type { Provider } from "oidc-provider";
import { ApiError } from "#api/errors.ts";
import type { ConsentDecision, ConsentRequest } from "#api/oauth.ts";
import { throttleKeyOfIp } from "#net/client-ip.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Clock } from "#core/clock.ts";
import { consentGone, readAsked, type Asked, type Decisions } from "./decision.ts";
import { LIFETIMES, resourcesOf } from "./policy.ts";

export interface DeviceOptions {
  provider(): Promise<Provider>;
  decisions: Decisions;
  clock: Clock;
  baseUrl: string;
  /** Limits attempts at codes, per person and per address. */
  throttle: Throttle;
}

/**
 * Device sign-in. The person types the code, so there is no link to follow. Only the session in which it was typed can
 * decide.
 */
export function makeDeviceService({ provider: load, decisions, clock, baseUrl, throttle }: DeviceOptions) {
  const deciding = new Set<string>();

  async function findCode(provider: Provider, actor: Actor, userCode: string) {
    const keys = [`user ${actor.userId}`, `ip ${throttleKeyOfIp(actor.origin?.clientIp ?? null)}`];
    for (const key of keys) throttle.take(key);
    const code = await provider.DeviceCode.findByUserCode(normal(userCode), { ignoreExpiration: true });
    const isOpen =
      code !== undefined &&
      !code.isExpired &&
      code.error === undefined &&
      code.accountId === undefined &&
      code.consumed === undefined;
    if (code === undefined) throw unknownCode();
    if (!isOpen) throw consentGone();
    // Only wrong codes are counted, since the limit is against guessing.
    for (const key of keys) throttle.giveBack(key);
    return code;
  }

  function asAsked(code: DeviceCode, userCode: string): Asked {
    const from = code.deviceInfo?.["ip"];
    return {
      ...readAsked(code.params ?? {}, baseUrl),
      place: null,
      askedFrom: typeof from === "string" ? from : null,
      expiresAt: (code.exp ?? 0) * 1000,
      subject: ["device", normal(userCode)],
    };
  }

  async function decide(provider: Provider, actor: Actor, decision: ConsentDecision & { userCode: string }) {
    const code = await findCode(provider, actor, decision.userCode);
    const asked = asAsked(code, decision.userCode);
    decisions.checkProof(actor, asked, decision.csrf);
    if (decision.decision === "deny") {
      Object.assign(code, { error: "access_denied", errorDescription: "the person denied the request" });
      await code.save();
      return decisions.deny(actor, asked);
    }
    const grantId = await decisions.allow(provider, actor, asked, decision, async () => undefined);
    const resources = asked.audiences.map((audience) => resourcesOf(baseUrl)[audience]);
    Object.assign(code, {
      accountId: actor.userId,
      authTime: Math.floor(clock.now() / 1000),
      grantId,
      scope: asked.scopes.join(" "),
      resource: resources.length === 1 ? resources[0] : resources,
    });
    await code.save();
  }

  return {
    /**
     * Finds the request of a code.
     *
     * @throws ApiError `consent_invalid` for an unknown, old or used code; `rate_limited`
     */
    async find(actor: Actor, userCode: string): Promise<ConsentRequest> {
      const provider = await load();
      const code = await findCode(provider, actor, userCode);
      return decisions.describe(provider, actor, asAsked(code, userCode));
    },

    async decide(actor: Actor, decision: ConsentDecision & { userCode: string }): Promise<void> {
      const name = normal(decision.userCode);
      // Only one of two simultaneous decisions takes effect.
      if (deciding.has(name)) throw consentGone();
      deciding.add(name);
      try {
        await decide(await load(), actor, decision);
      } finally {
        deciding.delete(name);
      }
    },
  };
}

type DeviceCode = NonNullable<Awaited<ReturnType<Provider["DeviceCode"]["findByUserCode"]>>>;

/**
 * The error for a code that was mistyped, or is so old that it was deleted. The word "expired" would make people look
 * for a decision that was never made.
 */
function unknownCode(): ApiError {
  const minutes = LIFETIMES.deviceCode / 60;
  return new ApiError("consent_invalid", {
    message: `This code is not valid. Check it on the device; codes expire after ${minutes} minutes.`,
    field: "userCode",
  });
}

/** Returns the code as the library stores it: in capitals, without separators. */
function normal(userCode: string): string {
  return userCode.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}
