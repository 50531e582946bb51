import { join } from "node:path";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/contract.ts";
import { mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import type { GitConfig } from "./config.ts";
import { COMMIT_PREFIX, isItemPath } from "./judge.ts";
import { folderOf, type GitEnvironment } from "./mirror.ts";
import { makeObjectReader, type ObjectReader } from "./objects.ts";
import { runGit } from "./program.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";

type Context = Pick<SourceContext<GitConfig>, "config" | "connector" | "signal">;

/** The contents of items, by one reader for each mirror: `connector.id` names it. */
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
      const fileName = externalId.slice(externalId.lastIndexOf("/") + 1);
      const isCommit = externalId.startsWith(COMMIT_PREFIX);
      const isAllowed = isItemPath(externalId) && (ctx.config.secretFiles || !isSecretFile(fileName));
      if (isCommit || !isAllowed) throw notFound(externalId);
      const name = ref ?? (await nameOf(environment, ctx, externalId));
      const found = await readerOf(ctx.connector.id).open(name, maxFileBytes(ctx.config));
      if (!found) throw notFound(externalId);
      const content = found instanceof Uint8Array ? { bytes: found } : { stream: found };
      const mimeType = mimeHintOf(fileName);
      // What a reference names never changes.
      return { ...content, fileName, ...defined({ mimeType, version: ref === undefined ? undefined : version }) };
    },
  };
}

/** The object at a path of the newest commit that the mirror has. */
async function nameOf(environment: GitEnvironment, ctx: Context, path: string): Promise<string> {
  const gitDir = join(folderOf(environment, ctx.connector.id), "mirror.git");
  const args = ["ls-tree", "-z", "--full-tree", "refs/kb/target", "--", path];
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

function notFound(externalId: string, cause?: unknown): ApiError {
  return new ApiError("source_not_found", {
    message: `This repository has no readable file ${JSON.stringify(externalId.slice(0, 200))}.`,
    cause,
  });
}
