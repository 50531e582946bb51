import type { SourceProblem } from "#api/common.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/contract.ts";
import { makeClient } from "./client.ts";
import { baseOf, type WebdavConfig } from "./config.ts";

type Outcome = { ok: true; warnings?: string[] } | { ok: false; problem: SourceProblem };

/** Whether the folder can be listed; what is wrong is told with what to do. */
export async function checkCollection(ctx: SourceContext<WebdavConfig>): Promise<Outcome> {
  try {
    const { self, entries } = await makeClient(ctx).list("");
    if (!self.isFolder) {
      const message = `${ctx.config.url} is a file.`;
      return { ok: false, problem: { code: CODE, message, hint: "Give the address of its folder.", field: "url" } };
    }
    const files = entries.filter(({ isFolder }) => !isFolder);
    const hasNoTags = files.length > 0 && files.every(({ etag }) => etag === undefined);
    const warnings = [
      ...(entries.length === 0 ? ["The folder is empty."] : []),
      ...(hasNoTags ? ["The server gives no ETags. kb recognizes a change by the file's size and time."] : []),
    ];
    return { ok: true, ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { ok: false, problem: problemOf(error, ctx.config) };
  }
}

const CODE = "connector_check_failed";

const NEXTCLOUD = "In Nextcloud, it is https://<host>/remote.php/dav/files/<user>/: see Files settings > WebDAV.";

function problemOf(error: ApiError, config: WebdavConfig): SourceProblem {
  const { code, message, hint, retryAfterMs } = error;
  const { host } = baseOf(config);
  const status = error.details?.["status"];
  const about = (text: string, todo: string): SourceProblem => ({ code, message: text, hint: todo, field: "url" });
  if (isApiError(error, "source_unauthorized")) {
    return {
      code,
      message: `${host} does not accept this sign-in (HTTP 401).`,
      hint: "Check the user name and password. In Nextcloud, create an app password under Settings > Security.",
      field: "credentials",
    };
  }
  if (isApiError(error, "source_forbidden")) {
    return about(
      `${host} does not let this user read the folder (HTTP 403).`,
      "Ask for read access, or give another folder.",
    );
  }
  if (isApiError(error, "source_not_found") || isApiError(error, "source_gone")) {
    return about(
      `${host} has no folder at this address (HTTP ${String(status ?? 404)}).`,
      `Check the address. ${NEXTCLOUD}`,
    );
  }
  if (isApiError(error, "source_unavailable") && typeof status === "number" && NO_DAV.has(status)) {
    return about(`${host} does not speak WebDAV at this address (HTTP ${status}).`, `Check the address. ${NEXTCLOUD}`);
  }
  return { code, message, field: "url", ...defined({ hint: hint ?? HINTS[code], retryAfterMs }) };
}

/** A server without PROPFIND there. */
const NO_DAV: ReadonlySet<number> = new Set([400, 405, 415, 501]);

const HINTS: Readonly<Record<string, string>> = {
  source_unavailable: `Check the address, and that the server is running. ${NEXTCLOUD}`,
};
