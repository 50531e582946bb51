import { cleanBlock, cleanField, cleanLine, cut, MAX_CHARS } from "#api/clean.ts";
import { outsideUrl } from "#api/own-url.ts";
import { isApiError } from "#api/errors.ts";
import type { LiveAnswer, LiveHit, LiveProblem } from "#api/live-search.ts";
import { TOOL_LIMITS } from "#api/tools.ts";
import type { Sleep } from "#core/clock.ts";
import { isoOf } from "#core/instant.ts";
import type { Log } from "#core/log.ts";
import type { McpCaps } from "#mcp-client/caps.ts";
import type { McpSession } from "#mcp-client/contract.ts";
import type { McpHit } from "#mcp-client/hits.ts";
import { faultsOfMapping, fetchMapped, listMapped, type ToolMapping } from "#mcp-client/mapping.ts";
import { McpProblem, type McpProblemCode } from "#mcp-client/problem.ts";
import type { Actor } from "#storage/access/actor.ts";
import { makeMarkFinder, type MarkFinder } from "#text/mark-finder.ts";
import { makeMarks, type Marks } from "#text/marks.ts";
import { bestSnippets } from "#text/snippet.ts";
import type { SearchableConnection, SessionWish } from "./sessions.ts";

export interface LiveSearch {
  /**
   * Queries the search tools of the actor's own connections, all at once, for a second at most. Never rejects, and
   * stores none of the results.
   */
  search(actor: Actor, query: string, signal: AbortSignal): Promise<LiveAnswer>;
}

export interface LiveSearchOptions {
  sessions: {
    /** @throws McpProblem; ApiError */
    sessionFor(workspaceId: string, connectionId: string, wish: SessionWish): Promise<McpSession>;
    searchableBy(actor: Actor): Promise<SearchableConnection[]>;
  };
  sleep: Sleep;
  log: Log;
  /** This server's base URL. Hits that link to it are dropped. */
  baseUrl: string;
}

/** Milliseconds for the whole search, from loading the connections to the last excerpt. */
const LIVE_MS = 1_000;
const MAX_HITS = 10;
const MAX_CONNECTIONS = 8;
/** Maximum concurrent live searches of one person. */
const MAX_AT_ONCE = 4;
/** Maximum texts fetched per connection, for hits that were returned without one. */
const MAX_FETCHED = 5;
const EXCERPT_CHARS = 500;
/** Characters of a hit's text in which an excerpt is searched. */
const MAX_TEXT_CHARS = 20_000;
/** Limits of a response, since other requests wait while it is parsed. */
const CAPS: Partial<McpCaps> = { contentBytes: 512 * 1024, listBytes: 512 * 1024, values: 20_000, tools: 200 };

export function makeLiveSearch({ sessions, sleep, log, baseUrl }: LiveSearchOptions): LiveSearch {
  const underWay = new Map<string, number>();

  async function ask(actor: Actor, query: string, signal: AbortSignal): Promise<LiveAnswer> {
    const searchable = (await sessions.searchableBy(actor)).slice(0, MAX_CONNECTIONS);
    const asked = searchable.map((one): Asked => ({ ...one, hits: [], problem: "timeout" }));
    const marks = makeMarks(query);
    const question: Question = { query, marks, find: makeMarkFinder(marks), signal, baseUrl };
    const open = (connectionId: string) =>
      sessions.sessionFor(actor.workspaceId, connectionId, { signal, actor, caps: CAPS });
    await untilEnded(Promise.all(asked.map((one) => askOne(one, question, open, log))), signal);
    return answerOf(asked);
  }

  return {
    async search(actor, query, signal) {
      if (query.trim() === "") return answerOf([]);
      const person = `${actor.workspaceId} ${actor.userId}`;
      const others = underWay.get(person) ?? 0;
      if (others >= MAX_AT_ONCE) {
        const searchable = await sessions.searchableBy(actor).catch(() => []);
        return answerOf(searchable.map((one) => ({ ...one, hits: [], problem: "not_asked" })));
      }
      underWay.set(person, others + 1);
      const ending = new AbortController();
      const late = new AbortController();
      const either = AbortSignal.any([signal, late.signal]);
      void sleep(LIVE_MS, ending.signal).then(() => late.abort(new Error("A live search has its time.")));
      try {
        return await ask(actor, query, either);
      } catch (error) {
        log.error({ err: error }, "a live search failed");
        return answerOf([]);
      } finally {
        ending.abort(new Error("The live search has ended."));
        const left = (underWay.get(person) ?? 1) - 1;
        if (left > 0) underWay.set(person, left);
        else underWay.delete(person);
      }
    },
  };
}

/** A connection and its progress. At the deadline its results so far are used. */
interface Asked extends SearchableConnection {
  hits: LiveHit[];
  problem: LiveProblem | null;
}

interface Question {
  query: string;
  marks: Marks;
  find: MarkFinder;
  signal: AbortSignal;
  baseUrl: string;
}

async function askOne(
  asked: Asked,
  question: Question,
  open: (connectionId: string) => Promise<McpSession>,
  log: Log,
): Promise<void> {
  let session: McpSession | undefined;
  if (asked.isWaiting) {
    asked.problem = "not_agreed";
    return;
  }
  try {
    session = await open(asked.connectionId);
    await searchIn(session, asked, question);
  } catch (error) {
    if (question.signal.aborted) return;
    asked.problem = codeOf(error);
    const { connectionId, problem } = asked;
    if (isExpected(error)) log.debug({ connectionId, problem }, "a live search got no answer");
    else log.error({ connectionId, err: error }, "a live search failed");
  } finally {
    // The search doesn't wait until the session is closed.
    void session?.close();
  }
}

/** @throws McpProblem */
async function searchIn(session: McpSession, asked: Asked, question: Question): Promise<void> {
  const { mapping } = asked;
  const { items } = await session.listTools();
  const changed = new Set(faultsOfMapping(mapping, items).map(({ role }) => role));
  if (changed.has("search")) {
    asked.problem = "tool_changed";
    return;
  }
  const { hits } = await listMapped(session, mapping.search, cut(question.query, TOOL_LIMITS.queryChars));
  const found = hits.slice(0, MAX_HITS);
  asked.hits = found.map((hit) => toHit(asked, hit, question));
  asked.problem = null;
  const fetch = changed.has("fetch") ? undefined : mapping.fetch;
  if (fetch !== undefined) await fetchTexts(session, fetch, { asked, found, question });
}

/**
 * Fetches texts for hits that were returned without one, while time remains. Hits that can't be read stay without a
 * text.
 */
async function fetchTexts(
  session: McpSession,
  fetch: NonNullable<ToolMapping["fetch"]>,
  { asked, found, question }: { asked: Asked; found: readonly McpHit[]; question: Question },
): Promise<void> {
  const bare = [...found.entries()].filter(([at]) => asked.hits[at]?.text === "").slice(0, MAX_FETCHED);
  await Promise.all(
    bare.map(async ([at, hit]) => {
      const content = await fetchMapped(session, fetch, hit.id).catch(() => undefined);
      if (content !== undefined) asked.hits[at] = toHit(asked, { ...hit, text: content.text }, question);
    }),
  );
}

function toHit(
  { connectionId, serverName }: Asked,
  { title, text, url, updatedAt }: McpHit,
  question: Question,
): LiveHit {
  return {
    connectionId,
    server: shownName(serverName),
    title: cleanLine(title, MAX_CHARS.title) || "(untitled)",
    url: outsideUrl(url, question.baseUrl) ?? null,
    text: excerptOf(text ?? "", question),
    updatedAt: updatedAt === undefined ? null : isoOf(updatedAt),
  };
}

/** Returns the part of a text that matches the question best, on one line. */
function excerptOf(text: string, { marks, find }: Question): string {
  const chunk = { start: 0, text: cleanBlock(cut(text, MAX_TEXT_CHARS)) };
  const [passage] = bestSnippets([chunk], marks, { maxChars: EXCERPT_CHARS }, find);
  return cleanLine(passage?.text ?? "", EXCERPT_CHARS);
}

/** Returns the first hit of each connection, then the second of each, so that no connection displaces another. */
function answerOf(asked: readonly Asked[]): LiveAnswer {
  const most = Math.max(0, ...asked.map(({ hits }) => hits.length));
  const inTurn = Array.from({ length: most }, (_, at) => asked.flatMap(({ hits }) => hits.slice(at, at + 1))).flat();
  return {
    hits: inTurn.slice(0, MAX_HITS),
    connections: asked.map(({ connectionId, serverName, problem }) => ({
      connectionId,
      server: shownName(serverName),
      problem,
    })),
  };
}

function shownName(name: string): string {
  return cleanField(name, MAX_CHARS.source);
}

function codeOf(error: unknown): LiveProblem {
  if (isApiError(error, "source_unauthorized")) return "needs_reauth";
  if (isApiError(error, "agreement_required")) return "not_agreed";
  return error instanceof McpProblem ? (PROBLEMS[error.code] ?? "unavailable") : "unavailable";
}

function isExpected(error: unknown): boolean {
  return error instanceof McpProblem || isApiError(error);
}

const PROBLEMS: Partial<Record<McpProblemCode, LiveProblem>> = {
  timeout: "timeout",
  auth_required: "needs_reauth",
  elicitation_required: "needs_reauth",
  forbidden: "refused",
  refused: "refused",
  not_found: "refused",
  rate_limited: "rate_limited",
};

function untilEnded(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  const ended = new Promise<void>((end) => {
    if (signal.aborted) end();
    else signal.addEventListener("abort", () => end(), { once: true });
  });
  return Promise.race([work, ended]);
}
