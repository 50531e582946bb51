import { consentRoutes, grantRoutes } from "#api/oauth.ts";
import type { Mount } from "#server/http/mount.ts";
import type { OAuthService } from "./service.ts";

/** Mounts `/api/grants`, and the routes of the consent and device pages. */
export function mountOAuth(at: Mount, { oauth }: { oauth: OAuthService }): void {
  const { consent, device, grants } = oauth;
  at.members(grantRoutes, grants);
  at.member(consentRoutes.show, ({ actor, params, c }) => consent.show(actor, params.uid, c.req.raw.headers));
  at.member(consentRoutes.decide, ({ actor, params, body, c }) =>
    consent.decide(actor, params.uid, c.req.raw.headers, body),
  );
  at.member(consentRoutes.findDevice, ({ actor, body }) => device.find(actor, body.userCode));
  at.member(consentRoutes.decideDevice, ({ actor, body }) => device.decide(actor, body));
}
