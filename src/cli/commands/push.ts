/** `kb push CONNECTOR [PATH…]`: sends lines and documents to a push connector, with its own key. */
import { createHash } from "node:crypto";
import type { PushResult } from "#api/connector-records.ts";
import { count, plural } from "#api/plural.ts";
import type { PushUpload } from "#api/push.ts";
import { makeApi } from "#cli/calls/api.ts";
import { command, type CommandData, type InputOf, oneOf, ownFields, several } from "#cli/line/command.ts";
import type { Deps } from "#cli/host/deps.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { interrupted, isFailure, notSignedIn, usageFailure } from "#cli/host/failure.ts";
import { chosenFields, makeOutput } from "#cli/terminal/output.ts";
import { askForDocuments, sendDocuments } from "#cli/push/documents.ts";
import { findInputs, type Inputs } from "#cli/push/inputs.ts";
import { makeLineQueue, readLines } from "#cli/push/lines.ts";
import { makeReport, type PushReport } from "#cli/push/report.ts";
import { makeSender, type Sender } from "#cli/push/sender.ts";
import { findCredential, loadSettings, refusePlainHttp, type Settings } from "#cli/login/settings.ts";
import { readSecret } from "#cli/line/values.ts";
import { findConnector } from "#cli/records/find.ts";

/** The length of `kb_con_` plus enough characters to distinguish keys. A server that lists fewer can't know the key. */
const TELLING_PREFIX = "kb_con_".length + 4;

const PUSH = {
  summary: "Send items to a push connector with its key.",
  details:
    "Files that end in .ndjson or .jsonl, and stdin, hold one JSON event per line (docs/sources/push.md); every other file is a document, whose text is stored, and a folder means all documents in it. On a terminal, only failures are printed; otherwise, each result is printed as NDJSON on stdout. Temporary failures are tried again. After an interruption, the same command continues where it stopped. The key comes from KB_CONNECTOR_KEY, or from --key as a reference; a key file is read again if the key is rotated during the push. Lines go to the server in KB_URL or --url, where a connector's ID needs no login, or to the server that you are signed in to.",
  arguments: {
    "<connector>": "the connector: its name (needs a login) or con_…",
    "[path...]": "files, folders and patterns like 'docs/**/*.md' (default: NDJSON on stdin)",
  },
  options: {
    "--key <reference>": "@FILE, env:VARIABLE or - (default: KB_CONNECTOR_KEY)",
    "--whole-set": "the items are the whole set: what you don't send is removed at the end",
    "--as <kind>": oneOf(["lines", "documents"], "read every file in this format (default: by its name)"),
    "--access <principal>": several(
      "who can read documents: workspace, user:usr_… or group:grp_…; may be repeated (default: workspace)",
    ),
    "--name <name>": "a name for the input on stdin, so that you can resume it",
  },
  examples: [
    "kb push tickets --key @tickets.key items.ndjson",
    "kb push con_2345abcd2345abcd items.ndjson",
    "kb push handbook --key @handbook.key --whole-set docs/",
  ],
  exitCodes: [3, 4, 5, 6, 7, 8, 130],
  fields: ownFields<PushResult>("line", "externalId", "result", "error", "notes"),
  isRemote: true,
} as const satisfies CommandData;

type PushInput = InputOf<typeof PUSH>;

/** Sends the named inputs, or stdin; the results go to stdout as they arrive. */
export const push = command(PUSH, async (input, deps) => {
  const settings = await loadSettings(deps, input.options);
  refusePlainHttp(settings.server, deps.env);
  const words = input.args.path.filter((word) => word !== "-");
  if (words.length === 0 && deps.io.isStdinTty)
    throw usageFailure("Nothing to push. Name a file or folder, or pipe in NDJSON.");
  const reference = keyReference(input, deps);
  if (reference === "-" && words.length === 0) throw usageFailure("stdin can't be both the key and the lines.");
  const key = await readKey(reference, deps);
  const connectorId = await findTarget(input.args.connector, key, settings, deps);
  const inputs = await findInputs(words, kindOf(input), deps.cwd);
  const output = makeOutput(input, deps, settings.defaults);
  const isForPrograms = output.format === "json" || !deps.io.isStdoutTty;
  const report = makeReport(deps, output, isForPrograms, chosenFields(input));
  const sender = makeSender(deps, {
    settings,
    key,
    ...(reference !== "-" && { readKeyAgain: () => readKey(reference, deps) }),
    talk: (text) => {
      report.stop();
      output.talk(text);
    },
  });
  const job: Job = { connectorId, inputs, sender, report, deps, input };
  try {
    const upload = await send(job, words.length === 0);
    report.stop();
    output.talk(report.summary());
    if (upload) for (const line of endOf(upload, connectorId)) output.talk(line);
    return report.failed > 0 || (upload && upload.sweepRefused !== null) ? EXIT.finishedWithErrors : EXIT.ok;
  } finally {
    report.stop();
  }
});

interface Job {
  connectorId: string;
  inputs: Inputs;
  sender: Sender;
  report: PushReport;
  deps: Deps;
  input: PushInput;
}

/** Sends lines, then documents, then ends the upload, if there is one. */
async function send(job: Job, isStdin: boolean): Promise<PushUpload | undefined> {
  const { connectorId, inputs, sender, report, deps } = job;
  const access = job.input.options.access;
  const upload = await beginUpload(job, isStdin);
  if (upload && upload.lines > 0) {
    report.skip(upload.lines);
    deps.io.stderr.write(`Continuing after line ${count(upload.lines)}.\n`);
  }
  const uploadId = upload?.id;
  let onResult = report.add;
  const target = {
    sender,
    connectorId,
    uploadId,
    onResult: (result: Parameters<typeof onResult>[0]) => onResult(result),
  };
  const queue = makeLineQueue(target, upload?.lines ?? 0);
  try {
    await readLines(inputs.lines, isStdin ? deps.io.stdin : undefined, queue);
    if (inputs.documents.length > 0) {
      report.expect(inputs.documents.length);
      const list = access.length > 0 ? access : ["workspace"];
      // The server is asked again even if an earlier run asked, because its answers aren't stored.
      const asking = makeLineQueue({ ...target, firstNumber: queue.last + 1 }, 0);
      const missing = await askForDocuments(
        inputs.documents,
        list,
        asking,
        (handler) => (onResult = handler as typeof onResult),
        report.add,
      );
      await sendDocuments({ sender, connectorId, uploadId, access: list, onResult: report.add }, missing);
      return await endUpload(job, upload, asking.last);
    }
    return await endUpload(job, upload, queue.last);
  } catch (error) {
    if (!isFailure(error, "interrupted")) throw error;
    report.stop();
    const next = upload?.name ? "Repeat the command to continue from here." : "You can safely send everything again.";
    throw interrupted(`Interrupted. ${report.summary()} ${next}`);
  }
}

/**
 * Begins an upload if it can be found again, which holds for files, for a set, and for stdin with a name. If an earlier run of the command with the
 * same files is unfinished, its upload is continued.
 */
async function beginUpload(job: Job, isStdin: boolean): Promise<PushUpload | undefined> {
  const { inputs, connectorId, sender, input } = job;
  const isSet = input.options.wholeSet;
  const nameOption = input.options.name;
  if (isStdin && !isSet && nameOption === undefined) return undefined;
  const files = [...inputs.lines, ...inputs.documents].map((file) => [file.path, file.size, file.modifiedMs]);
  const digest = createHash("sha256").update(JSON.stringify(files)).digest("base64url").slice(0, 22);
  const name = nameOption ?? (isStdin ? undefined : `kb push ${digest}`);
  const answer = await sender.run((api) =>
    api.post("/api/connectors/{id}/uploads", {
      params: { path: { id: connectorId } },
      body: { mode: isSet ? "set" : "add", name, resume: name === undefined ? undefined : true },
    }),
  );
  return answer.upload;
}

async function endUpload(
  { connectorId, sender }: Job,
  upload: PushUpload | undefined,
  lines: number,
): Promise<PushUpload | undefined> {
  if (!upload) return undefined;
  const path = { id: connectorId, uploadId: upload.id };
  const answer = await sender.run((api) =>
    api.post("/api/connectors/{id}/uploads/{uploadId}/end", {
      params: { path },
      body: { lines },
    }),
  );
  return answer.upload;
}

function endOf({ mode, swept, sweepRefused }: PushUpload, connectorId: string): string[] {
  if (mode === "add") return [];
  if (sweepRefused !== null) return [`Nothing was removed: ${sweepRefused}`];
  if (swept === null) return [];
  if (swept.held > 0) {
    const what = `${plural(swept.held, "item")} not in the set ${swept.held === 1 ? "waits" : "wait"} for approval, because there are unusually many`;
    return [`${what}: kb connectors removals ${connectorId}`];
  }
  return [`${plural(swept.removed, "item")} not in the set removed.`];
}

function kindOf(input: PushInput): "lines" | "documents" | undefined {
  const kind = input.options.as;
  // The parser accepts only these words.
  return kind === "lines" || kind === "documents" ? kind : undefined;
}

function keyReference(input: PushInput, deps: Deps): string {
  const reference = input.options.key ?? (deps.env["KB_CONNECTOR_KEY"] ? "env:KB_CONNECTOR_KEY" : undefined);
  if (reference === undefined)
    throw notSignedIn(
      "No connector key.",
      "Set KB_CONNECTOR_KEY, or give --key @FILE. kb connectors rotate-key makes one.",
    );
  return reference;
}

async function readKey(reference: string, deps: Deps): Promise<string> {
  const key = await readSecret(reference, "--key", deps);
  // A key is one word of visible ASCII; anything else could inject a header.
  if (!/^[\x21-\x7e]{8,512}$/.test(key)) throw usageFailure(`${reference} does not contain a connector key.`);
  return key;
}

/**
 * Returns the id of the connector to push to. With an explicit address (--url, KB_URL), an id is used unchanged, so that a machine needs only the
 * key. Any other word is looked up with the stored login. If only a profile names the server, which a kb.json may choose, the key is sent only when
 * that server lists it as the connector's own. Source: S48.
 */
async function findTarget(word: string, key: string, settings: Settings, deps: Deps): Promise<string> {
  const isBeside = settings.serverFrom !== "profile";
  if (isBeside && /^con_[a-z0-9]+$/.test(word)) return word;
  const credential = await findCredential(deps, settings, "api");
  if (credential === undefined) {
    throw isBeside
      ? notSignedIn(
          `Not signed in to ${settings.server.baseUrl}, so "${word}" can't be looked up.`,
          `Give the connector's id, con_…, or sign in: kb login ${settings.server.baseUrl}`,
        )
      : usageFailure(
          "A connector key is sent only to the server you name with it, or to one you are signed in to.",
          `Set KB_URL, give --url, or sign in: kb login ${settings.server.baseUrl}`,
        );
  }
  const connector = await findConnector(makeApi(deps, settings, credential), word);
  if (connector.isPushed === false)
    throw usageFailure(
      `"${connector.name}" is a ${connector.providerId} connector: it reads its source itself.`,
      "Only push connectors take items: kb connectors list --provider push",
    );
  const { keyPrefix } = connector;
  const isKnownThere = typeof keyPrefix === "string" && keyPrefix.length >= TELLING_PREFIX && key.startsWith(keyPrefix);
  if (!isBeside && !isKnownThere)
    throw usageFailure(
      `This is not the key of "${connector.name}" on ${settings.server.baseUrl}, so it is not sent there.`,
      "Name the key's server with KB_URL or --url, or make a new key: kb connectors rotate-key",
    );
  return connector.id;
}
