import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { headingIds } from "./headings.ts";
import { REQUIREMENTS } from "../requirements.ts";

const root = new URL("../..", import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The numbered rules of a page; true = the code keeps it. */
function rulesOf(page: string, letter: "S" | "B"): Map<string, boolean> {
  const found = [...read(page).matchAll(/^- \*\*([SB]\d+)\. ([\s\S]*?)(?=^- \*\*|^## |(?![\s\S]))/gm)];
  const rules = found.map(([, id = "", text = ""]): [string, boolean] => [
    id,
    !/^[^*]*\*\* _Not yet built\._\s*$/.test(text),
  ]);
  // A rule stands where it belongs, and a number is never given twice.
  expect(new Set(rules.map(([id]) => id)).size).toBe(rules.length);
  expect(rules.every(([id]) => id.startsWith(letter))).toBe(true);
  return new Map(rules);
}

const rules = new Map([...rulesOf("docs/security.md", "S"), ...rulesOf("docs/agents.md", "B")]);
const decisions = readdirSync(join(root, "docs/decisions"));

/** Texts that others publish; what follows one in the same clause says where in it. */
const PUBLIC =
  /^(?:https:\/\/|RFC \d+|MCP specification|JSON-RPC|OpenID Connect|HTML standard|Fetch standard|IANA|MS-[A-Z]+|ECMA-(?:48|376)|ISO 32000-1|PNG |IPTC|RTF 1\.9\.1|CVE-\d+|OWASP|EPUB|Unicode)/;

/** What a `Source:` of a comment says: up to the end of its sentence, the marks of comments taken out. */
function citationsOf(text: string): string[] {
  const found = text.matchAll(
    /^[ \t]*(?:\/\/|\/?\*).*?\bSource: ([\s\S]*?)(?:\.(?=\s|\*|$)|\s*\*\/|\n\s*\*?\s*\n|\n(?!\s*(?:\*|\/\/)))/gm,
  );
  return [...found].map(([, cited = ""]) => cited.replaceAll(/\n\s*(?:\*|\/\/) ?/g, " ").trim());
}

/** Why a citation leads nowhere; undefined when all of it is there. */
function faultOf(cited: string): string | undefined {
  for (const clause of cited.split(/;\s*/)) {
    if (PUBLIC.test(clause)) continue;
    for (const part of clause.split(/,\s*/)) if (!PUBLIC.test(part) && !isOurs(part)) return `${part} (in "${cited}")`;
  }
  return undefined;
}

function isOurs(part: string): boolean {
  if (/^[SB]\d+$/.test(part)) return rules.get(part) === true;
  const ids = /^(?:requirements? )?`([\w:*-]+)`$/.exec(part)?.[1];
  if (ids !== undefined) return Object.keys(REQUIREMENTS).some((id) => toPattern(ids).test(id));
  const decision = /^docs\/decisions\/(\d{4})$/.exec(part)?.[1];
  if (decision !== undefined) return decisions.some((file) => file.startsWith(decision));
  const [path = "", anchor] = part.split("#");
  if (!path.startsWith("docs/") || !existsSync(join(root, path))) return false;
  return anchor === undefined || headingIds(read(path)).includes(anchor);
}

function toPattern(ids: string): RegExp {
  return new RegExp(`^${ids.replaceAll("*", ".*")}$`);
}

const files = ["src", "test", "scripts"].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !/generated\/|docs\/sources\.test/.test(file))
    .map((file) => ({ path: `${top}/${file}`, text: read(`${top}/${file}`) })),
);

test("every Source: of a comment leads to a rule, a page, a decision, a requirement or a public text", () => {
  const cited = files.flatMap(({ path, text }) => citationsOf(text).map((citation) => ({ path, citation })));
  expect(cited.length).toBeGreaterThan(150);
  const faults = cited.map(({ path, citation }) => ({ path, fault: faultOf(citation) }));
  expect(faults.filter(({ fault }) => fault !== undefined)).toEqual([]);
});

test("every rule that a comment names in passing is one that the code keeps", () => {
  const named = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^\s*(?:\/\/|\/?\*).*\(((?:[SB]\d+)(?:, [SB]\d+)*)\)/gm)].flatMap(([, list = ""]) =>
      list.split(", ").map((id) => ({ path, id })),
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ id }) => rules.get(id) !== true)).toEqual([]);
});

test("no comment leans on a page that is not in this repository", () => {
  const leaning = files.filter(({ text }) => /design page|Source: (?:the )?(?:research|contract|review)\b/i.test(text));
  expect(leaning.map(({ path }) => path)).toEqual([]);
});

test("the check sees citations that lead nowhere", () => {
  const wrong = ["S99", "S10", "B26", "docs/nothing.md", "docs/limits.md#nothing", "docs/decisions/9999", "test 58"];
  expect(wrong.filter((cited) => faultOf(cited) === undefined)).toEqual([]);
  expect(faultOf("requirement `nothing:at-all`")).toBeDefined();
  expect(citationsOf("/** Why. Source: S1,\n * S2; RFC 1 §2. Then more. */\n// Source: B1.\n")).toEqual([
    "S1, S2; RFC 1 §2",
    "B1",
  ]);
});
