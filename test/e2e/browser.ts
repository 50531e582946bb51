import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { chromium, type Browser, type BrowserContext, type ConsoleMessage, type Page } from "playwright-core";

/** The machine's Chromium; undefined where there is none, and then the tests of the page say that they were not run. */
export const CHROMIUM = [process.env["KB_TEST_CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
  (path) => path !== undefined && path !== "" && existsSync(path),
);

/** Says on the terminal what was left out, and why. */
export function sayNotRun(what: string): void {
  if (CHROMIUM === undefined)
    process.stderr.write(`NOT RUN: ${what}: there is no Chromium. Install it, or set KB_TEST_CHROMIUM.\n`);
}

/**
 * One browser for all tests of a `describe`; gives what opens a profile at a server until the test ends. A profile of a
 * test that passed is emptied and given to the next: a first page in a new one takes four times as long.
 */
export function shareBrowser(): OpenProfile {
  let browser: Browser | undefined;
  const idle = new Map<string, Profile[]>();
  beforeAll(async () => void (browser = await launchBrowser()));
  afterAll(() => browser?.close());
  return async (url) => {
    if (browser === undefined) throw new Error("The browser is there once the tests run.");
    const { context, page } = idle.get(url)?.pop() ?? (await openProfile(browser, url));
    const { visitor, leave } = makeVisitor(context, page);
    onTestFinished(async ({ task }) => {
      if (task.result?.state !== "pass") return context.close();
      leave();
      await emptyProfile({ context, page }, url);
      idle.set(url, [...(idle.get(url) ?? []), { context, page }]);
    });
    return visitor;
  };
}

/** Opens a profile at a server until the test ends. */
export type OpenProfile = (url: string) => Promise<Visitor>;

/** A browser without a network of its own, with a fresh profile. */
function launchBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error("There is no Chromium.");
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"],
  });
}

/** A person's browser: one profile with its own cookies, and what went wrong in it. */
export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** Everything that a clean page does not do: errors on the console, uncaught errors, violations of the policy. */
  complaints: string[];
  /** Goes to a path of the server and waits until nothing is loading. */
  open(path: string): Promise<void>;
}

interface Profile {
  context: BrowserContext;
  page: Page;
}

const WINDOW = { width: 1280, height: 860 };

async function openProfile(browser: Browser, url: string): Promise<Profile> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: WINDOW,
    colorScheme: "light",
    locale: "en-GB",
    timezoneId: "Europe/Vienna",
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(30_000);
  // A violation that only breaks something quietly is told too.
  await context.addInitScript(
    `addEventListener("securitypolicyviolation", (event) => console.error("CSP: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample));`,
  );
  return { context, page: await context.newPage() };
}

/** Takes everything out of a profile that a server or its page has put there. */
async function emptyProfile({ context, page }: Profile, url: string): Promise<void> {
  // No page of ours, at the same origin: what ran is over, and what is kept there can be reached.
  await page.goto(`${url}/healthz`);
  await page.evaluate(`localStorage.clear(); sessionStorage.clear();`);
  await context.clearCookies();
  await page.setViewportSize(WINDOW);
  await page.emulateMedia({ colorScheme: "light" });
}

/** Somebody who uses a profile; `leave` ends the notes of what goes wrong in it. */
function makeVisitor(context: BrowserContext, page: Page): { visitor: Visitor; leave(): void } {
  const complaints: string[] = [];
  const onError = (error: Error) => void complaints.push(`uncaught: ${error.message}`);
  const onConsole = (message: ConsoleMessage) => {
    // An answer of 4xx is written to the console by the browser itself; the page shows it in its own way.
    const isAnswer = message.text().startsWith("Failed to load resource: the server responded with a status of 4");
    if (message.type() === "error" && !isAnswer) complaints.push(message.text());
  };
  page.on("pageerror", onError).on("console", onConsole);
  const open = async (path: string) => {
    await page.goto(path);
    await settle(page);
  };
  return {
    visitor: { context, page, complaints, open },
    leave: () => void page.off("pageerror", onError).off("console", onConsole),
  };
}

/** Signs in without the page: for a test of something else. */
export async function signInQuietly({ context }: Visitor, who: { email: string; password: string }): Promise<void> {
  const { email, password } = who;
  const response = await context.request.post("/api/session", { data: { email, password } });
  if (!response.ok()) throw new Error(await response.text());
}

/** Waits until the page shows what it has: no placeholder is left. */
export async function settle(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: "detached" });
}

/** The short form: each page that is looked at takes it in again, which costs ten times as much with the long one. */
const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** What axe finds wrong with what is shown: `rule: selector`, each. */
export async function axeViolations(page: Page, rules: "all" | "colours" = "all"): Promise<string[]> {
  if (!(await page.evaluate(`"axe" in window`))) await page.evaluate(AXE);
  const runOnly = rules === "all" ? ALL_RULES : COLOUR_RULES;
  const found: { id: string; nodes: { target: string[]; failureSummary?: string }[] }[] = await page.evaluate(
    `axe.run(document, { preload: false, resultTypes: ["violations"], runOnly: ${JSON.stringify(runOnly)} }).then((r) => r.violations)`,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary ?? ""}`),
  );
}

const ALL_RULES = {
  type: "tag",
  values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
};
/** What another theme can change. */
const COLOUR_RULES = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

/** Pixels by which the page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`);
}

/** Waits until the focus is there: it moves after the page has changed. */
export async function untilFocused(page: Page, name: string | RegExp): Promise<void> {
  const found = page.getByLabel(name).or(page.getByRole("button", { name }));
  await found.and(page.locator(":focus")).waitFor();
}
