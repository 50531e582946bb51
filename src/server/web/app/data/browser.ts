/** Data from the browser. */

/** The time zone of this device, used by new accounts and sessions. */
export function deviceTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Every time zone that the browser knows, plus this one if it isn't among them. */
export function timeZones(also: string): string[] {
  const known = Intl.supportedValuesOf("timeZone");
  return [...new Set(["UTC", ...known, also])].sort();
}

/** The current value of a parameter in the address. */
export function addressParameter(name: string): string | undefined {
  return new URLSearchParams(window.location.search).get(name) ?? undefined;
}
