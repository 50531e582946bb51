import type { LimitMark, LimitSpec } from "#sources/http-contract.ts";

type HeaderBag = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Returns the wait of a response's `Retry-After` in milliseconds; undefined if there is none. Source: RFC 9110 §10.2.3.
 */
export function retryAfterOf(headers: HeaderBag, now: number): number | undefined {
  const text = headerOf(headers, "retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Returns the reset time of a response that reports that no requests are left; undefined otherwise. */
export function exhaustedUntil(headers: HeaderBag, { windows = [] }: LimitSpec, now: number): number | undefined {
  const ends = windows.flatMap(({ remaining, reset, unit }) => {
    const left = Number(headerOf(headers, remaining) ?? Number.NaN);
    const at = Number(headerOf(headers, reset) ?? Number.NaN);
    if (!(left <= 0) || Number.isNaN(at)) return [];
    return [unit === "seconds" ? now + at * 1_000 : unit === "epoch_seconds" ? at * 1_000 : at];
  });
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/**
 * Whether a 403 is a rate limit and not a refusal, or a 503 is a rate limit and not a failure, based on the source's
 * known limits.
 */
export function isForbiddenALimit(headers: HeaderBag, body: string, { forbidden = [] }: LimitSpec): boolean {
  return forbidden.some((mark) => hasMark(mark, headers, body));
}

function hasMark(mark: LimitMark, headers: HeaderBag, body: string): boolean {
  if ("header" in mark) {
    const value = headerOf(headers, mark.header);
    return value !== undefined && (mark.value === undefined || value.trim() === mark.value);
  }
  if ("phrase" in mark) return body.toLowerCase().includes(mark.phrase.toLowerCase());
  return valuesAt(parseJson(body), mark.path.split(".")).some(
    (value) => typeof value === "string" && mark.values.includes(value),
  );
}

function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return [value];
  if (typeof value !== "object" || value === null) return [];
  if (name === "*") return Object.values(value).flatMap((each) => valuesAt(each, rest));
  return Object.hasOwn(value, name) ? valuesAt((value as Record<string, unknown>)[name], rest) : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function headerOf(headers: HeaderBag, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value[0] : value;
}
