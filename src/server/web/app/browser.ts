/** What the browser says of itself. */

/** The time zone of this device, which new accounts and sessions take. */
export function deviceTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Every time zone that the browser knows, and this one if it does not. */
export function timeZones(also: string): string[] {
  const known = Intl.supportedValuesOf("timeZone");
  return [...new Set(["UTC", ...known, also])].sort();
}

/** A parameter of the address, as it is now. */
export function addressParameter(name: string): string | undefined {
  return new URLSearchParams(window.location.search).get(name) ?? undefined;
}
