import type { SourceProblem } from "#api/common.ts";
import { type ApiError, isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { type AtlassianPlace, baseUrlOf, isCloud } from "./config.ts";

/** What is wrong with the credentials or the address of an app, and what helps. */
export function problemOf(error: ApiError, config: AtlassianPlace, app: string): SourceProblem {
  const { host } = new URL(baseUrlOf(config));
  const { code, message, hint, retryAfterMs, field } = error;
  if (isApiError(error, "source_unauthorized")) {
    return {
      code,
      message,
      hint: isCloud(config)
        ? `Give the email address of the account and an API token of id.atlassian.com. If ${app} asks for a CAPTCHA, sign in on its page once.`
        : `Give a personal access token of the account's profile, without an email address. If ${app} asks for a CAPTCHA, sign in on its page once.`,
      field: "credentials",
    };
  }
  if (isApiError(error, "source_not_found")) {
    return {
      code,
      message: `${host} has no ${app} at this address (HTTP 404).`,
      hint: `Give the address of ${app}'s home page.`,
      field: "url",
    };
  }
  if (isApiError(error, "source_forbidden")) {
    return {
      code,
      message: `${host} does not let this account use the API (HTTP 403).`,
      hint: `Give the account access to ${app}.`,
      field: "credentials",
    };
  }
  return { code, message, field: field ?? "url", ...defined({ hint, retryAfterMs }) };
}
