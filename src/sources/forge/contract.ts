import type { RefusalCode } from "#sources/outcomes.ts";
import type { OddRecords } from "#sources/listed.ts";

/** What of a repository becomes items. */
export const FORGE_CONTENT = ["issues", "pulls", "files"] as const;
export type ForgeContent = (typeof FORGE_CONTENT)[number];

export interface ForgeUser {
  /** Absent: nobody of this instance, such as the author of a migrated issue. */
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
  /** What it has, of what the config asks for. */
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

/** What somebody said about a thread. */
export interface ForgePart {
  /** `c1` a comment, `r1` a review, `v1` a comment of a review. */
  id: string;
  number: number;
  isPull: boolean;
  body: string;
  author?: ForgeUser;
  /** Of a review: what it says of the changes. */
  verdict?: "approved" | "changes requested" | "commented" | "dismissed";
  /** Where it is on the page of its thread. */
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
  /** Where the rest begins: a listing that is asked `from` there gives all that was not told up to here. At most 200 characters. */
  place?: string;
}

/** What the repositories are, and which names of the config are closed to the credential. */
export interface ForgeListing {
  repositories: ForgeRepository[];
  /** Ids of repositories that were listed and aren't understood. */
  odd: string[];
  /** There are no others, whose ids aren't understood either. */
  isWhole: boolean;
  closed: {
    name: string;
    code: RefusalCode;
    /** What is missing, where the forge says it. */
    reason?: string | undefined;
    /** All that this owner has. */
    ownerId?: string;
  }[];
}

/** Every call that a run makes; each forge has its own. Who may read what is told apart. */
export interface Forge {
  /** What was listed and isn't understood: threads by their numbers, parts by their ids. */
  odd: OddRecords;
  /** @throws ApiError when the server isn't well, or doesn't take the credential */
  probe(): Promise<unknown>;
  /** The repositories that the config asks for, each once. */
  list(): Promise<ForgeListing>;
  /** @throws ApiError `source_not_found` */
  repository(id: string): Promise<ForgeRepository>;
  /**
   * Issues and pull requests that the config asks for, or those of them that changed at or after an instant. Each at least
   * once. `from`: the rest of such a listing, by the `place` of one of its pages.
   */
  threads(repository: ForgeRepository, since?: number, from?: string): AsyncGenerator<ForgePage<ForgeThread>, void>;
  /** How many there are of them. */
  count(repository: ForgeRepository): Promise<number>;
  /** What is said about threads, as `threads`; reviews are not among it where `reviews` gives them. */
  comments(repository: ForgeRepository, since?: number, from?: string): AsyncGenerator<ForgePage<ForgePart>, void>;
  /** The reviews of a pull request with their comments. */
  reviews(repository: ForgeRepository, number: number): Promise<ForgePart[]>;
  /** The newest commit of the branch; undefined where nothing was pushed yet. @throws ApiError `source_not_found` */
  head(repository: ForgeRepository): Promise<string | undefined>;
  /** @throws ApiError `source_not_found` */
  thread(repository: ForgeRepository, number: number): Promise<ForgeThread>;
  /** @throws ApiError `source_not_found` */
  part(repository: ForgeRepository, at: { number: number; part: string }): Promise<ForgePart>;
  /** Everything that changed in a repository was handed over: what was answered may be kept as the state of before. */
  remember?(repository: ForgeRepository): void;
}
