import { createHash } from "node:crypto";
import { ID_ALPHABET } from "#api/common.ts";
import type { TestAnswer, TestClient } from "../helpers.ts";
import type { LeakServer } from "./build.ts";
import { allowedCanaries, canariesIn, makeRandom, mayRead, type Persona, type Random } from "./model.ts";
import { ask, READS_ITEMS, surface, type Vocabulary, vocabularyOf, type Question } from "./requests.ts";

export interface Comparison {
  asked: number;
  /** Questions whose answers differ, with both; at most five. */
  differences: { question: string; one: string; two: string }[];
  /** Routes that are mounted for reading items and never once succeeded. */
  unanswered: string[];
}

/** Asks both worlds the same questions as the same person and compares status, headers and bytes. */
export async function compareWorlds(
  worlds: readonly [LeakServer, LeakServer],
  persona: Persona,
  options: {
    seed: number;
    rounds: number;
    /** Stops at so many differences. */
    isEnough?: number;
    /** Asks this one alone; its questions are the same as among all. */
    route?: string;
  },
): Promise<Comparison> {
  const seen = worlds[0].model.items.filter((item) => mayRead(worlds[0].model, persona, item));
  const vocabulary = vocabularyOf(worlds[1].model, makeRandom(options.seed), seen);
  const report: Comparison = { asked: 0, differences: [], unanswered: [] };
  for (const route of surface().filter((each) => each === (options.route ?? each))) {
    const words = { ...vocabulary, random: randomOf(route, options.seed) };
    const tally = { asked: 0, succeeded: 0, isMounted: true };
    const rounds = options.rounds * (READS_ITEMS.test(route) ? READING_ROUNDS : 1);
    for (let round = 0; round < rounds; round++) {
      if (report.differences.length >= (options.isEnough ?? Infinity)) return report;
      const question = ask(route, words);
      if (!question || (persona === "owner" && !isSameForAdmins(question))) continue;
      const [one, two] = [
        await put(worlds[0].clients[persona], question),
        await put(worlds[1].clients[persona], question),
      ];
      report.asked++;
      tally.asked++;
      if (isMissing(one)) tally.isMounted = false;
      if (one.status < 300 && !one.text.includes('"isError":true')) tally.succeeded++;
      const [first, second] = [fixed(one, route), fixed(two, route)];
      if (first !== second && report.differences.length < 5) {
        report.differences.push({ question: JSON.stringify(question), one: first, two: second });
      }
    }
    if (ANSWERS.test(route) && tally.isMounted && tally.asked > 0 && tally.succeeded === 0)
      report.unanswered.push(route);
  }
  return report;
}

export interface LeakCount {
  /** Answers of mounted routes that were searched for everything that the person may not know. */
  checks: number;
  /** Canaries that came out and should not have. */
  leaks: string[];
  /** Routes that showed at least one canary that they may show. */
  speaking: Set<string>;
}

interface LeakOptions {
  rounds: number;
  /** Stops at so many leaks. */
  isEnough?: number;
  /** Asks only what shows items, and that no oftener than anything else. */
  isShort?: boolean;
}

/**
 * Asks as everybody and looks for canaries of what they may not see. A canary that the question itself holds is not
 * counted: answers may repeat what was asked (that they do so alike for what exists is the two-world test's matter).
 */
export async function countLeaks(
  server: LeakServer,
  personas: readonly Persona[],
  options: LeakOptions & { seed: number },
): Promise<LeakCount> {
  const random = makeRandom(options.seed);
  const count = noLeaks();
  for (const persona of personas) {
    const seen = server.model.items.filter((item) => mayRead(server.model, persona, item));
    const asking = {
      name: persona,
      client: server.clients[persona],
      allowed: allowedCanaries(server.model, persona),
      marksIn: canariesIn,
      words: vocabularyOf(server.model, random, seen),
    };
    await askForLeaks(asking, count, options);
  }
  return count;
}

export const noLeaks = (): LeakCount => ({ checks: 0, leaks: [], speaking: new Set() });

/** Somebody who asks, the marks that they may be shown, and what marks a text has. */
export interface Asking {
  name: string;
  client: TestClient;
  allowed: ReadonlySet<string>;
  /** Ids of what they were shown before: logs of that keep them. */
  logged?: ReadonlySet<string>;
  marksIn: (text: string) => ReadonlySet<string>;
  words: Vocabulary;
}

/** What tells what was done: reads, and removals. Ids stand there, and nothing else of an item. */
const LOGS = /^GET \/api\/(audit(\/reads|\/export)?|connectors\/\{id\}\/removed)$/;

/** Asks every route in the name of one, and counts what comes out. */
export async function askForLeaks(
  { name, client, allowed, logged, marksIn, words }: Asking,
  count: LeakCount,
  options: LeakOptions,
): Promise<void> {
  const routes = surface().filter((route) => !options.isShort || READS_ITEMS.test(route));
  for (const route of routes) {
    const rounds = options.rounds * (READS_ITEMS.test(route) && !options.isShort ? READING_ROUNDS : 1);
    for (let round = 0; round < rounds; round++) {
      if (count.leaks.length >= (options.isEnough ?? Infinity)) return;
      const question = ask(route, words);
      if (!question) break;
      const answer = await put(client, question);
      const text = `${answer.text}\n${JSON.stringify([...answer.headers])}`;
      const asked = marksIn(decodeURIComponent(JSON.stringify(question)));
      for (const mark of marksIn(text.toLowerCase())) {
        if (allowed.has(mark)) count.speaking.add(route);
        else if (LOGS.test(route) && logged?.has(mark)) continue;
        else if (!asked.has(mark)) count.leaks.push(`${name} ${JSON.stringify(question)}: ${mark}`);
      }
      if (!isMissing(answer)) count.checks++;
    }
  }
}

/** A route's questions are its own: another route more or less changes none of them. */
function randomOf(route: string, seed: number): Random {
  return makeRandom(createHash("sha256").update(`${seed} ${route}`).digest().readUInt32BE());
}

/** Routes that must have answered something to each who reads at all. */
const ANSWERS = /files(?!.*restore$)|search|entities|^tool/;

/** How much oftener routes are asked that show items. */
const READING_ROUNDS = 4;

export async function put(client: TestClient, question: Question): Promise<TestAnswer> {
  const { method, path, headers, body } = question;
  return client.request(method, path, {
    ...(headers && { headers }),
    ...(body !== undefined && { body }),
  });
}

/** Owners and admins may know of connectors and their counts; that is no part of what is compared. */
function isSameForAdmins({ route, path }: Question): boolean {
  if (/^\w+ \/api\/connectors(\/\{id\}.*|\/progress|\/mine)?$/.test(route) && !path.includes("/files")) return false;
  if (route.includes("/api/mcp-servers")) return false;
  if (/^GET \/api\/audit(\/check|\/export)?$/.test(route)) return false;
  return !["GET /api/connectors/files/{fileId}/access", "GET /api/connectors/{id}/files"].includes(route);
}

function isMissing(answer: TestAnswer): boolean {
  return answer.status === 404 && answer.text.includes("This path does not exist.");
}

export const OF_CONNECTOR = /\/api\/connectors(\/mine|\/progress|\/\{id\}(?!\/files).*)?$/;
const OWN_ID = new RegExp(`\\b(tok|ses|req)_[${ID_ALPHABET}]{16}\\b`, "g");

/** What is compared: everything but the request's id, the time it took and the ids of the asker's own credentials. */
export function fixed(answer: TestAnswer, route: string): string {
  const headers = [...answer.headers].filter(([name]) => name !== "x-request-id" && name !== "date").sort();
  const text = answer.text
    .replace(/"tookMs":[0-9.]+/g, '"tookMs":0')
    .replace(/"requestId":"[^"]*"/g, '"requestId":""')
    // Rights over a connector are rights to its counts; what is in it is another matter.
    .replace(/"counts":\{[^{}]*\}/g, (counts) => (OF_CONNECTOR.test(route) ? '"counts":{}' : counts))
    .replace(OWN_ID, "$1")
    .replace(/kb_pat_\w+/g, "kb_pat");
  return JSON.stringify([answer.status, headers, text]);
}
