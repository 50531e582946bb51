import { notFound } from "#sources/errors.ts";
import { z } from "zod";
import type { Forge, ForgePart, ForgeRepository } from "#sources/forge/contract.ts";
import type { SyncContext } from "#sources/context.ts";
import { type GithubContext, makeGithubClient } from "./client.ts";
import type { GithubConfig } from "./config.ts";
import { makeGraphql, type Pulse, type ReviewNode } from "./graphql.ts";
import { isPull, toComment, toReview, toReviewComment, toReviewRecord, toThread } from "./map.ts";
import type { Mark } from "./pages.ts";
import type { IssueRecord, RepositoryRecord } from "./records.ts";
import { listRecords, toRepository } from "./repositories.ts";

/** The number of repositories, or of pull requests, in one GraphQL query. */
const PULSES = 50;
const REVIEWED = 25;

/**
 * Maps GitHub's records to those shared by all forges. `state` stores responses, so that a repository without changes
 * takes no further requests.
 */
export function makeGithubForge(ctx: GithubContext & Partial<Pick<SyncContext<GithubConfig>, "state">>): Forge {
  const client = makeGithubClient(ctx);
  const graphql = makeGraphql(ctx);
  const { config, state } = ctx;
  let listed: RepositoryRecord[] = [];
  const pulses = new Map<string, Pulse | undefined>();
  const changed = new Set<string>();
  let marks: { id: string; before: Marks; now: Marks } | undefined;
  let reviewed: { id: string; nodes: Map<number, string>; found?: Map<string, ReviewNode[]> } | undefined;

  /** Returns the count and newest commit of this repository, requested together with those of the next repositories. */
  async function pulseOf({ id }: ForgeRepository): Promise<Pulse | undefined> {
    if (changed.delete(id)) pulses.delete(id);
    else if (pulses.has(id)) return pulses.get(id);
    const position = listed.findIndex((record) => String(record.id) === id);
    const next = position < 0 ? [] : listed.slice(position, position + PULSES);
    const some = next.filter(
      (record) => record.node_id && (String(record.id) === id || !pulses.has(String(record.id))),
    );
    const found = await graphql.pulses(some.flatMap(({ node_id: node }) => node ?? []));
    for (const record of some) pulses.set(String(record.id), found.get(record.node_id ?? ""));
    return pulses.get(id);
  }

  /** Returns the stored state to send with a request, so that a response without changes is short. */
  async function remembered({ id }: ForgeRepository, what: keyof Marks, since: number | undefined) {
    if (!state || since === undefined) return { since };
    if (marks?.id !== id) marks = { id, before: StoredMarks.safeParse(await state.get(keyOf(id))).data ?? {}, now: {} };
    const { before, now } = marks;
    const mark = before[what];
    if (mark) now[what] = mark;
    return { since, mark, remember: (found: Mark) => void (now[what] = found) };
  }

  /**
   * Returns the reviews of this pull request, requested together with those of the other pull requests on its page;
   * undefined if GraphQL doesn't return them.
   */
  async function reviewsTogether(id: string, number: number): Promise<ReviewNode[] | undefined> {
    if (reviewed?.id !== id) return undefined;
    const page = reviewed;
    if (!page.found) {
      page.found = new Map();
      const ids = [...page.nodes.values()];
      for (let at = 0; at < ids.length; at += REVIEWED)
        for (const [node, reviews] of await graphql.reviews(ids.slice(at, at + REVIEWED)))
          page.found.set(node, reviews);
    }
    return page.found.get(page.nodes.get(number) ?? "");
  }

  /** Returns the start of a listing: its beginning, a time, or the end of one of its pages. */
  async function startOf(repository: ForgeRepository, list: keyof Marks, since?: number, from?: string) {
    const begun = placeIn(list, from);
    return begun === undefined ? remembered(repository, list, since) : { since: begun };
  }

  return {
    odd: client.odd,
    probe: () => client.me(),
    async list() {
      const { records, ...rest } = await listRecords(client, config);
      listed = records;
      return { repositories: records.map((record) => toRepository(record, config)), ...rest };
    },
    repository: async (id) => toRepository(await client.repository(id), config),
    async *threads(repository, since, from) {
      const { id, content } = repository;
      const before = await startOf(repository, "threads", since, from);
      for await (const { records, at } of client.issues(id, before)) {
        if (since !== undefined) changed.add(id);
        reviewed = { id, nodes: nodesOf(records) };
        const wanted = records.filter((record) => content.has(isPull(record) ? "pulls" : "issues"));
        yield { at, records: wanted.map(toThread), ...nextIn("threads", records) };
      }
    },
    async count(repository) {
      const { id, content } = repository;
      const [issues, pulls] = [content.has("issues"), content.has("pulls")];
      const pulse = await pulseOf(repository);
      if (pulse) return (issues ? pulse.issues.totalCount : 0) + (pulls ? pulse.pullRequests.totalCount : 0);
      const both = issues ? await client.count(id, "issues") : 0;
      const requests = issues && pulls ? 0 : await client.count(id, "pulls");
      if (both !== undefined && requests !== undefined) return pulls ? both + requests : both - requests;
      const numbers = new Set<number>();
      for await (const { records } of this.threads(repository)) for (const { number } of records) numbers.add(number);
      return numbers.size;
    },
    commentLists: ({ content }) => (content.has("pulls") ? ["comments", "reviewComments"] : ["comments"]),
    async *comments(repository, list, { since, from }) {
      const { id, content } = repository;
      const before = await startOf(repository, list, since, from);
      const isWanted = ({ isPull: ofPull }: ForgePart) => content.has(ofPull ? "pulls" : "issues");
      const pages =
        list === "comments"
          ? readParts(client.comments(id, before), toComment)
          : readParts(client.reviewComments(id, before), toReviewComment);
      for await (const { records, parts, at } of pages)
        yield { at, records: parts.filter(isWanted), ...nextIn(list, records) };
    },
    async reviews({ id }, number) {
      const records = (await reviewsTogether(id, number))?.map(toReviewRecord);
      const isWhole = records !== undefined && records.every((record) => record !== undefined);
      const all = isWhole ? records : await client.reviews(id, number);
      return all.flatMap((record) => toReview(record, number) ?? []);
    },
    async head(repository) {
      const { id, branch = "" } = repository;
      const pulse = await pulseOf(repository);
      if (pulse) return pulse.defaultBranchRef?.target.oid;
      return client.head(id, branch);
    },
    thread: async ({ id }, number) => toThread(await client.issue(id, number)),
    async part({ id }, { number, part }) {
      const [kind, digits] = [part[0], part.slice(1)];
      const found =
        kind === "c"
          ? toComment(await client.comment(id, digits))
          : kind === "v"
            ? toReviewComment(await client.reviewComment(id, digits))
            : toReview(await client.review(id, number, digits), number);
      if (found?.number === number) return found;
      throw notFound("There is no such comment.");
    },
    remember({ id }) {
      if (marks?.id === id) state?.put(keyOf(id), marks.now);
      marks = undefined;
    },
  };
}

function nodesOf(records: readonly IssueRecord[]): Map<number, string> {
  const pulls = records.filter(isPull);
  return new Map(pulls.flatMap(({ number, node_id: node }) => (node ? [[number, node] as const] : [])));
}

/**
 * Returns the position of the next page. Listings are ordered by the time of the last change, so the next page begins
 * with changes at the time of this page's last record, or later.
 */
function nextIn(of: keyof Marks, records: readonly { updated_at: number }[]): { place?: string } {
  const last = records.at(-1)?.updated_at;
  return last === undefined ? {} : { place: `${of} ${last}` };
}

function placeIn(list: keyof Marks, place = ""): number | undefined {
  const [, of, from] = /^(\w+) (\d{1,16})$/.exec(place) ?? [];
  return of === list ? Number(from) : undefined;
}

async function* readParts<T>(
  pages: AsyncIterable<{ records: T[]; at: number }>,
  toPart: (record: T) => ForgePart | undefined,
) {
  for await (const { records, at } of pages)
    yield { records, at, parts: records.flatMap((record) => toPart(record) ?? []) };
}

function keyOf(id: string): string {
  return `marks:${id}`;
}

const StoredMark = z.object({ from: z.string(), etag: z.string().max(1_000) }).optional();
const StoredMarks = z.object({ threads: StoredMark, comments: StoredMark, reviewComments: StoredMark });
type Marks = Partial<z.infer<typeof StoredMarks>>;
