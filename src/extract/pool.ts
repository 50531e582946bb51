import { ApiError } from "#api/errors.ts";
import type { AnalyzedText, DocumentFields } from "#text/analyzer.ts";
import type { Log } from "#core/log.ts";
import { findShortage } from "#core/shortage.ts";
import { firstOf, type Spool } from "#core/spool.ts";
import type { Extracted, ExtractRequest, Extractor, NotExtracted } from "./extractor.ts";
import { ChildHandle, type ChildEnd, type ChildEvents, type Job } from "./child-handle.ts";
import { makeNoText, tooLargeMessage, typeOf } from "./extract.ts";
import { DEFAULT_EXTRACT_LIMITS, type ExtractLimits, WAITING_FACTOR } from "./limits.ts";
import { LOOK_BYTES, mayBePdf } from "./pdf-header.ts";
import { UNKNOWN_READER } from "./registry.ts";
import { spawnChild } from "./spawn-child.ts";
import { textTypeOfName } from "./text-types.ts";

export interface ExtractorOptions {
  /** Absolute path of the built child; in production, `findSpawnEntry("extractor")`. */
  childPath: string;
  /** Maximum number of children, which are started when there is work; two by default. */
  size?: number;
  limits?: Partial<ExtractLimits>;
  /** Monotonic milliseconds. */
  now(): number;
  /** Builds the term vector of items whose file no child could read. */
  analyze(fields: DocumentFields): AnalyzedText;
  log: Log;
  /** Stores files inside files if they are large; if absent, they stay in memory. */
  spool?: Spool;
  /** The Node that runs the children; by default, the one that runs this process. */
  node?: { path: string; version: string };
}

/**
 * Makes the extractor with a pool of child processes. Small files are sent to a child before it has answered the earlier ones (it works on one at a
 * time, in order); large files are sent alone. A child serves one workspace and is replaced after `recycleAfterFiles`. It ends when it is idle or
 * over its caps, or when its parent has ended.
 */
export function makeExtractor(options: ExtractorOptions): Extractor {
  const pool = new Pool(options);
  return {
    extract: (request, signal) => pool.extract(request, signal),
    stats: () => pool.stats(),
    close: () => pool.close(),
  };
}

/** Maximum size of files that are sent before earlier ones are answered. */
const SMALL_BYTES = 64 * 1024;
/** Additional time for a large file: a second per MiB, which is some five times what text and tables need. */
const MS_PER_BYTE = 1 / 1_048.576;
/** Maximum number of requests that a child has at once: enough to hide the round trip, few enough to lose in a crash. */
const MAX_SENT_AHEAD = 8;
/** How often clocks and memory of children are checked, in milliseconds: a parser can allocate about 100 MB in that time. */
const WATCH_MS = 100;
const START_TIMEOUT_MS = 20_000;
/** How long a child that uses much memory after a large file waits for another file; starting a child takes a third of a second. */
const LARGE_IDLE_MS = 500;
/** A workspace's child is reassigned to another workspace that has waited this long. */
const FAIR_WAIT_MS = 1_000;

class Pool {
  private readonly limits: ExtractLimits;
  private readonly size: number;
  private readonly children = new Set<ChildHandle>();
  private readonly waiting: Job[] = [];
  private readonly options: ExtractorOptions;
  private readonly onGone: (() => void)[] = [];
  private watcher: ReturnType<typeof setInterval> | undefined;
  private failedStarts = 0;
  private isClosed = false;

  constructor(options: ExtractorOptions) {
    this.options = options;
    this.size = options.size ?? 2;
    this.limits = { ...DEFAULT_EXTRACT_LIMITS, ...options.limits };
  }

  async extract(request: ExtractRequest, signal?: AbortSignal): Promise<Extracted | NotExtracted> {
    const first = request.bytes instanceof Uint8Array ? request.bytes : await firstOf(request.bytes, LOOK_BYTES);
    const isPdf = mayBePdf(first);
    if (this.isClosed) throw closedError();
    if (signal?.aborted === true) throw abortError(signal);
    if (request.bytes.length > this.limits.maxBytes) {
      const message = tooLargeMessage(request, this.limits);
      const why = { reason: "too_large", message, mimeType: typeOf(request), reader: null, retryable: false } as const;
      return makeNoText(request, why, this.options);
    }
    return new Promise((resolve, reject) => {
      const job = this.makeJob({ request, isPdf }, { resolve, reject }, signal);
      this.waiting.push(job);
      this.dispatch();
    });
  }

  stats(): { pid: number; rssBytes: number; files: number }[] {
    return [...this.children].flatMap(({ pid, rssBytes, files }) =>
      pid === undefined ? [] : [{ pid, rssBytes, files }],
    );
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const job of this.waiting.splice(0)) job.fail(closedError());
    if (this.children.size > 0) {
      const gone = new Promise<void>((resolve) => this.onGone.push(resolve));
      for (const child of this.children) child.kill("killed");
      await gone;
    }
    clearInterval(this.watcher);
  }

  private makeJob(
    { request, isPdf }: { request: ExtractRequest; isPdf: boolean },
    { resolve, reject }: { resolve: (result: Extracted | NotExtracted) => void; reject: (error: unknown) => void },
    signal: AbortSignal | undefined,
  ): Job {
    const onAbort = () => this.abandon(job, signal);
    const job: Job = {
      request,
      isSmall: request.bytes.length <= SMALL_BYTES && !isPdf,
      isPlainText: !isPdf && ![undefined, "text/html"].includes(textTypeOfName(request.fileName)),
      timeoutMs: (isPdf ? this.limits.pdfTimeoutMs : this.limits.timeoutMs) + request.bytes.length * MS_PER_BYTE,
      deaths: 0,
      isAbandoned: false,
      since: this.options.now(),
      settle: (result) => {
        signal?.removeEventListener("abort", onAbort);
        resolve(result);
      },
      fail: (error) => {
        signal?.removeEventListener("abort", onAbort);
        reject(error);
      },
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    return job;
  }

  /** Assigns waiting jobs to children that can accept them, and starts children up to the maximum. */
  private dispatch(): void {
    while (this.waiting.length > 0) {
      const child = this.tryToFindChild();
      if (child === undefined) break;
      const index = this.nextIndexFor(child);
      const job = this.waiting[index];
      if (job === undefined) break;
      this.waiting.splice(index, 1);
      child.send(job);
      // A file that killed a child is read alone by the next child, so that it can't affect other files.
      if (job.deaths > 0 || this.isWorn(child)) child.retire();
    }
    this.watch();
  }

  /** Finds a child. If none can be started, waiting jobs fail with the reason. Undefined in that case, and when all children are busy. */
  private tryToFindChild(): ChildHandle | undefined {
    try {
      return this.findChild();
    } catch (error) {
      for (const job of this.waiting.splice(0)) job.fail(error);
      return undefined;
    }
  }

  /** Returns the child with the fewest jobs that accepts its next job; otherwise a new child, if one is allowed. */
  private findChild(): ChildHandle | undefined {
    const staying = [...this.children]
      .filter((child) => !child.isLeaving)
      .sort((a, b) => a.jobs.length - b.jobs.length);
    const idle = staying.find((child) => child.jobs.length === 0 && this.accepts(child));
    if (idle !== undefined) return idle;
    // A retired child that has answered everything is only shutting down.
    const occupied = [...this.children].filter((child) => !child.isLeaving || child.jobs.length > 0).length;
    if (occupied < this.size) return this.startChild();
    const busy = staying.find((child) => this.accepts(child));
    if (busy !== undefined) return busy;
    // No child may accept the next job, so an idle child of another workspace is ended to make room for a new one.
    staying.find((child) => child.jobs.length === 0)?.retire();
    return undefined;
  }

  private isWorn(child: ChildHandle): boolean {
    const { recycleAfterFiles, recycleAfterTextFiles } = this.limits;
    return child.documents >= recycleAfterFiles || child.files >= recycleAfterTextFiles;
  }

  private accepts(child: ChildHandle): boolean {
    const job = this.waiting[this.nextIndexFor(child)];
    if (job === undefined) return false;
    if (job.deaths > 0) return child.files === 0;
    if (child.workspace !== undefined && child.workspace !== job.request.workspace) return false;
    const isAhead = child.jobs.length > 0;
    return !isAhead || (job.isSmall && child.jobs.length < MAX_SENT_AHEAD && child.jobs.every((sent) => sent.isSmall));
  }

  /** Returns the index of the waiting job for this child: the oldest of its workspace, unless another workspace has waited too long. */
  private nextIndexFor(child: ChildHandle): number {
    const oldest = this.waiting[0];
    if (oldest === undefined || child.workspace === undefined) return 0;
    if (oldest.deaths > 0 || this.options.now() - oldest.since > FAIR_WAIT_MS) return 0;
    return Math.max(
      0,
      this.waiting.findIndex((job) => job.request.workspace === child.workspace && job.deaths === 0),
    );
  }

  private startChild(): ChildHandle {
    const { childPath, node = { path: process.execPath, version: process.version } } = this.options;
    const { limits } = this;
    const started = spawnChild({
      nodePath: node.path,
      nodeVersion: node.version,
      childPath,
      limits,
    });
    const child: ChildHandle = new ChildHandle(
      started,
      this.options.now,
      {
        onIdleOrAnswered: () => {
          this.failedStarts = 0;
          this.dispatch();
        },
        onEnd: (...end) => this.onEnd(child, ...end),
      },
      this.options.spool,
    );
    this.children.add(child);
    return child;
  }

  private onEnd(child: ChildHandle, ...[end, unanswered, detail, cause]: Parameters<ChildEvents["onEnd"]>): void {
    this.children.delete(child);
    const shortage = end === "never_started" ? findShortage(cause) : undefined;
    if (shortage) for (const job of unanswered.splice(0)) job.fail(shortage);
    else if (end === "never_started") this.onFailedStart(detail);
    const [head, ...others] = unanswered;
    // Jobs that were sent ahead go back to the front, in order; only the first one was being processed.
    for (const job of others.toReversed()) this.requeue(job);
    if (head !== undefined) this.blame(head, end, detail);
    if (this.children.size === 0) for (const resolve of this.onGone.splice(0)) resolve();
    if (!this.isClosed) this.dispatch();
  }

  private blame(job: Job, end: ChildEnd, detail: string): void {
    if (job.isAbandoned) return;
    if (job.unread !== undefined) return this.settleUnread(job, job.unread);
    if (end === "killed" || (end === "never_started" && this.failedStarts < MAX_FAILED_STARTS))
      return this.requeue(job);
    job.deaths++;
    // A file that exceeded its time would do so again, but a crash may have been caused by another file.
    const retryable = end === "timeout" || end === "wait" || end === "never_started";
    if (!retryable && job.deaths < 2) return this.requeue(job);
    const why = {
      reason: "failed",
      message: endMessage(end, job, detail),
      mimeType: typeOf(job.request),
      reader: UNKNOWN_READER,
      retryable,
    } as const;
    job.settle(makeNoText(job.request, why, this.options));
  }

  private settleUnread(job: Job, detail: string): void {
    const message = `The file can't be read from the disk of kb's data folder (${detail}).`;
    const why = { reason: "failed", message, mimeType: typeOf(job.request), reader: null, retryable: true } as const;
    job.settle(makeNoText(job.request, why, this.options));
  }

  private requeue(job: Job): void {
    if (job.isAbandoned) return;
    if (this.isClosed) job.fail(closedError());
    else this.waiting.unshift(job);
  }

  /**
   * Children are started again with full isolation. If that fails too, files are refused until a start succeeds: no child runs without Node's
   * permission model, even if the machine is only slow. Source: S44.
   */
  private onFailedStart(detail: string): void {
    this.failedStarts++;
    if (this.failedStarts !== MAX_FAILED_STARTS) return;
    const { childPath, log } = this.options;
    log.error({ detail, childPath }, "extraction processes do not start; files are tried again later");
  }

  /** Settles an aborted job at once. If its file is large, its child is killed; otherwise the answer is discarded. */
  private abandon(job: Job, signal: AbortSignal | undefined): void {
    job.isAbandoned = true;
    job.fail(abortError(signal));
    const index = this.waiting.indexOf(job);
    if (index >= 0) this.waiting.splice(index, 1);
    for (const child of this.children) {
      if (!job.isSmall && child.jobs[0] === job) child.kill("killed");
    }
  }

  /** Checks clocks, memory and idleness while there are children. */
  private watch(): void {
    if (this.watcher !== undefined || this.children.size === 0) return;
    this.watcher = setInterval(() => {
      for (const child of this.children) {
        const isIdle = child.jobs.length === 0 && !child.isLeaving;
        const idleMs = isIdle ? this.options.now() - child.idleSince : 0;
        // A new process frees the memory that a large file left behind, which is half of the memory of two such children.
        const keepMs = child.rssBytes > this.limits.largeRssBytes ? LARGE_IDLE_MS : this.limits.idleMs;
        if (isIdle && (idleMs > keepMs || child.rssBytes > this.limits.maxRssBytes * 0.6)) child.retire();
        void child.watch(this.limits.maxRssBytes, START_TIMEOUT_MS);
      }
      if (this.children.size > 0) return;
      clearInterval(this.watcher);
      this.watcher = undefined;
    }, WATCH_MS);
    this.watcher.unref();
  }
}

const MAX_FAILED_STARTS = 4;

function endMessage(end: ChildEnd, job: Job, detail: string): string {
  switch (end) {
    case "timeout":
      return `Reading the file took more than ${Math.round(job.timeoutMs / 1000)} seconds of CPU time.`;
    case "wait":
      return `Reading the file took longer than ${Math.round((job.timeoutMs * WAITING_FACTOR) / 1000)} seconds.`;
    case "memory":
      return "Reading the file took more memory than allowed.";
    case "never_started":
      return `The extraction process could not start (${detail}).`;
    case "crash":
    case "killed":
    case "retired":
      return `Reading the file ended the extraction process (${detail}).`;
  }
}

function closedError(): ApiError {
  return new ApiError("unavailable", { message: "The extractor is closed." });
}

/** The error is always an `AbortError`, even if the reason was another one, because callers recognize it by name. */
function abortError(signal: AbortSignal | undefined): DOMException {
  const error = new DOMException("The extraction was aborted.", "AbortError");
  if (signal?.reason !== undefined) Object.defineProperty(error, "cause", { value: signal.reason });
  return error;
}
