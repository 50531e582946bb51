import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatPrincipal,
  authorityOf,
  judgeAccess,
  mayName,
  membersNamed,
  narrowAccess,
  parsePrincipal,
  type Authority,
  type ParsedPrincipal,
} from "#core/principals.ts";

const OWN = "con_aaaaaaaaaaaaaaaa";
const OTHER = "con_bbbbbbbbbbbbbbbb";
const USER = "user:usr_cccccccccccccccc";
const GROUP = "group:grp_dddddddddddddddd";
const OWNER = "user:usr_eeeeeeeeeeeeeeee";
const naming = { connectorId: OWN, providerId: "github", instance: "https://api.github.com" };
const pulled: Authority = authorityOf({ ...naming, ownerUserId: "usr_eeeeeeeeeeeeeeee" });
const pushed: Authority = authorityOf({
  connectorId: OWN,
  providerId: "push",
  instance: OWN,
  named: ["workspace", USER, GROUP],
});

describe("the grammar", () => {
  test("each form of a principal is taken apart and put together again", () => {
    const forms: Record<string, ParsedPrincipal> = {
      workspace: { type: "workspace" },
      everyone: { type: "everyone" },
      [USER]: { type: "user", userId: "usr_cccccccccccccccc" },
      [GROUP]: { type: "group", groupId: "grp_dddddddddddddddd" },
      [`group:connector:${OWN}`]: { type: "connector", connectorId: OWN },
      "group:connection:cnx_eeeeeeeeeeeeeeee": { type: "connection", connectionId: "cnx_eeeeeeeeeeeeeeee" },
      "user:github:https%3A%2F%2Fapi.github.com:583231": {
        type: "source_user",
        providerId: "github",
        instance: "https://api.github.com",
        id: "583231",
      },
      [`group:${OWN}:repo%3A7`]: { type: "source_group", connectorId: OWN, id: "repo:7" },
    };
    for (const [text, parsed] of Object.entries(forms)) {
      expect(parsePrincipal(text)).toEqual(parsed);
      expect(formatPrincipal(parsed)).toBe(text);
    }
  });

  test("any id of a source survives the way through text, and two ids never share one text", () => {
    const part = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter((text) => !/\p{Cs}/u.test(text));
    fc.assert(
      fc.property(part, part, part, (instance, id, otherId) => {
        const user: ParsedPrincipal = { type: "source_user", providerId: "slack", instance, id };
        expect(parsePrincipal(formatPrincipal(user))).toEqual(user);
        const same = formatPrincipal({ ...user, id: otherId }) === formatPrincipal(user);
        expect(same).toBe(id === otherId);
      }),
    );
  });

  test("a part that can't be encoded is refused when a principal is made", () => {
    for (const id of ["", "\ud800", "x".repeat(600)]) {
      expect(() => formatPrincipal({ type: "source_group", connectorId: OWN, id })).toThrow("Not a principal");
    }
    expect(() => formatPrincipal({ type: "user", userId: "usr_short" })).toThrow("Not a principal");
  });
});

describe("the authority rule", () => {
  test("a pulled connector names its own groups, its own tenant's users, its owner and everyone", () => {
    for (const principal of [
      OWNER,
      "everyone",
      `group:${OWN}:repo%3A7`,
      "user:github:https%3A%2F%2Fapi.github.com:583231",
    ]) {
      expect([principal, mayName(principal, pulled)]).toEqual([principal, true]);
    }
    expect(mayName(USER, pulled)).toBe(false);
    expect(mayName(GROUP, pulled)).toBe(false);
    expect(mayName("workspace", pulled)).toBe(false);
  });

  test("of the workspace, a pulled connector names what its config names", () => {
    const config = authorityOf({ ...naming, named: ["workspace", GROUP] });
    expect(["workspace", GROUP, USER].map((principal) => mayName(principal, config))).toEqual([true, true, false]);
  });

  test("users of another instance are not its own, whatever stands before or after its address", () => {
    for (const instance of ["https://api.github.com/", "https://api.github.com.evil.test", "http://api.github.com"]) {
      const user = formatPrincipal({ type: "source_user", providerId: "github", instance, id: "1" });
      expect([instance, mayName(user, pulled)]).toEqual([instance, false]);
    }
  });

  test("a push connector names existing members and groups of its workspace, and no others", () => {
    expect(mayName(USER, pushed)).toBe(true);
    expect(mayName(GROUP, pushed)).toBe(true);
    expect(mayName("user:usr_ffffffffffffffff", pushed)).toBe(false);
    expect(mayName("user:github:https%3A%2F%2Fapi.github.com:583231", pushed)).toBe(false);
  });

  test("no hostile principal can be named, by a pulled or a pushed item", () => {
    const hostile = hostilePrincipals();
    expect(hostile.length).toBeGreaterThanOrEqual(200);
    const askedFor: string[] = [];
    const careless: Authority = { ...pulled, named: { has: (principal) => askedFor.push(principal) < 0 } };
    for (const principal of hostile) {
      for (const authority of [pulled, pushed, careless]) {
        const access = { known: true, all: [["everyone"], [principal, "everyone"], [principal]] } as const;
        const judged = judgeAccess(access, authority);
        expect([principal, judged]).toEqual([principal, { access: { known: false }, offending: [principal] }]);
        const left = { known: true, all: [["everyone"], ["everyone"], []] };
        expect(narrowAccess(access, authority)).toEqual({ access: left, offending: [principal] });
      }
    }
    // Only ids in exactly our form reach the look-up.
    for (const principal of askedFor) expect(principal).toMatch(/^(workspace|(user:usr|group:grp)_[2-9a-km-z]{16})$/);
  });

  test("random text is never someone else's principal", () => {
    const piece = fc.constantFrom(
      "user",
      "group",
      ":",
      "%3A",
      OTHER,
      "connector",
      "github",
      "*",
      "|",
      "\n",
      "usr_",
      "",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const principal = pieces.join("");
        expect(mayName(principal, { connectorId: OWN })).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("the judgement of an access", () => {
  test("a good access comes back as it was, an empty inner list included", () => {
    const access = { known: true, all: [["everyone"], []] } as const;
    expect(judgeAccess(access, pulled)).toEqual({ access, offending: [] });
    expect(narrowAccess(access, pulled)).toEqual({ access, offending: [] });
  });

  test("an access without a list is no one, and so is an unknown one", () => {
    for (const judge of [judgeAccess, narrowAccess]) {
      expect(judge({ known: true, all: [] }, pulled).access).toEqual({ known: false });
      expect(judge({ known: false }, pulled)).toEqual({ access: { known: false }, offending: [] });
    }
  });

  test("one bad principal withholds the whole item from a push and is named once", () => {
    const bad = `group:${OTHER}:x`;
    expect(judgeAccess({ known: true, all: [["everyone", bad], [bad]] }, pulled)).toEqual({
      access: { known: false },
      offending: [bad],
    });
  });

  test("in a sync a stranger leaves their list to the others, and a list of strangers to no one", () => {
    const [bob, eve] = [`group:${OTHER}:x`, "user:github:evil.test:7"];
    expect(narrowAccess({ known: true, all: [[OWNER, bob, eve]] }, pulled)).toEqual({
      access: { known: true, all: [[OWNER]] },
      offending: [bob, eve],
    });
    expect(narrowAccess({ known: true, all: [[OWNER], [bob, eve, bob]] }, pulled)).toEqual({
      access: { known: true, all: [[OWNER], []] },
      offending: [bob, eve],
    });
  });

  test("the members to look up are listed once, and nothing else is", () => {
    const access = {
      known: true,
      all: [
        [USER, "workspace"],
        [USER, GROUP, `group:connector:${OWN}`],
      ],
    } as const;
    expect(membersNamed(access)).toEqual([USER, GROUP]);
  });
});

/** Prefix tricks, encodings, separators, look-alikes, other authorities. Source: S2. */
function hostilePrincipals(): string[] {
  const targets = [
    `group:connector:${OWN}`,
    `group:connector:${OTHER}`,
    "group:connection:cnx_eeeeeeeeeeeeeeee",
    `group:${OTHER}:repo`,
    "user:usr_ffffffffffffffff",
    "group:grp_ffffffffffffffff",
    "user:github:https%3A%2F%2Fevil.test:583231",
    "user:slack:T012:U9",
  ];
  const tricks: ((text: string) => string)[] = [
    (text) => text,
    (text) => ` ${text}`,
    (text) => `${text} `,
    (text) => `${text}\n`,
    (text) => `workspace\n${text}`,
    (text) => `everyone|${text}`,
    (text) => `${text}|workspace`,
    (text) => text.toUpperCase(),
    (text) => text.replace(":", "："),
    (text) => text.replace(":", "%3A"),
    (text) => text.replace(":", "::"),
    (text) => text.replace("o", "о"),
    (text) => text.replace("u", "%75"),
    (text) => `${text}\u0000`,
    (text) => `\ufeff${text}`,
    (text) => `${text}\u200b`,
    (text) => `${text}:`,
    (text) => `:${text}`,
    (text) => `${text}:x:y:z`,
    (text) => `kb|${text}`,
    (text) => `group:${OWN}:x,${text}`,
    (text) => `group:${OWN}/../${text}`,
    (text) => `group:${OWN.toUpperCase()}:${text}`,
    (text) => `group:${OWN}%00:${text}`,
    (text) => `user:github:https%3A%2F%2Fapi.github.com%00:${encodeURIComponent(text)}`,
  ];
  const odd = [
    "",
    "*",
    "unused",
    "nobody",
    "Workspace",
    "everyone ",
    "workspace:",
    "__proto__",
    "group:",
    "user::",
    `group:${OWN}`,
    `group:${OWN}:`,
    `group:${OWN}:%`,
    `group:${OWN}:a%2fb`,
    `group:${OWN}:a b`,
    `group:${OWN}:ä`,
    `group:${OWN}:${"x".repeat(600)}`,
    `user:${OWN}:x`,
    "user:github:https://api.github.com:583231",
    "user:GitHub:https%3A%2F%2Fapi.github.com:583231",
  ];
  return [...targets.flatMap((target) => tricks.map((trick) => trick(target))), ...odd];
}
