import type { RefusalCode } from "#sources/outcomes.ts";
import type { OddRecords } from "#sources/listed.ts";

/** The kinds of content of a repository that become items. */
export const FORGE_CONTENT = ["issues", "pulls", "files"] as const;
export type ForgeContent = (typeof FORGE_CONTENT)[number];

/** Lists of comments. A forge has one list for all comments, or a separate list for comments on code. */
export const COMMENT_LISTS = ["comments", "reviewComments"] as const;
export type CommentList = (typeof COMMENT_LISTS)[number];

export interface ForgeUser {
  /** Absent if the person isn't a user of this instance, such as the author of a migrated issue. */
  id?: string;
  login: string;
  name?: string;
}

export interface ForgeRepository {
  /** Numeric, and never changes. */
  id: string;
  /** `owner/name`. */
  fullName: string;
  owner: { id: string; login: string };
  webUrl: string;
  /** The kinds of content that the repository has and the config includes. */
  content: ReadonlySet<ForgeContent>;
  /** Absent if there is no branch yet. */
  branch?: string;
}

/** An issue or a pull request. */
export interface ForgeThread {
  number: number;
  isPull: boolean;
  title: string;
  body: string;
  state: "open" | "closed" | "merged";
  isDraft: boolean;
  labels: readonly { id: string; name: string }[];
  assignees: readonly ForgeUser[];
  author?: ForgeUser;
  milestone?: string;
  dueAt?: number;
  createdAt: number;
  updatedAt: number;
}

/** A comment or review of a thread. */
export interface ForgePart {
  /** `c1` is a comment, `r1` a review, and `v1` a comment of a review. */
  id: string;
  number: number;
  isPull: boolean;
  body: string;
  author?: ForgeUser;
  /** For a review: its verdict on the changes. */
  verdict?: "approved" | "changes requested" | "commented" | "dismissed";
  /** The fragment that leads to the part on the page of its thread. */
  anchor?: string;
  /** The file that the part comments on. */
  file?: string;
  /** The id of the part that this part replies to or belongs to. */
  of?: string;
  createdAt: number;
  updatedAt: number;
}

/** A page of a listing, and the forge's clock when it was made. */
export interface ForgePage<T> {
  records: T[];
  at: number;
  /**
   * Position at which the rest begins: a listing with this value as `from` returns everything not yet reported. At most
   * 200 characters.
   */
  place?: string;
}

/** The visible repositories, and the names in the config that the credential can't see. */
export interface ForgeListing {
  repositories: ForgeRepository[];
  /** Ids of repositories that were listed but could not be parsed. */
  odd: string[];
  /** True = the list contains no repositories whose ids could not be parsed. */
  isWhole: boolean;
  closed: {
    name: string;
    code: RefusalCode;
    /** The missing permission or name, if the forge reports it. */
    reason?: string | undefined;
    /** The id of an owner, all of whose repositories are hidden. */
    ownerId?: string;
  }[];
}

/** All calls of a run to a forge. Each kind of forge has its own implementation. Readers are reported separately. */
export interface Forge {
  /** Records that were listed but could not be parsed: threads by their numbers, parts by their ids. */
  odd: OddRecords;
  /** Checks that the server is up. @throws ApiError if the server is down, or refuses the credential */
  probe(): Promise<unknown>;
  /** Lists the repositories that the config includes, each once. */
  list(): Promise<ForgeListing>;
  /** Returns a repository by its id. @throws ApiError `source_not_found` */
  repository(id: string): Promise<ForgeRepository>;
  /**
   * Lists the issues and pull requests that the config includes, or only those that changed at or after a time. Each is
   * listed at least once. `from` continues such a listing from the `place` of one of its pages.
   */
  threads(repository: ForgeRepository, since?: number, from?: string): AsyncGenerator<ForgePage<ForgeThread>, void>;
  /** Counts the issues and pull requests of a repository. */
  count(repository: ForgeRepository): Promise<number>;
  /** Returns the lists of a repository that `comments` reads. */
  commentLists(repository: ForgeRepository): readonly CommentList[];
  /**
   * Lists the comments on threads, with the same options as `threads`. Reviews aren't included if `reviews` returns
   * them.
   */
  comments(
    repository: ForgeRepository,
    list: CommentList,
    at: { since?: number | undefined; from?: string | undefined },
  ): AsyncGenerator<ForgePage<ForgePart>, void>;
  /** Returns the reviews of a pull request with their comments. */
  reviews(repository: ForgeRepository, number: number): Promise<ForgePart[]>;
  /**
   * Returns the newest commit of the branch; undefined if nothing was pushed yet.
   * @throws ApiError `source_not_found`
   */
  head(repository: ForgeRepository): Promise<string | undefined>;
  /** Returns an issue or pull request. @throws ApiError `source_not_found` */
  thread(repository: ForgeRepository, number: number): Promise<ForgeThread>;
  /** Returns a comment or review. @throws ApiError `source_not_found` */
  part(repository: ForgeRepository, at: { number: number; part: string }): Promise<ForgePart>;
  /**
   * Called when every change in a repository was yielded, so that the responses may be stored for comparison with the
   * next ones.
   */
  remember?(repository: ForgeRepository): void;
}
