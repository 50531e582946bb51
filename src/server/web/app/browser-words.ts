const PROGRAMS: readonly [RegExp, string][] = [
  [/\bEdg\//, "Edge"],
  [/\bFirefox\//, "Firefox"],
  [/\bOPR\//, "Opera"],
  [/\b(?:Headless)?Chrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^kb\b/, "kb command line"],
  [/^node\b|^undici\b/i, "a script"],
  [/^curl\//, "curl"],
  [/^Mozilla\//, "a browser"],
];

const SYSTEMS: readonly [RegExp, string][] = [
  [/\biPhone|iPad\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** What a `User-Agent` header says, in a few words: `Firefox on Linux`. Only a help for memory: anybody can send any. */
export function describeBrowser(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return "an unknown client";
  const program = PROGRAMS.find(([pattern]) => pattern.test(userAgent))?.[1] ?? userAgent.slice(0, 40);
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  return system === undefined ? program : `${program} on ${system}`;
}
