import { canParseUrl } from "#api/parse-url.ts";
import { expandTemplate } from "#core/url-template.ts";
import { originOf, type Source, type SourceSpec } from "#sources/contract.ts";

/** The properties of a source that decide where its credentials may be sent. */
export type Signing = Pick<Source, "originOf" | "baseUrlOf" | "gitOriginOf"> & {
  spec: Pick<SourceSpec<unknown>, "auth" | "origins">;
};

/** A config as the values of a template: an object by contract. */
export function templateValues(config: unknown): Readonly<Record<string, unknown>> {
  return typeof config === "object" && config !== null ? (config as Record<string, unknown>) : {};
}

/**
 * Origins that a source signs its requests for with this config: `originOf`, `spec.origins`, and no other. An origin of
 * HTTP as the URL standard writes it, another protocol as `scheme://host:port`.
 */
export function signedOrigins(source: Signing, config: unknown): ReadonlySet<string> {
  const { spec } = source;
  const own = originOf(source, config);
  const values = templateValues(config);
  const named = (spec.origins ?? []).map((template) => expandTemplate(template, values));
  return new Set([...(own === undefined ? [] : [own]), ...named].flatMap(normalOrigin));
}

/** Origins where the git program authenticates, with the token of requests. */
export function gitOrigins(source: Signing, config: unknown): ReadonlySet<string> {
  return source.gitOriginOf ? new Set(normalOrigin(source.gitOriginOf(config))) : signedOrigins(source, config);
}

/**
 * Every place that a secret is sent to with this config: where requests are signed, and where tokens are requested. A
 * config that changes one of them needs new credentials. Source: S31.
 */
export function secretPlaces(source: Signing, config: unknown): string {
  const values = templateValues(config);
  const tokenUrls = source.spec.auth.flatMap((way) => ("tokenUrl" in way ? [way.tokenUrl] : []));
  const tokens = tokenUrls.flatMap((template) => normalOrigin(expandTemplate(template, values)));
  return [...new Set([...signedOrigins(source, config), ...gitOrigins(source, config), ...tokens])].sort().join(" ");
}

function normalOrigin(text: string): string[] {
  if (!canParseUrl(text)) return [];
  const url = new URL(text);
  if (url.protocol === "http:" || url.protocol === "https:") return [url.origin];
  return url.host === "" ? [text] : [`${url.protocol}//${url.host.toLowerCase()}`];
}
