import { forbidden } from "#api/errors.ts";
import type { Provider } from "oidc-provider";
import type { ConsentDecision, ConsentRequest } from "#api/oauth.ts";
import { readCookie } from "#server/http/authenticate.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Clock } from "#core/clock.ts";
import { consentGone, readAsked, type Asked, type Claim, type Decisions } from "./decision.ts";
import { placeOf } from "./policy.ts";
import type { OAuthRecords } from "./records.ts";

export interface ConsentOptions {
  provider(): Promise<Provider>;
  decisions: Decisions;
  records: OAuthRecords;
  clock: Clock;
  baseUrl: string;
}

/**
 * The cookie that binds a request to the browser in which it began. There is one per request, because people have
 * several tabs.
 */
export function bindingCookie(uid: string): string {
  return `kb_oauth_${uid}`;
}

/** Makes the service that handles, in the browser, a client's request for access. Source: S33. */
export function makeConsentService(options: ConsentOptions) {
  const { decisions, records, clock, baseUrl } = options;

  async function find(provider: Provider, uid: string, headers: Headers) {
    // Without this check, an attacker could have their own request decided by another person. Source: S33.
    if (!/^[\w-]{10,64}$/.test(uid) || readCookie(headers, bindingCookie(uid)) !== uid) {
      throw forbidden("This request started in another browser. Return to the app there.");
    }
    const interaction = await provider.Interaction.find(uid);
    if (!interaction || interaction.result !== undefined) throw consentGone();
    return interaction;
  }

  function asAsked(interaction: { uid: string; params: Record<string, unknown>; exp: number }): Asked {
    return {
      ...readAsked(interaction.params, baseUrl),
      place: placeOf(String(interaction.params["redirect_uri"])),
      askedFrom: null,
      expiresAt: interaction.exp * 1000,
      subject: ["browser", interaction.uid],
    };
  }

  return {
    /** @throws ApiError `forbidden` for a request of another browser, `consent_invalid` */
    async show(actor: Actor, uid: string, headers: Headers): Promise<ConsentRequest> {
      const provider = await options.provider();
      return decisions.describe(provider, actor, asAsked(await find(provider, uid, headers)));
    },

    /** @returns the browser's next address, which leads back to the client through the authorization server */
    async decide(
      actor: Actor,
      uid: string,
      headers: Headers,
      decision: ConsentDecision,
    ): Promise<{ redirectTo: string }> {
      const provider = await options.provider();
      const interaction = await find(provider, uid, headers);
      const asked = asAsked(interaction);
      decisions.checkProof(actor, asked, decision.csrf);
      const claim = async () => {
        if (!(await records.consume("Interaction", uid))) throw consentGone();
      };
      interaction.result = await resultOf(provider, { actor, asked, decision, claim });
      await interaction.save(interaction.exp - Math.floor(clock.now() / 1000));
      return { redirectTo: interaction.returnTo };
    },
  };

  async function resultOf(
    provider: Provider,
    { actor, asked, decision, claim }: { actor: Actor; asked: Asked; decision: ConsentDecision; claim: Claim },
  ) {
    if (decision.decision === "deny") {
      await claim();
      await decisions.deny(actor, asked);
      return { error: "access_denied", error_description: "the person denied the request" };
    }
    const grantId = await decisions.allow(provider, actor, asked, decision, claim);
    return { login: { accountId: actor.userId, remember: false }, consent: { grantId } };
  }
}
