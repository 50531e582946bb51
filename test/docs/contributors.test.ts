import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { refreshQuotes } from "../../scripts/quotes.ts";
import { REQUIREMENTS } from "../requirements.ts";
import { headingIds } from "./headings.ts";

const root = new URL("../..", import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The pages for anyone who changes kb: all that they name must be there. */
const PAGES = [
  "CONTRIBUTING.md",
  "docs/architecture.md",
  "docs/glossary.md",
  "docs/add-a-source.md",
  "docs/security.md",
  "docs/agents.md",
];

const sources = ["src", "test", "scripts"].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(tsx?|css)$/.test(file))
    .map((file) => ({ path: `${top}/${file}`, text: read(`${top}/${file}`) }))
    .filter(({ path }) => path !== "test/docs/contributors.test.ts"),
);
const all = sources.map(({ text }) => text).join("\n");
const words = new Set((all + read("package.json") + read(".oxlintrc.json") + read("tsconfig.json")).match(/[\w$]+/g));
const cli = read("docs/reference/cli.md");
const settings = read("docs/settings.md");
// JSON of our own.
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

/** What a page says in backticks, its blocks of code left out. */
function spansOf(page: string): string[] {
  const prose = page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
}

/** Why a span names nothing that is there; undefined when it does. */
function faultOf(span: string): string | undefined {
  const missing = (what: string) => `\`${span}\`: there is no ${what}`;
  if (FOREIGN.test(span)) return undefined;
  if (/^(?:src|test|docs|scripts)\//.test(span)) return isThere(span) ? undefined : missing("such path");
  if (span.startsWith("#")) return isThere(`src/${span.slice(1)}`) ? undefined : missing("such path");
  if (/^np[mx] /.test(span)) return isCommand(span) ? undefined : missing("such script or file");
  if (span === "kb" || span.startsWith("kb ")) return isKbCommand(span) ? undefined : missing("such command or option");
  if (/^KB_\w+/.test(span)) {
    const name = /^KB_\w+/.exec(span)?.[0] ?? "";
    // Those of the tests have no page of their own.
    const isSetting = name.startsWith("KB_TEST_")
      ? all.includes(`["${name}"]`)
      : `${settings}${cli}`.includes(`\`${name}`);
    return isSetting ? undefined : missing("such setting");
  }
  if (/^[a-z-]+:[a-z-]+$/.test(span)) {
    // A scope is written the same way.
    return span in REQUIREMENTS || all.includes(`"${span}"`) ? undefined : missing("such requirement");
  }
  const verified = /^verifies\("([^"]+)"/.exec(span)?.[1];
  if (verified !== undefined) return verified in REQUIREMENTS ? undefined : missing("such requirement");
  if (/^[\w.-]+\.(?:md|tsx?)$/.test(span)) {
    const isEnding = span.startsWith(".");
    return sources.some(({ path }) => path.endsWith(isEnding ? span : `/${span}`)) || isThere(span)
      ? undefined
      : missing("such file");
  }
  const unknown = (span.match(/[A-Za-z_$][\w$]*/g) ?? []).filter((word) => !isKnown(word));
  return unknown.length > 0 ? `\`${span}\`: nothing is called ${unknown.join(", ")}` : undefined;
}

/** Names of other people's things, and what the style guide forbids. */
const FOREIGN =
  /^(?:feat\(|fix|utils|helpers|misc|manager|enum|--ignore-scripts|synchronous=NORMAL|X-Request-Id|Source:|makeX|#412|ABC-12|anthropic\/)/;

/** A name with a capital inside must be declared somewhere; others are words of the code. */
function isKnown(word: string): boolean {
  if (!/^[a-z]+[A-Z]|^[A-Z][a-z]+[A-Z]/.test(word)) return words.has(word);
  return new RegExp(`(?:function|const|let|class|interface|type) ${word}\\b|\\b${word}\\??[:(,]|\\b${word} }`).test(
    all,
  );
}

/** A path, or the folder of one with a `<name>` or `*` in it. */
function isThere(path: string): boolean {
  const fixed = path.split("/").findIndex((part) => /[<*]/.test(part));
  return existsSync(join(root, fixed < 0 ? path : path.split("/").slice(0, fixed).join("/")));
}

function isCommand(line: string): boolean {
  const [program, first = "", ...rest] = line.split(" ");
  if (program === "npm") {
    if (first === "ci") return true;
    return (first === "run" ? (rest[0] ?? "") : first) in scripts;
  }
  const paths = rest.filter((word) => /^(?:src|test)\//.test(word));
  return words.has(first) && paths.every(isThere);
}

function isKbCommand(line: string): boolean {
  if (line === "kb" || line.startsWith("kb --")) return true;
  const named = line
    .slice(3)
    .split(" ")
    .filter((word) => /^[a-z]/.test(word));
  const heading = [named.slice(0, 2).join(" "), named[0]].find((name) => cli.includes(`\n## \`kb ${name}`));
  if (heading === undefined) return false;
  const at = cli.indexOf(`\n## \`kb ${heading}`);
  const section = cli.slice(at, cli.indexOf("\n## ", at + 1));
  const own = line.match(/--[a-z-]+/g) ?? [];
  return own.every((option) => section.includes(option) || cli.slice(0, 5_000).includes(option));
}

/** Whether a link leads to a file that is there, and to a heading of it where it names one. */
function isLinkGood(from: string, link: string): boolean {
  if (/^https?:/.test(link)) return true;
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? join(root, from) : resolve(root, dirname(from), path);
  if (!existsSync(target)) return false;
  if (anchor === undefined || !target.endsWith(".md")) return true;
  return headingIds(readFileSync(target, "utf8")).includes(anchor);
}

describe.each(PAGES)("%s", (page) => {
  const text = read(page);

  test("names what is there: paths, commands, settings, requirements, symbols", () => {
    expect(spansOf(text).length).toBeGreaterThan(10);
    expect(spansOf(text).map(faultOf).filter(Boolean)).toEqual([]);
  });

  test("every example is a quotation of our code, as it stands", () => {
    expect(text.match(/^```ts$/gm)?.length ?? 0).toBe(text.match(/^<!-- (?:src|test)\/.* -->$/gm)?.length ?? 0);
    expect(refreshQuotes(text)).toBe(text);
  });
});

test.each(allPages())("every link of %s leads somewhere", (page) => {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  expect(links.filter((link) => !isLinkGood(page, link))).toEqual([]);
});

function allPages(): string[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" });
  return ["README.md", "CONTRIBUTING.md", ...docs.filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`)];
}

test("the check sees a name of each kind that is not there", () => {
  const wrong = [
    "src/server/ports/store.ts",
    "#server/adapters",
    "npm run nothing",
    "npx vitest run test/nothing",
    "kb nothing",
    "kb connectors list --nothing",
    "KB_NOTHING",
    "mcp:nothing",
    "nothing-here.ts",
    "makeNothingAtAll",
    `verifies(${JSON.stringify("mcp:nothing")}, …)`,
  ];
  expect(wrong.filter((span) => faultOf(span) === undefined)).toEqual([]);
});
