import type { SourceProblem } from "#api/common.ts";
import type { ApiError } from "#api/errors.ts";
import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import type { SourceContext } from "#sources/context.ts";
import { makeClient } from "./client.ts";
import { baseOf, type WebdavConfig } from "./config.ts";

/** Checks whether the folder can be listed. Each problem comes with the next step. */
export function checkCollection(ctx: SourceContext<WebdavConfig>): Promise<CheckOutcome> {
  return runCheck(
    ctx,
    (error) => wordsOf(error, ctx.config),
    async () => {
      const { self, entries } = await makeClient(ctx).list("");
      if (!self.isFolder) return { problem: fileProblem(ctx.config) };
      const files = entries.filter(({ isFolder }) => !isFolder);
      const hasNoTags = files.length > 0 && files.every(({ etag }) => etag === undefined);
      const warnings = [
        ...(entries.length === 0 ? ["The folder is empty."] : []),
        ...(hasNoTags ? ["The server sends no ETags. kb recognizes a change by the file's size and time."] : []),
      ];
      return { warnings };
    },
  );
}

function fileProblem({ url }: WebdavConfig): SourceProblem {
  const hint = "Give the address of its folder.";
  return { code: "connector_check_failed", message: `${url} is a file.`, hint, field: "url" };
}

const NEXTCLOUD = "In Nextcloud, it is https://<host>/remote.php/dav/files/<user>/: see Files settings > WebDAV.";

function wordsOf(error: ApiError, config: WebdavConfig): FailureWords {
  const { host } = baseOf(config);
  const status = error.details?.["status"];
  const hint = `Check the address. ${NEXTCLOUD}`;
  const noFolder = {
    message: `${host} has no folder at this address (HTTP ${String(status ?? 404)}).`,
    hint,
    field: "url",
  };
  const isNoDav = typeof status === "number" && NO_DAV.has(status);
  const noDav = { message: `${host} does not speak WebDAV at this address (HTTP ${status}).`, hint, field: "url" };
  const down = { hint: error.hint ?? `Check the address, and that the server is running. ${NEXTCLOUD}`, field: "url" };
  return {
    source_unauthorized: {
      message: `${host} does not accept this sign-in (HTTP 401).`,
      hint: "Check the user name and password. In Nextcloud, create an app password under Settings > Security.",
      field: "credentials",
    },
    source_forbidden: {
      message: `${host} does not let this user read the folder (HTTP 403).`,
      hint: "Ask for read access, or give another folder.",
      field: "url",
    },
    source_not_found: noFolder,
    source_gone: noFolder,
    source_unavailable: isNoDav ? noDav : down,
    otherwise: { field: "url" },
  };
}

/** Statuses of a server that doesn't support PROPFIND at this address. */
const NO_DAV: ReadonlySet<number> = new Set([400, 405, 415, 501]);
