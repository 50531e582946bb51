import { canParseUrl } from "#api/parse-url.ts";
import { expandTemplate } from "#core/url-template.ts";
import { originOf, type Source, type SourceSpec } from "#sources/contract.ts";

/** The properties of a source that define where its credentials may be sent. */
export type Signing = Pick<Source, "originOf" | "baseUrlOf" | "gitOriginOf"> & {
  spec: Pick<SourceSpec<unknown>, "auth" | "origins">;
};

/** Returns a config as the values of a template. The contract guarantees that a config is an object. */
export function templateValues(config: unknown): Readonly<Record<string, unknown>> {
  return typeof config === "object" && config !== null ? (config as Record<string, unknown>) : {};
}

/**
 * Returns the origins for which a source signs its requests with this config: `originOf` and `spec.origins`, and no
 * others. An HTTP origin is written as in the URL standard, and an origin of another protocol as `scheme://host:port`.
 */
export function signedOrigins(source: Signing, config: unknown): ReadonlySet<string> {
  const { spec } = source;
  const own = originOf(source, config);
  const values = templateValues(config);
  const named = (spec.origins ?? []).map((template) => expandTemplate(template, values));
  return new Set([...(own === undefined ? [] : [own]), ...named].flatMap(normalOrigin));
}

/** Returns the origins where the git program authenticates, with the same token that signs requests. */
export function gitOrigins(source: Signing, config: unknown): ReadonlySet<string> {
  return source.gitOriginOf ? new Set(normalOrigin(source.gitOriginOf(config))) : signedOrigins(source, config);
}

/**
 * Returns every place that a secret is sent to with this config: the origins of signed requests, and the token
 * endpoints. A config that changes one of them needs new credentials. Source: S31.
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
