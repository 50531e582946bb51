/** Data from the browser. */

/** The time zone of this device, used by new accounts and sessions. */
export function deviceTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Every time zone that the browser knows, plus this one if it isn't among them, to choose from. */
export function timeZones(also: string): [value: string, label: string][] {
  const known = Intl.supportedValuesOf("timeZone");
  const zones = [...new Set(["UTC", ...known, also])].sort();
  return zones.map((zone) => [zone, zone.replaceAll("_", " ")]);
}

/** The current value of a parameter in the address. */
export function addressParameter(name: string): string | undefined {
  return new URLSearchParams(window.location.search).get(name) ?? undefined;
}

/** The host in a URL, for display. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
