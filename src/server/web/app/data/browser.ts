/** Data that the browser provides. */

/** Returns the time zone of this device, which new accounts and sessions use. */
export function deviceTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Returns the choices for a time zone: every time zone that the browser supports, and `also`. */
export function timeZones(also: string): [value: string, label: string][] {
  const known = Intl.supportedValuesOf("timeZone");
  const zones = [...new Set(["UTC", ...known, also])].sort();
  return zones.map((zone) => [zone, zone.replaceAll("_", " ")]);
}

/** Returns the current value of a parameter in the address. */
export function addressParameter(name: string): string | undefined {
  return new URLSearchParams(window.location.search).get(name) ?? undefined;
}

/** Returns the host of a URL, for display. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
