import { shown } from "#sources/errors.ts";
import { join } from "node:path";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/context.ts";
import { mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import { hasByteSegment, lastSegmentOf, plainPath, readableSegment } from "#sources/file-scope/paths.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import type { GitConfig } from "./config.ts";
import { COMMIT_PREFIX, isItemPath } from "./judge.ts";
import { folderOf, type GitEnvironment } from "./mirror.ts";
import { makeObjectReader, type ObjectReader } from "./objects.ts";
import { runGit } from "./program.ts";
import { entryAt } from "./tree.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";

type Context = Pick<SourceContext<GitConfig>, "config" | "connector" | "signal">;

/** Reads the contents of items, with one reader for each mirror. `connector.id` names the mirror. */
export function makeContents(environment: GitEnvironment) {
  const readers = new Map<string, ObjectReader>();
  const readerOf = (connectorId: string): ObjectReader => {
    const gitDir = join(folderOf(environment, connectorId), "mirror.git");
    const reader = readers.get(connectorId) ?? makeObjectReader(environment.program, gitDir);
    readers.set(connectorId, reader);
    return reader;
  };
  return {
    close(connectorId: string): void {
      readers.get(connectorId)?.close();
      readers.delete(connectorId);
    },
    async read(ctx: Context, { externalId, ref, version }: { externalId: string; ref?: string; version?: string }) {
      const name = lastSegmentOf(externalId);
      const fileName = readableSegment(name);
      const isCommit = externalId.startsWith(COMMIT_PREFIX);
      const isAllowed = isItemPath(externalId) && (ctx.config.secretFiles || !isSecretFile(plainPath(name)));
      if (isCommit || !isAllowed) throw notFound(externalId);
      const object = ref ?? (await objectOf(environment, ctx, externalId));
      const found = await readerOf(ctx.connector.id).open(object, maxFileBytes(ctx.config));
      if (!found) throw notFound(externalId);
      const content = found instanceof Uint8Array ? { bytes: found } : { stream: found };
      const mimeType = mimeHintOf(fileName);
      // The content behind a `ref` never changes.
      return { ...content, fileName, ...defined({ mimeType, version: ref === undefined ? undefined : version }) };
    },
  };
}

/** Returns the object at a path of the newest commit in the mirror. */
async function objectOf(environment: GitEnvironment, ctx: Context, path: string): Promise<string> {
  const gitDir = join(folderOf(environment, ctx.connector.id), "mirror.git");
  if (hasByteSegment(path)) {
    const place = { program: environment.program, gitDir, signal: ctx.signal };
    const found = await entryAt(place, TARGET, path).catch((cause: unknown) => {
      ctx.signal.throwIfAborted();
      throw notFound(path, cause);
    });
    if (found === undefined || !/^100\d{3}$/.test(found.mode)) throw notFound(path);
    return found.oid;
  }
  const args = ["ls-tree", "-z", "--full-tree", TARGET, "--", path];
  const output = await runGit(environment.program, args, { gitDir, signal: ctx.signal, timeoutMs: 30_000 }).catch(
    (cause: unknown) => {
      ctx.signal.throwIfAborted();
      throw notFound(path, cause);
    },
  );
  const [, mode, oid] = /^(100\d{3}) blob ([0-9a-f]{40,64})\t/.exec(output.stdout.toString("latin1")) ?? [];
  if (output.code !== 0 || mode === undefined || oid === undefined) throw notFound(path);
  return oid;
}

const TARGET = "refs/kb/target";

function notFound(externalId: string, cause?: unknown): ApiError {
  return new ApiError("source_not_found", {
    message: `This repository has no readable file ${shown(externalId)}.`,
    cause,
  });
}
