import type { RefusalCode } from "#sources/outcomes.ts";
import type { OddRecords } from "#sources/listed.ts";

/** The parts of a repository that become items. */
export const FORGE_CONTENT = ["issues", "pulls", "files"] as const;
export type ForgeContent = (typeof FORGE_CONTENT)[number];

/** Lists of comments; a forge has them in one, or those on code in another. */
export const COMMENT_LISTS = ["comments", "reviewComments"] as const;
export type CommentList = (typeof COMMENT_LISTS)[number];

export interface ForgeUser {
  /** Absent: not a user of this instance, such as the author of a migrated issue. */
  id?: string;
  login: string;
  name?: string;
}

export interface ForgeRepository {
  /** Immutable and numeric. */
  id: string;
  /** `owner/name`. */
  fullName: string;
  owner: { id: string; login: string };
  webUrl: string;
  /** The content it has, of what the config includes. */
  content: ReadonlySet<ForgeContent>;
  /** Absent: there is no branch yet. */
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
  /** `c1` a comment, `r1` a review, `v1` a comment of a review. */
  id: string;
  number: number;
  isPull: boolean;
  body: string;
  author?: ForgeUser;
  /** For a review: its verdict on the changes. */
  verdict?: "approved" | "changes requested" | "commented" | "dismissed";
  /** Its fragment on the page of its thread. */
  anchor?: string;
  /** The file that it is about. */
  file?: string;
  /** The id of the part that it answers or belongs to. */
  of?: string;
  createdAt: number;
  updatedAt: number;
}

/** A page of a listing, and the forge's clock when it was made. */
export interface ForgePage<T> {
  records: T[];
  at: number;
  /**
   * Where the rest begins: a listing with this as `from` returns everything not yet reported. At most 200 characters.
   */
  place?: string;
}

/** The repositories, and the names in the config that the credential can't see. */
export interface ForgeListing {
  repositories: ForgeRepository[];
  /** Ids of repositories that were listed and aren't understood. */
  odd: string[];
  /** True = the list has no repositories whose ids could not be parsed either. */
  isWhole: boolean;
  closed: {
    name: string;
    code: RefusalCode;
    /** The missing permission or name, if the forge reports it. */
    reason?: string | undefined;
    /** All repositories of this owner. */
    ownerId?: string;
  }[];
}

/** Every call of a run; each forge has its own. Readers are reported separately. */
export interface Forge {
  /** Records that were listed and aren't understood: threads by their numbers, parts by their ids. */
  odd: OddRecords;
  /** @throws ApiError when the server is down, or refuses the credential */
  probe(): Promise<unknown>;
  /** The repositories that the config includes, each once. */
  list(): Promise<ForgeListing>;
  /** @throws ApiError `source_not_found` */
  repository(id: string): Promise<ForgeRepository>;
  /**
   * Issues and pull requests that the config includes, or those of them that changed at or after an instant. Each at
   * least once. `from`: the rest of such a listing, by the `place` of one of its pages.
   */
  threads(repository: ForgeRepository, since?: number, from?: string): AsyncGenerator<ForgePage<ForgeThread>, void>;
  /** Their number. */
  count(repository: ForgeRepository): Promise<number>;
  /** The lists of a repository that `comments` reads. */
  commentLists(repository: ForgeRepository): readonly CommentList[];
  /** The comments on threads, as `threads`; without reviews if `reviews` returns those. */
  comments(
    repository: ForgeRepository,
    list: CommentList,
    at: { since?: number | undefined; from?: string | undefined },
  ): AsyncGenerator<ForgePage<ForgePart>, void>;
  /** The reviews of a pull request with their comments. */
  reviews(repository: ForgeRepository, number: number): Promise<ForgePart[]>;
  /** The newest commit of the branch; undefined where nothing was pushed yet. @throws ApiError `source_not_found` */
  head(repository: ForgeRepository): Promise<string | undefined>;
  /** @throws ApiError `source_not_found` */
  thread(repository: ForgeRepository, number: number): Promise<ForgeThread>;
  /** @throws ApiError `source_not_found` */
  part(repository: ForgeRepository, at: { number: number; part: string }): Promise<ForgePart>;
  /** Called when every change in a repository was yielded: the responses may be stored as the previous state. */
  remember?(repository: ForgeRepository): void;
}
