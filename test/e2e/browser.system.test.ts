/** The built program in a real browser: one browser for all, since starting one costs more than most tests in it. */
import { describe } from "vitest";
import { whyNoGitea } from "../sources/gitea/server.ts";
import { CHROMIUM, sayNotRun, shareBrowser } from "./browser.ts";
import { peopleConnectAccounts } from "./browser-accounts.suite.ts";
import { peopleKeepConnectors } from "./browser-connectors.suite.ts";
import { looks } from "./browser-look.suite.ts";
import { peopleSignInElsewhere } from "./browser-oauth.suite.ts";
import { outagesPass } from "./browser-outage.suite.ts";
import { peopleDo } from "./browser-people.suite.ts";
import { peopleConnectServers } from "./browser-servers.suite.ts";
import { shareServerProcess } from "./server-process.ts";

sayNotRun("how the page looks, and what people do in a browser");

describe.skipIf(CHROMIUM === undefined)("in a browser", { timeout: 180_000 }, () => {
  const openBrowser = shareBrowser();
  const server = shareServerProcess({ KB_RATE_LIMITS: "off" });
  describe("every page", () => looks(openBrowser, server));
  describe("people", () => peopleDo(openBrowser, server));
  describe("accounts at GitHub, Google and Slack", () => peopleSignInElsewhere(openBrowser));
  describe("connectors", () => peopleKeepConnectors(openBrowser));
  describe("outages", () => outagesPass(openBrowser));
  describe("provider servers", () => peopleConnectServers(openBrowser));
  describe.skipIf(whyNoGitea() !== undefined)("accounts", () => peopleConnectAccounts(openBrowser));
});
