import { actOn } from "#storage/audit-act.ts";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeMcpOpener } from "./compose/provider-servers.ts";
import type { Writable } from "node:stream";
import { ERROR_CLASSES, isApiError } from "#api/errors.ts";
import { requireSameKey } from "#storage/key-check.ts";
import { openDataFolder, type DataFolder, type DeriveKey } from "#storage/data-folder.ts";
import { isRestored, stepMark } from "#storage/folder-mark.ts";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { openLog } from "./log/open-log.ts";
import { makeLog } from "./log/log.ts";
import { makeSmtpMailer } from "./identity/mail/smtp-mailer.ts";
import { endSignIns } from "./identity/sessions/restored.ts";
import { umaskFor } from "#storage/private-files.ts";
import { findPackageRoot, findSpawnEntry } from "#core/spawn.ts";
import { openDatabase, type Database } from "#storage/database/db.ts";
import { makeStore } from "#storage/records/store.ts";
import { makeVault } from "#storage/vault.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { announceClosed, announceHealth, announceRestored, announceReady, setupLines } from "./announce.ts";
import { makeApp } from "./app.ts";
import { isOpenToStrangers, loadSettings, type Settings, weakeningSettings } from "./settings/config.ts";
import { type Content, makeContent } from "./compose/content.ts";
import { type Foundation, makeFoundation, readSecretKeys, requirePrivateHosts } from "./compose/foundation.ts";
import { type Identity, type IdentityOptions, makeIdentity } from "./compose/identity.ts";
import { makeSpool } from "#core/spool.ts";
import { makeExtractor } from "#extract/pool.ts";
import { answerStarting, listen, type Listener } from "./listen.ts";
import type { Clock } from "#core/clock.ts";
import { defined } from "#core/defined.ts";
import type { Log } from "#core/log.ts";
import { makeSourceRegistry } from "#sources/registry.ts";
import { readWebPage } from "./web/serve.ts";
import { whenIdle } from "./when-idle.ts";

/** Options of `kb serve`. */
export interface ServerOptions {
  /** Settings from the command line, by their camelCase names. `config` is the path of the settings file. */
  flags: Readonly<Record<string, string | undefined>>;
  env: Readonly<Record<string, string | undefined>>;
  /**
   * The destination of log lines, unless the settings name a file: an open file descriptor, and whether people read it
   * on a terminal.
   */
  log: { fd: number; isTerminal: boolean; hasColour: boolean };
  /** Stream for messages to people: the address, the setup code, the reason why the server can't start. */
  stderr: Writable;
  /** Called once, when the server accepts requests on `port`. */
  onReady(port: number): void;
  /** Aborted when the process should stop. */
  signal: AbortSignal;
}

/**
 * Runs the server until the signal aborts, then stops it in order.
 *
 * @returns the exit code: 0, or the code of the error's class if the server could not start
 */
export async function runServer(options: ServerOptions): Promise<number> {
  const say = (line: string) => void options.stderr.write(`${line}\n`);
  try {
    const { config, ...flags } = options.flags;
    const { settings, warnings } = loadSettings({
      env: options.env,
      flags,
      ...defined({ configFile: config }),
    });
    for (const warning of warnings) say(`Warning: ${warning}`);
    const output = openLog({ logFile: settings.logFile, clock: CLOCK, ...options.log }, say);
    try {
      const server = await startServer(settings, { env: options.env, log: makeLog(settings.logLevel, output), say });
      options.onReady(server.port);
      await aborted(options.signal);
      await server.stop();
    } finally {
      const lost = await output.flush(LAST_LINES_MS);
      if (lost > 0) say(`${lost} log lines were lost: the log could not be written.`);
    }
    return 0;
  } catch (error) {
    if (!isApiError(error)) throw error;
    say(`kb serve: ${error.message}`);
    if (error.hint !== undefined) say(error.hint);
    return ERROR_CLASSES[error.class].exit;
  }
}

const CLOCK: Clock = { now: () => Date.now() };
const LAST_LINES_MS = 1_000;

interface StartContext extends Pick<ServerOptions, "env"> {
  log: Log;
  say(line: string): void;
}

interface RunningServer {
  port: number;
  stop(): Promise<void>;
}

/** All opened resources, which are closed in reverse order. */
interface Opened {
  folder: DataFolder;
  database: Database;
  content: Content;
  listener: Listener;
}

async function startServer(settings: Settings, { env, log, say }: StartContext): Promise<RunningServer> {
  const clock = CLOCK;
  const secretKeys = readSecretKeys(settings);
  requirePrivateHosts(settings);
  const readers = settings.dataDirGroup ? "group" : "owner";
  process.umask(umaskFor(readers));
  const folder = openDataFolder(settings.dataDir, readers);
  announceClosed(folder.closed, log);
  const undo: (() => Promise<void> | void)[] = [() => folder.release()];
  try {
    const database = await openDatabase({
      file: folder.databaseFile,
      durability: settings.durability,
      writerEntry: findSpawnEntry("writer"),
    });
    undo.unshift(() => database.close());
    database.health.onChange((fault) => announceHealth(fault, { log, file: database.file }));
    const store = makeStore(database);
    const deriveKey = folder.openKey((await store.workspaces.list()).length > 0);
    await requireSameKey(store.installation, deriveKey, folder.path);
    await database.writer.call("sweepIndex", {});
    let app: ReturnType<typeof makeApp> | undefined;
    // Links contain the port, so it must be known before they are made. With port 0 the system chooses it.
    const listener = await listen(
      (request, env) => app?.fetch(request, env) ?? answerStarting(),
      settings.host,
      settings.port,
      log,
      { keepAliveMs: settings.keepAliveS * 1000 },
    );
    undo.unshift(async () => void (await listener.close(0)));
    const foundation = makeFoundation(settings, {
      homeDir: env["HOME"] ?? env["USERPROFILE"],
      clock,
      log,
      store,
      port: listener.port,
      // Values that were sealed before the settings had keys are opened with the data folder's key.
      vault: makeVault([...secretKeys, { id: "file", key: deriveKey("vault") }], randomBytes),
    });
    const searchPath = env["PATH"] ?? DEFAULT_PATH;
    const { identity, content } = await compose(settings, foundation, { folder, deriveKey, database, searchPath, say });
    undo.unshift(() => content.close());
    // The first admin exists before the first request is handled.
    const setupCode = await makeFirstAdmin(settings, identity);
    const step = () => stepMark(folder.path, store.installation);
    if (isRestored(folder.path, await store.installation.findMark())) {
      await endSignIns({ store, clock });
      await invalidateRestored({ identity, content }, { log, say, dataDir: folder.path });
    }
    // If the disk is full, the next start reports the same fault.
    await step().catch((error: unknown) => log.warn({ error: String(error) }, "the data folder could not be marked"));
    let isReady = true;
    let isStopping = false;
    app = makeApp(
      { ...foundation, ...identity, ...content, isReady: () => isReady, storage: database.health },
      { web: readWebPage(join(findPackageRoot(), "dist", "web")) },
    );
    content.worker.start();
    content.sourceWatcher.start();
    content.eventDelivery.start();
    content.warm().catch((error: unknown) => {
      // The server was stopped before search was warm, so there is nothing to report.
      if (!isStopping) log.warn({ error: String(error) }, "search could not be warmed up");
    });
    // The first query loads it. Without it, the start and pushes are faster.
    const endWarming = whenIdle(() => warmLater(identity, log), WARM_AFTER_MS);
    const endUpkeep = startUpkeep(settings, { identity, content, log, step, writer: database.writer });
    announceReady(foundation.settings.baseUrl, setupCode, say);
    log.info({ url: foundation.settings.baseUrl, dataDir: settings.dataDir }, "ready");
    return {
      port: listener.port,
      stop: () => {
        isStopping = true;
        endWarming();
        endUpkeep();
        const goDown = () => void (isReady = false);
        return stopServer({ folder, database, content, listener }, { settings, log, identity, goDown });
      },
    };
  } catch (error) {
    for (const close of undo) await close();
    throw error;
  }
}

const WARM_AFTER_MS = 10_000;

/** Loads the modules for which a client's first sign-in would otherwise wait. */
function warmLater({ oauth }: Identity, log: Log): void {
  oauth.warm().catch((error: unknown) => log.warn({ error: String(error) }, "client sign-in could not be warmed up"));
}

/** Builds every service on the opened resources. */
async function compose(
  settings: Settings,
  foundation: Foundation,
  opened: {
    folder: DataFolder;
    deriveKey: DeriveKey;
    database: Database;
    searchPath: string;
    say: (line: string) => void;
  },
): Promise<{ identity: Identity; content: Content }> {
  const { database, deriveKey, folder, say, searchPath } = opened;
  const identity = makeIdentity(foundation, {
    cursorKey: deriveKey("cursor"),
    oauthKey: deriveKey("oauth"),
    operatorKey: deriveKey("operator"),
    announceSetupCode: (code) => say(setupLines(foundation.settings.baseUrl, code)),
    ...outsideOf(settings),
  });
  const spool = makeSpool(join(folder.path, "spool"));
  spool.clear();
  const content = await makeContent(foundation, identity, {
    index: makeSearchPool({
      file: database.file,
      workerUrl: findSpawnEntry("searcher"),
      onFailure: (error) => database.health.note(error),
      searches: database.searches,
    }),
    spool,
    syncBytes: settings.syncMemoryMb * 1024 * 1024,
    extractor: makeExtractor({
      spool,
      childPath: findSpawnEntry("extractor"),
      now: () => performance.now(),
      analyze: analyzeDocument,
      log: foundation.log,
    }),
    sources: makeSourceRegistry({
      allowedRoots: () => identity.localRoots.allowed(),
      dataFolder: folder.path,
      isOpenToStrangers: isOpenToStrangers(settings),
      guard: foundation.addressGuard,
      searchPath,
    }),
    openMcp: makeMcpOpener({
      guard: foundation.addressGuard,
      instanceId: foundation.instanceId,
    }),
    sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
  });
  return { identity, content };
}

/** The mail server and the identity provider, from the settings. */
function outsideOf(settings: Settings): Pick<IdentityOptions, "mailer" | "sso"> {
  const { smtpUrl: url, mailFrom: from, oidcIssuer: issuer, oidcClientId: clientId } = settings;
  const { oidcClientSecret: clientSecret, oidcName: name, oidcDomains } = settings;
  const domains = oidcDomains.map((domain) => domain.toLowerCase());
  return {
    ...(url !== undefined && from !== undefined && { mailer: makeSmtpMailer({ url, from }) }),
    ...(issuer !== undefined && clientId !== undefined && { sso: { issuer, clientId, clientSecret, name, domains } }),
  };
}

/** The folders of programs if `PATH` isn't set. */
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * Creates the first admin from the settings. Without these settings, returns a setup code. Undefined if there already
 * is an admin.
 */
async function makeFirstAdmin(
  settings: Settings,
  { onboarding }: Pick<Identity, "onboarding">,
): Promise<string | undefined> {
  const { bootstrapEmail: email, bootstrapPassword: password } = settings;
  if (email !== undefined && password !== undefined) await onboarding.bootstrap({ email, password });
  return onboarding.makeSetupCode();
}

/**
 * Handles a restored database. The data that sources reported is out of date, so all of it is read again, and the
 * admins are notified.
 */
async function invalidateRestored(
  { identity, content }: { identity: Pick<Identity, "audit">; content: Pick<Content, "invalidateEverything"> },
  { log, say, dataDir }: Pick<StartContext, "log" | "say"> & { dataDir: string },
): Promise<void> {
  const connectors = await content.invalidateEverything();
  await identity.audit.recordEverywhere(actOn("data", "server.restored", { connectors }));
  announceRestored({ dataDir, connectors }, { log, say });
}

const UPKEEP_MS = 3_600_000;
/** A restored database is recognized if it is more than two of these intervals old, in milliseconds. */
const STEP_MS = 10 * 60_000;
/** Milliseconds between the writer's checks for a rebuild that the operator requested, while nothing else is stored. */
const TURN_MS = 10_000;

/**
 * Records weakened security settings in the audit log, and starts the recurring work. Returns the function that stops
 * it.
 */
function startUpkeep(
  settings: Settings,
  {
    identity: { audit, idempotency, sessions },
    content: { eventDelivery },
    log,
    step,
    writer,
  }: {
    identity: Pick<Identity, "audit" | "idempotency" | "sessions">;
    content: Pick<Content, "eventDelivery">;
    log: Log;
    step(): Promise<void>;
    writer: Database["writer"];
  },
): () => void {
  const weakened = weakeningSettings(settings);
  const fail = (error: unknown) => log.error({ err: error }, "upkeep failed");
  if (weakened.length > 0) {
    const act = actOn("settings", "server.weakened", { settings: weakened });
    audit.recordEverywhere(act).catch(fail);
  }
  const everyHour = async () => {
    await audit.sweep();
    await idempotency.sweep();
    await sessions.sweep();
    await eventDelivery.sweep();
  };
  everyHour().catch(fail);
  const timers = [
    setInterval(() => void everyHour().catch(fail), UPKEEP_MS).unref(),
    setInterval(() => void step().catch(fail), STEP_MS).unref(),
    setInterval(() => void writer.call("takeTurn", {}, "batch").catch(fail), TURN_MS).unref(),
  ];
  return () => timers.forEach(clearInterval);
}

async function stopServer(
  { folder, database, content, listener }: Opened,
  {
    settings,
    log,
    identity,
    goDown,
  }: { settings: Settings; log: Log; identity: Pick<Identity, "afterwards" | "audit">; goDown(): void },
): Promise<void> {
  log.info({}, "stopping");
  goDown();
  listener.beginClosing();
  // Requests are handled until load balancers have noticed the shutdown. Each is the last of its connection.
  await sleep(settings.drainS * 1_000);
  const [cut] = await Promise.all([
    listener.close(settings.shutdownTimeoutS * 1_000),
    content.sourceWatcher.stop().then(() => content.worker.stop()),
  ]);
  if (cut > 0) log.warn({ connections: cut }, "connections were closed before their requests ended");
  // The next start sends the events of the last runs.
  await content.eventDelivery.stop();
  // Waits for emails that are being sent. A mail server that hangs doesn't delay the shutdown.
  await Promise.race([identity.afterwards.idle(), sleep(LAST_MESSAGES_MS, undefined, { ref: false })]);
  await content.close();
  // Writes the reads of the last responses.
  await identity.audit.flush();
  await database.close();
  folder.release();
  log.info({}, "stopped");
}

const LAST_MESSAGES_MS = 5_000;

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
