import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useParams } from "@tanstack/react-router";
import { describeActivity, describeNotWatched } from "#api/activity-words.ts";
import { whoMay } from "#api/act-words.ts";
import type { Connector, Sync } from "#api/connector-records.ts";
import { count } from "#api/plural.ts";
import { describeHiddenItems, describeReadByNobody, describeStale } from "#api/hidden-items.ts";
import { describeUnread } from "#api/people-words.ts";
import { describeReadAgain } from "#api/read-again-words.ts";
import {
  actOnNeed,
  adviceOn,
  itemsSummary,
  MODE_WORDS,
  STATE_WORDS,
  SYNC_WORDS,
  VISIBILITY_WORDS,
} from "#server/web/app/data/connector-words.ts";
import { api } from "#server/web/app/data/client.ts";
import { connectorQuery, syncsQuery, useSource } from "#server/web/app/data/connectors.ts";
import { useLiveSyncs } from "#server/web/app/data/live-syncs.ts";
import { LoadedPage } from "#server/web/app/shell/loaded-page.tsx";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useAct } from "#server/web/app/ui/act.ts";
import { Badge, EmptyState, StateBadge } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { TerminalCommand } from "#server/web/app/ui/copy-field.tsx";
import { Fact, Facts } from "#server/web/app/ui/facts.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { type Column, headColumn } from "#server/web/app/ui/table.tsx";
import { Time, useTimeWords } from "#server/web/app/ui/time.tsx";
import { Credentials } from "./credentials.tsx";
import { LeftOut } from "./left-out.tsx";
import { OwnAccountLink, People } from "./people.tsx";
import { Removals } from "./removals.tsx";
import { Removed } from "./removed.tsx";
import { ScopeSection } from "./scope.tsx";
import { Settings } from "./settings.tsx";
import { TakeOver } from "./take-over.tsx";
import { Webhook } from "./webhook.tsx";
import { WithoutText } from "./without-text.tsx";

/** One connector, for its owner and admins: what it needs, what it has indexed, and its last runs. */
export function Page() {
  const { connectorId = "" } = useParams({ strict: false });
  useLiveSyncs();
  return (
    <LoadedPage query={useQuery(connectorQuery(connectorId))}>
      {(connector) => <Overview connector={connector} />}
    </LoadedPage>
  );
}

function Overview({ connector }: { connector: Connector }) {
  const { allowed, isPushed, name, state } = connector;
  return (
    <PageFrame
      action={<Acts connector={connector} />}
      lead={<StateBadge {...STATE_WORDS[state]} />}
      title={name}
      within="/workspace/connectors"
    >
      <Warnings />
      <Needs connector={connector} />
      {/* The bar is between two sections, so that nothing moves when a run begins or ends. */}
      <div className="relative">
        <About connector={connector} />
        <Progress connector={connector} />
      </div>
      <Removals connector={connector} />
      {!isPushed && state !== "deleting" && <ScopeSection connector={connector} />}
      {!isPushed && <Syncs connector={connector} />}
      {!isPushed && <LeftOut connector={connector} />}
      <WithoutText connector={connector} />
      <People connector={connector} />
      {allowed.includes("restore") && <Removed connector={connector} />}
      {!isPushed && allowed.includes("webhook") && <Webhook connector={connector} />}
      {state !== "deleting" && <Settings connector={connector} />}
    </PageFrame>
  );
}

/** The warnings that the source returned when it was connected. They are shown until the person continues. */
function Warnings() {
  const { warnings = [] } = useLocation().state;
  return warnings.map((warning) => (
    <Notice key={warning} tone="warn">
      {warning}
    </Notice>
  ));
}

/** Tasks that wait for a person. */
function Needs({ connector }: { connector: Connector }) {
  const when = useTimeWords();
  const advice = adviceOn(connector);
  const { aclStale, counts, notWatched, readByNobody } = connector;
  const readAgain = connector.isPushed ? describeReadAgain(connector) : undefined;
  const notes = [
    ...(aclStale ? [describeStale(aclStale, when)] : []),
    ...describeHiddenItems(counts),
    ...(notWatched ? [describeNotWatched(notWatched, when)] : []),
    ...(readAgain === undefined ? [] : [readAgain]),
  ];
  if (advice === undefined && notes.length === 0 && readByNobody === undefined) return null;
  return (
    <div className="space-y-3">
      {advice && (
        <>
          <Notice tone={connector.state === "paused" ? "info" : "warn"}>{advice.says}</Notice>
          <Help connector={connector} command={advice.command} />
        </>
      )}
      {readByNobody && (
        <Notice tone="warn">
          {describeReadByNobody(readByNobody)} <OwnAccountLink connector={connector} />
        </Notice>
      )}
      {notes.map((note) => (
        <Notice key={note} tone="warn">
          {note}
        </Notice>
      ))}
    </div>
  );
}

/** The actions that the person can take here, or the people who can help. */
function Help({ connector, command }: { connector: Connector; command: string | undefined }) {
  const { isPushed, state } = connector;
  const act = actOnNeed(state);
  const others = act && whoMay(connector, act);
  if (others !== undefined) return <p className="text-muted">{others}</p>;
  if (act === "take_over" && !isPushed) return <TakeOver connector={connector} />;
  if (act === "reconnect") return <Credentials connector={connector} command={command} />;
  return command !== undefined && <TerminalCommand command={command} />;
}

function About({ connector }: { connector: Connector }) {
  const { providerId, isPushed, owner, access, schedule, counts, createdAt, keyPrefix, freshness } = connector;
  const activity = describeActivity(connector, useTimeWords());
  const source = useSource(providerId)?.name ?? providerId;
  const { url } = connector.config;
  return (
    <Facts>
      <Fact label="Source">{typeof url === "string" ? `${source}, ${url}` : source}</Fact>
      <Fact label="Owner">{owner.name || "Former member"}</Fact>
      <Fact label="Visible to">{VISIBILITY_WORDS[access.visibility]}</Fact>
      <Fact label="Created">
        <Time at={createdAt} />
      </Fact>
      <Fact label="Key">{keyPrefix && `${keyPrefix}…`}</Fact>
      {!isPushed && (
        <Fact label="Schedule">{schedule === null ? "Manual" : `Every ${schedule.everyMinutes} minutes`}</Fact>
      )}
      <Fact label="Activity">{activity}</Fact>
      <Fact label="Oldest group read">{freshness && <Time at={freshness.oldestGroupAt} />}</Fact>
      <Fact label="Items">
        {itemsSummary(counts)}
        {counts.indexed > 0 && (
          <>
            {" "}
            ·{" "}
            <Link search={{ source: connector.id }} to="/search">
              Search
            </Link>
          </>
        )}
      </Fact>
    </Facts>
  );
}

/** Progress of the current run. */
function Progress({ connector: { activity, name } }: { connector: Connector }) {
  if (activity.type !== "syncing") return null;
  const { done, total } = activity;
  return (
    <progress
      aria-label={`Sync of ${name}`}
      className="bar absolute inset-x-0 -bottom-3.5"
      {...(total !== null && total > 0 && { max: total, value: Math.min(done, total) })}
    />
  );
}

type Kind = "sync" | "people" | "pause" | "resume";

const DONE_WORDS: Readonly<Record<Kind, (name: string) => string>> = {
  sync: (name) => `Sync started for ${name}`,
  people: (name) => `People and groups of ${name} are being read`,
  pause: (name) => `${name} paused`,
  resume: (name) => `${name} resumed`,
};

/** Buttons for syncing, pausing and resuming, as the state allows. */
function Acts({ connector: { id, name, state, isPushed, activity, freshness, allowed } }: { connector: Connector }) {
  const params = { path: { id } };
  const acts: Readonly<Record<Kind, () => Promise<unknown>>> = {
    sync: () => api.post("/api/connectors/{id}/syncs", { params, body: {} }),
    people: () => api.post("/api/connectors/{id}/syncs", { params, body: { mode: "identities" } }),
    pause: () => api.post("/api/connectors/{id}/pause", { params }),
    resume: () => api.post("/api/connectors/{id}/resume", { params }),
  };
  const act = useAct(
    async (kind: Kind) => {
      await acts[kind]();
      return DONE_WORDS[kind](name);
    },
    { toast: (words) => words, invalidates: ["connectors"] },
  );
  const button = (kind: Kind) => ({ isBusy: act.input === kind, onClick: () => act.run(kind) });
  const isActive = state === "active";
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap gap-2">
        {isActive && allowed.includes("sync") && !isPushed && activity.type !== "syncing" && (
          <Button {...button("sync")}>Sync now</Button>
        )}
        {isActive && allowed.includes("sync") && freshness !== undefined && (
          <Button {...button("people")}>Read people and groups now</Button>
        )}
        {isActive && allowed.includes("pause") && <Button {...button("pause")}>Pause</Button>}
        {(state === "paused" || state === "error") && allowed.includes("resume") && (
          <Button {...button("resume")} kind="primary">
            Resume
          </Button>
        )}
      </div>
      <ProblemNotice className="max-w-sm" problem={act.problem} />
    </div>
  );
}

function Syncs({ connector }: { connector: Connector }) {
  const query = useQuery({ ...syncsQuery(connector), select: toRecent });
  return (
    <TableSection
      columns={COLUMNS}
      empty={<EmptyState icon="list" title="No syncs yet" />}
      keyOf="id"
      label="Recent syncs"
      query={query}
      title="Recent syncs"
    />
  );
}

const COLUMNS: Column<Sync>[] = [
  headColumn("Result", ({ state, mode, trigger }) => (
    <>
      <Badge tone={state === "succeeded" ? "ok" : state === "failed" || state === "partial" ? "warn" : "plain"}>
        {SYNC_WORDS[state]}
      </Badge>
      <span className="text-muted block text-xs">{trigger === "reader" ? "Reading again" : MODE_WORDS[mode]}</span>
    </>
  )),
  {
    title: "Items",
    cell: ({ mode, state, counts, people, problem, progress: { done } }) => (
      <>
        {isUnderWay(state) ? soFar(done) : mode === "identities" ? `${count(counts.seen)} read` : countsOf(counts)}
        {problem && (
          <span className="text-muted mt-1 block text-xs wrap-break-word">
            {problem.message} {problem.hint}
          </span>
        )}
        <span className="text-muted mt-1 block text-xs wrap-break-word empty:hidden">
          {people?.state === "waiting" ? "Begins once people and groups are read." : describeUnread({ people })}
        </span>
      </>
    ),
  },
  { title: "Started", cell: ({ startedAt }) => <Time at={startedAt} never="not yet" /> },
];

/** Keeps only the newest of consecutive successful runs of people and groups, because one runs every few minutes. */
function toRecent(syncs: readonly Sync[]): Sync[] {
  const isUsual = (sync: Sync | undefined) => sync?.mode === "identities" && sync.state === "succeeded";
  return syncs.filter((sync, at) => !(isUsual(sync) && isUsual(syncs[at - 1]))).slice(0, RECENT);
}

/** Number of rows shown. */
const RECENT = 10;

function isUnderWay(state: Sync["state"]): boolean {
  return state === "queued" || state === "running" || state === "waiting" || state === "cancelling";
}

function soFar(done: number): string {
  return done === 0 ? "–" : `${count(done)} so far`;
}

function countsOf({ upserted, deleted, unchanged, failed, datesLeftOut = 0, faults = 0 }: Sync["counts"]): string {
  const counted = (value: number, word: string) => (value > 0 ? [`${count(value)} ${word}`] : []);
  const counts = [
    ...counted(upserted, "indexed"),
    ...counted(deleted, "removed"),
    ...counted(unchanged, "unchanged"),
    ...counted(failed, "failed"),
    ...counted(datesLeftOut, datesLeftOut === 1 ? "impossible date left out" : "impossible dates left out"),
    ...counted(faults, faults === 1 ? "fault of kb (see the server's log)" : "faults of kb (see the server's log)"),
  ];
  return counts.length === 0 ? "None" : counts.join(", ");
}
