import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { distanceOf, formatDay, formatNow, parseDays } from "#api/days.ts";

const BERLIN = "Europe/Berlin";
const NOW = Date.parse("2026-11-21T09:20:00Z");

/** The first and last day of a range, as days of the zone. */
function days(text: string, zone = BERLIN, now = NOW): string | undefined {
  const range = parseDays(text, now, zone);
  if (range === undefined) return undefined;
  return `${formatDay(range.from, zone)}..${formatDay(range.until - 1, zone)}`;
}

describe("parseDays", () => {
  test.each([
    ["2026-11-01", "2026-11-01..2026-11-01"],
    ["2026-11", "2026-11-01..2026-11-30"],
    ["2026", "2026-01-01..2026-12-31"],
    ["today", "2026-11-21..2026-11-21"],
    ["Yesterday", "2026-11-20..2026-11-20"],
    ["tomorrow", "2026-11-22..2026-11-22"],
    ["7d", "2026-11-14..2026-11-14"],
    ["-7d", "2026-11-14..2026-11-14"],
    ["7 days ago", "2026-11-14..2026-11-14"],
    ["+7d", "2026-11-28..2026-11-28"],
    ["2w", "2026-11-07..2026-11-07"],
    ["1m", "2026-10-21..2026-10-21"],
    ["in 3 days", "2026-11-24..2026-11-24"],
    ["last 7 days", "2026-11-14..2026-11-21"],
    ["this week", "2026-11-16..2026-11-22"],
    ["last week", "2026-11-09..2026-11-15"],
    ["last month", "2026-10-01..2026-10-31"],
    ["next month", "2026-12-01..2026-12-31"],
    ["this year", "2026-01-01..2026-12-31"],
    ["monday", "2026-11-16..2026-11-16"],
    ["Saturday", "2026-11-21..2026-11-21"],
    ["last monday", "2026-11-16..2026-11-16"],
    ["last saturday", "2026-11-14..2026-11-14"],
    ["next fri", "2026-11-27..2026-11-27"],
    ["next saturday", "2026-11-28..2026-11-28"],
    ["this tuesday", "2026-11-17..2026-11-17"],
    ["this sunday", "2026-11-22..2026-11-22"],
    ["on wednesday", "2026-11-18..2026-11-18"],
    ["2026-11-01T23:30:00Z", "2026-11-02..2026-11-02"],
    ["2026-11-01T23:30", "2026-11-01..2026-11-01"],
  ])("reads %s as %s", (text, expected) => {
    expect(days(text)).toBe(expected);
  });

  test.each([
    "last tuesdays",
    "monkey",
    "next",
    "sunny",
    "2026-02-30",
    "2026-13",
    "11/01/2026",
    "soon",
    "",
    "7",
    "d",
    "99999d",
  ])("does not guess what %j means", (text) => {
    expect(days(text)).toBeUndefined();
  });

  test("days are whole days of the zone, also on days of 23 and 25 hours", () => {
    const spring = parseDays("2026-03-29", NOW, BERLIN);
    const autumn = parseDays("2026-10-25", NOW, BERLIN);
    expect(spring && (spring.until - spring.from) / 3_600_000).toBe(23);
    expect(autumn && (autumn.until - autumn.from) / 3_600_000).toBe(25);
    expect(parseDays("2026-11-21", NOW, "Asia/Tokyo")?.from).toBe(Date.parse("2026-11-20T15:00:00Z"));
    expect(days("today", "Pacific/Auckland")).toBe("2026-11-21..2026-11-21");
    expect(days("today", "Pacific/Auckland", Date.parse("2026-11-21T12:00:00Z"))).toBe("2026-11-22..2026-11-22");
  });

  test("a day begins where its first moment in the zone is, in every zone", () => {
    const zones = ["UTC", BERLIN, "America/Sao_Paulo", "Asia/Kolkata", "Asia/Beirut", "Pacific/Apia", "America/Havana"];
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.integer({ min: 0, max: 20_000 }), (zone, day) => {
        const text = new Date(day * 86_400_000).toISOString().slice(0, 10);
        const range = parseDays(text, NOW, zone);
        if (range === undefined) return;
        // Samoa skipped 2011-12-30 altogether.
        if (zone === "Pacific/Apia" && text === "2011-12-30") return;
        expect(formatDay(range.from, zone)).toBe(text);
        expect(formatDay(range.from - 1, zone) < text).toBe(true);
        expect(formatDay(range.until - 1, zone)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

test("dates are printed with their distance in the largest fitting unit", () => {
  const at = (day: string) => distanceOf(Date.parse(`${day}T12:00:00Z`), NOW, BERLIN);
  expect([at("2026-11-21"), at("2026-11-20"), at("2026-11-19"), at("2026-11-22")]).toEqual([
    "today",
    "yesterday",
    "2 days ago",
    "tomorrow",
  ]);
  expect([at("2026-10-30"), at("2026-05-01"), at("2020-11-21"), at("2026-12-12")]).toEqual([
    "3 weeks ago",
    "6 months ago",
    "6 years ago",
    "in 3 weeks",
  ]);
  expect(formatNow(NOW, BERLIN)).toBe("2026-11-21 Sat 10:20 Europe/Berlin");
});

test("clocks are read as Intl reads them, in every zone, around each change too", () => {
  const zones = Intl.supportedValuesOf("timeZone");
  // In 2011 Samoa left out a day; Newfoundland changed its clocks a minute after midnight until then.
  const changes = ["2011-12-30T10:00:00Z", "2010-11-07T02:31:00Z", "2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"];
  const near = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -90_000_000, max: 90_000_000 }))
    .map(([change, ms]) => Date.parse(change) + ms);
  const at = fc.oneof(near, fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2300, 0) }));
  const zone = fc.oneof(fc.constantFrom("UTC", "Pacific/Apia", "America/St_Johns", BERLIN), fc.constantFrom(...zones));
  fc.assert(
    fc.property(at, zone, (moment, timeZone) => {
      const options = { timeZone, hourCycle: "h23", dateStyle: "short", timeStyle: "short" } as const;
      const [day, time] = new Intl.DateTimeFormat("sv-SE", options).format(moment).split(" ");
      const shown = formatNow(moment, timeZone).split(" ");
      expect([shown[0], shown[2]]).toEqual([day, time]);
      expect(formatDay(moment, timeZone)).toBe(day);
    }),
    { numRuns: 500 },
  );
});
