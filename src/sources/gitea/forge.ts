import { baseUrlOf } from "#sources/base-url.ts";
import { defined } from "#core/defined.ts";
import { ApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import type {
  Forge,
  ForgeContent,
  ForgeListing,
  ForgePart,
  ForgeRepository,
  ForgeThread,
  ForgeUser,
} from "#sources/forge/contract.ts";
import { refusalOf } from "#sources/failures.ts";
import {
  type CommentRecord,
  type GiteaClient,
  makeGiteaClient,
  type RepositoryRecord,
  type ReviewCommentRecord,
  type ReviewRecord,
  type ThreadRecord,
  type ThreadType,
  type UserRecord,
} from "./client.ts";
import { type GiteaConfig } from "./config.ts";

/** Maps Gitea's records to those shared by all forges. */
export function makeGiteaForge(ctx: SourceContext<GiteaConfig>): Forge {
  const client = makeGiteaClient(ctx);
  const { config } = ctx;
  const read = (record: RepositoryRecord) => toRepository(record, config);
  const typeOf = ({ content }: ForgeRepository): ThreadType =>
    content.has("issues") && content.has("pulls") ? undefined : content.has("issues") ? "issues" : "pulls";

  return {
    odd: client.odd,
    probe: () => client.me(),
    async list() {
      const { records, ...rest } = await listRecords(client, config);
      return { repositories: records.map(read), ...rest };
    },
    repository: async (id) => read(await client.repositoryById(id)),
    async *threads(repository, since, from) {
      const pages = client.threads(repository.fullName, typeOf(repository), since, from);
      for await (const { records, ...page } of pages) {
        // The repository was renamed after the listing, and another repository with other readers took its name.
        if (records.some(({ repository: of }) => of && String(of.id) !== repository.id)) throw notThere();
        yield { ...page, records: records.map(toThread) };
      }
    },
    count: (repository) => client.countThreads(repository.fullName, typeOf(repository)),
    commentLists: () => ["comments"],
    async *comments(repository, _list, { since, from }) {
      for await (const { records, ...page } of client.comments(repository.fullName, since, from)) {
        const parts = records.flatMap((record) => toComment(record) ?? []);
        yield { ...page, records: parts.filter(({ isPull }) => repository.content.has(isPull ? "pulls" : "issues")) };
      }
    },
    async reviews({ fullName }, number) {
      const parts: ForgePart[] = [];
      for (const review of await client.reviews(fullName, number)) {
        const shown = toReview(review, number);
        if (!shown) continue;
        const comments =
          (review.comments_count ?? 0) > 0 ? await client.reviewComments(fullName, number, review.id) : [];
        const hasItem = (review.body ?? "").trim() !== "" || shown.verdict !== "commented";
        if (hasItem) parts.push(shown);
        for (const comment of comments) parts.push(toReviewComment(comment, number, hasItem ? shown.id : undefined));
      }
      return parts;
    },
    head: ({ fullName, branch = "" }) => client.head(fullName, branch),
    thread: async ({ fullName }, number) => toThread(await client.thread(fullName, number)),
    async part(repository, { number, part }) {
      const { fullName } = repository;
      const found = part.startsWith("c")
        ? toComment(await client.comment(fullName, part.slice(1)))
        : (await this.reviews(repository, number)).find(({ id }) => id === part);
      if (found?.number === number) return found;
      throw notFound();
    },
  };
}

/** Returns the records that the config includes, each once. */
export async function listRecords(client: GiteaClient, { repositories: names }: GiteaConfig) {
  const closed: ForgeListing["closed"] = [];
  client.oddRepositories.take();
  const found = new Map<number, RepositoryRecord>();
  const add = (records: readonly RepositoryRecord[]) => records.forEach((record) => found.set(record.id, record));
  if (names.length === 0) {
    const { is_admin: isAdmin } = await client.me();
    add(isAdmin === true ? await client.everyRepository() : await client.ownRepositories());
  }
  for (const name of names) {
    try {
      add(name.includes("/") ? [await client.repository(name)] : await client.repositoriesOf(name));
    } catch (error) {
      const code = refusalOf(error);
      if (code === undefined) throw error;
      closed.push({ name, code });
    }
  }
  const { ids, nameless } = client.oddRepositories.take();
  const odd = ids.filter((id) => !found.has(Number(id)));
  return { records: [...found.values()].sort((a, b) => a.id - b.id), closed, odd, isWhole: nameless === 0 };
}

export function toRepository(record: RepositoryRecord, config: GiteaConfig): ForgeRepository {
  const { id, full_name: fullName, owner, default_branch: branch, empty } = record;
  const has: Record<ForgeContent, boolean> = {
    issues: record.has_issues === true && record.external_tracker === undefined,
    pulls: record.has_pull_requests === true,
    files: record.has_code !== false && empty !== true,
  };
  return {
    id: String(id),
    fullName,
    owner: { id: String(owner.id), login: owner.login },
    webUrl: `${baseUrlOf(config)}/${fullName.split("/").map(encodeURIComponent).join("/")}`,
    content: new Set(config.content.filter((each) => has[each])),
    ...(empty !== true && branch !== null && branch !== undefined && branch !== "" && { branch }),
  };
}

function toThread(record: ThreadRecord): ForgeThread {
  const { number, title, body, milestone, labels, assignees, pull_request: pull } = record;
  const author = authorOf(record);
  const dueAt = record.due_date ?? milestone?.due_on;
  return {
    number,
    isPull: pull !== null && pull !== undefined,
    title,
    body: body ?? "",
    state: pull?.merged === true ? "merged" : record.state === "open" ? "open" : "closed",
    isDraft: pull?.draft === true,
    labels: (labels ?? []).map(({ id, name }) => ({ id: String(id), name })),
    assignees: (assignees ?? []).map(toUser),
    ...(author && { author }),
    ...(milestone && { milestone: milestone.title }),
    ...defined({ dueAt }),
    createdAt: record.created_at,
    updatedAt: record.updated_at,
  };
}

/** Converts a comment; undefined if it belongs to nothing that has a number. */
function toComment(record: CommentRecord): ForgePart | undefined {
  const isPull = (record.pull_request_url ?? "") !== "";
  const [digits] = /\d+$/.exec((isPull ? record.pull_request_url : record.issue_url) ?? "") ?? [];
  if (digits === undefined) return undefined;
  const author = authorOf(record);
  return {
    id: `c${record.id}`,
    anchor: `issuecomment-${record.id}`,
    number: Number(digits),
    isPull,
    body: record.body ?? "",
    ...(author && { author }),
    createdAt: record.created_at,
    updatedAt: record.updated_at,
  };
}

/** Converts a review; undefined for a review that only its author sees, or that was requested and not submitted yet. */
function toReview(record: ReviewRecord, number: number): ForgePart | undefined {
  const verdict = record.dismissed === true ? "dismissed" : VERDICTS.get(record.state);
  if (verdict === undefined) return undefined;
  const [anchor] = /issuecomment-\d+$/.exec(record.html_url ?? "") ?? [];
  return {
    id: `r${record.id}`,
    number,
    isPull: true,
    body: record.body ?? "",
    verdict,
    ...(record.user && { author: toUser(record.user) }),
    ...defined({ anchor }),
    createdAt: record.submitted_at,
    updatedAt: record.updated_at ?? record.submitted_at,
  };
}

const VERDICTS: ReadonlyMap<string, NonNullable<ForgePart["verdict"]>> = new Map([
  ["APPROVED", "approved"],
  ["REQUEST_CHANGES", "changes requested"],
  ["COMMENT", "commented"],
] as const);

function toReviewComment(record: ReviewCommentRecord, number: number, of: string | undefined): ForgePart {
  return {
    id: `v${record.id}`,
    number,
    isPull: true,
    body: record.body ?? "",
    ...(record.user && { author: toUser(record.user) }),
    ...(record.path && { file: record.path }),
    ...defined({ of }),
    anchor: `issuecomment-${record.id}`,
    createdAt: record.created_at,
    updatedAt: record.updated_at,
  };
}

/**
 * Returns the author of a record. A deleted user is "Ghost" with a negative id, and the author of a migrated thread is
 * only a name.
 */
function authorOf({ user, original_author: original }: Pick<ThreadRecord, "user" | "original_author">) {
  if (original !== null && original !== undefined && original !== "") return { login: original };
  return user ? toUser(user) : undefined;
}

function toUser({ id, login, full_name: name }: UserRecord): ForgeUser {
  return { login, ...(id > 0 && { id: String(id) }), ...(name && { name }) };
}

function notThere(): ApiError {
  return new ApiError("source_not_found", { message: "Another repository has this name now." });
}

function notFound(): ApiError {
  return new ApiError("source_not_found", { message: "There is no such comment." });
}
