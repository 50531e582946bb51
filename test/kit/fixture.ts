import type { MappingBody } from "#api/provider-servers.ts";
import type { Scope } from "#core/scope.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { Runs } from "#server/sync/run/run-session.ts";
import type { WebhookRequest } from "#sources/webhook.ts";
import type { Rewrite } from "./answers.ts";
import { openWays } from "./network.ts";

/** How a remote can fail. */
export type Failure =
  | "unreachable"
  | "unauthorized"
  | "rate_limited"
  | "hang"
  /** One container is refused (403). */
  | "one_container"
  /** One container is refused, and the server fails at another (500): `externalIds` are those of both. */
  | "two_containers"
  /** The content of one item is refused: for a source with `fetchContent`. */
  | "one_item";

/** A failure that is going on. */
export interface Failing {
  /** The items that can't be looked at for it: those of the one container, or the one whose content is refused. */
  externalIds: readonly string[];
  /** Makes the remote as it was. */
  heal(): Promise<void> | void;
}

/** One of several lists of a container, of things or of people. */
export interface KitList {
  /** What its addresses match. */
  at: RegExp;
  /** Whether an item comes by this list alone, or by none that is left without it. */
  has(externalId: string): boolean;
  /** It holds names of people: no one is told that one is missing. */
  isOfNames?: true;
}

/** Somebody who is at the remote. */
export interface KitPerson {
  /** As the remote knows them, for ever: the last part of their principal. */
  id: string;
}

/**
 * A source over a remote of its own (real, emulated or made up), and the ways to change that remote. What is optional is
 * a capability: checks that need it pass where it is absent, but for what the source's spec makes it give.
 */
export interface KitFixture<Config = unknown> {
  source: Source<Config>;
  /** What runs of the source say, where faults are planted in the books of a run; what its sessions make of it unless told. */
  runs?: Runs<Config>;
  config: Config;
  /** Configurations that the schema or `check` must refuse; at least one. */
  badConfigs: readonly unknown[];
  /** What the source signs in with; nothing unless told. */
  credentials?: Readonly<Record<string, string>>;
  /** Credentials that `check` must refuse, for sources that take any. */
  badCredentials?: Readonly<Record<string, string>>;
  /** Differs from the kit's own context (today, a workspace connector) where needed. */
  context?: Partial<Pick<SourceContext<Config>, "connector" | "now" | "mcp">>;
  /** A source that reads by a connection to a provider server: that server, and how its tools are mapped. `context` opens it. */
  connection?: { url: string; mapping: MappingBody };
  /** How many items the remote holds at least; 6 or more make the resume checks worth something. */
  minItems: number;
  /** A scope that leaves out some of the items, and not all. */
  narrowerScope: Scope;
  /** Each changes the remote and gives the externalId of the item it touched. An edited item has content to fetch, if any has. */
  add(): Promise<string>;
  edit(): Promise<string>;
  remove(): Promise<string>;
  /** Adds items with titles in other scripts, very long, empty or blank as the remote allows; gives their ids. */
  addOdd?(): Promise<readonly string[]>;
  /** Moves an item to where other people read it, and changes nothing else; gives its externalId. */
  moveItem?(): Promise<string>;
  /** Renames an item in the way that gives it another externalId; gives both. Another one each time. */
  renameItem?(): Promise<{ from: string; to: string }>;
  /** Changes who may read an item, and not the item; gives its externalId. */
  changeAccess?(): Promise<string>;
  /** Makes the remote fail from now on; undefined = it can't fail in this way. */
  fail?(kind: Failure): Promise<Failing | undefined>;
  /** The remote forgets what it knew of changes: a cursor of before is of no use to it. */
  expireCursor?(): Promise<void>;
  /** Everybody who is active at the remote. */
  people?(): Promise<readonly KitPerson[]>;
  /** Ids of the people who may read an item at the remote, now. */
  whoSees?(externalId: string): Promise<readonly string[]>;
  /** Whether everybody may read an item at the remote without signing in. Absent = nothing is so. */
  isPublic?(externalId: string): Promise<boolean>;
  /** Somebody leaves the remote for good; gives their id. */
  removePerson?(): Promise<string>;
  /** A group that lets people read items is gone; gives the ids of those who read nothing by it any more. */
  removeGroup?(): Promise<readonly string[]>;
  /** Credentials of another account at the remote, and the ids of the items that it sees. */
  swapAccount?(): Promise<{ credentials: Readonly<Record<string, string>>; externalIds: readonly string[] }>;
  /**
   * What the remote sends to this server of the last change of an item, signed with the secret. `named`: the item that it
   * names in its place, where a run of that one reads its parts too.
   */
  notification?(externalId: string): Promise<{ secret: string; request: WebhookRequest; named?: string }>;
  /** Whom the remote notifies now because a source subscribed. */
  subscriptions?(): Promise<readonly { url: string }[]>;
  /** Lists that can fail while the others are read. */
  lists?: readonly KitList[];
  /** The remote's links and references lead to this origin from now on. */
  leadAway?(origin: string): Promise<void>;
  /** Requests that came to the remote so far. */
  requests?(): number;
  /**
   * Keys that say that a listing goes on, and that its last page doesn't have, by a part of what the kit calls the listing
   * (`search/jql .issues`): `next`, or `_links.next` for one inside.
   */
  endMarks?: Readonly<Record<string, string>>;
  /** Keys that records are known by, besides `id`, `ts`, `event_id`, `fileId`, `number` and `node_id`: such as `sub_url`. */
  idKeys?: readonly string[];
  /** Set by checks: what becomes of the remote's JSON answers on their way to the source. */
  rewrite?: Rewrite;
  /** Milliseconds that a run may go on after its abort; seconds unless given. For a source that never ends. */
  abortMs?: number;
}

/** Makes a fixture that shares nothing with any other. */
export type MakeFixture = () => Promise<KitFixture>;

/** The connector of the checks, and the instance that users of its source are of. */
export const CONNECTOR_ID = "con_aaaaaaaaaaaaaaaa";
export const INSTANCE = "remote.test";

/** The context of a call, with its own abort signal; what is logged goes to `log`. */
export function contextOf(
  fixture: KitFixture,
  signal: AbortSignal = new AbortController().signal,
  log: SourceContext<unknown>["log"] = () => undefined,
): SourceContext<unknown> {
  const { source, config, credentials = {} } = fixture;
  const { connector, ...more } = fixture.context ?? {};
  const grant = { source, config, credentials, signal };
  return {
    config,
    connector: {
      id: CONNECTOR_ID,
      name: "Kit",
      visibility: "workspace",
      ...(source.spec.hasPeople && { instance: INSTANCE }),
      ...connector,
    },
    ...openWays(grant, () => void calls.set(source, callsOf(fixture) + 1), fixture.rewrite),
    now: () => Date.now(),
    ...more,
    signal,
    log,
  };
}

const calls = new WeakMap<object, number>();

/** How often the source has asked for something over HTTP. */
export function callsOf({ source }: Pick<KitFixture, "source">): number {
  return calls.get(source) ?? 0;
}

/** A place to go on from after each page: a run can be killed, and gone on with, wherever it may be. */
export const AT_EACH_PAGE = { everyMs: 0 };
