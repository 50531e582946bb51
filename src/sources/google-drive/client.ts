import { defined } from "#core/defined.ts";
import { unavailable } from "#sources/errors.ts";
import type { z } from "zod";
import { isApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import { orNothing } from "#sources/failures.ts";
import type { RequestAuth, SourceRequest, SourceStream } from "#sources/http-contract.ts";
import { makeOddRecords } from "#sources/listed.ts";
import { DIRECTORY_SCOPES, type GoogleDriveConfig, type GooglePlaces } from "./config.ts";
import {
  About,
  Changes,
  Channel,
  DirectoryUsers,
  Domains,
  DriveFile,
  Drives,
  FILE_FIELDS,
  Files,
  isFileId,
  type Me,
  Members,
  PERMISSION_FIELDS,
  PermissionId,
  Permissions,
  type Permission,
  Refusal,
  type SharedDrive,
  StartToken,
  UserInfo,
} from "./records.ts";

export type DriveContext = SourceContext<GoogleDriveConfig>;

export const FOLDER_TYPE = "application/vnd.google-apps.folder";
const ALL = { supportsAllDrives: true } as const;
const PAGE = 1_000;
const DIRECTORY_PAGE = 200;
/** Statuses with which Google rejects an invalid page token. */
const BAD_TOKEN = [400, 410] as const;

/** Makes the client for all calls to Google. Routes are known only in this file. */
export function makeClient({ http }: Pick<DriveContext, "http">, { apiUrl, directoryUrl }: GooglePlaces) {
  const drive = `${apiUrl}/drive/v3`;
  const directory = `${directoryUrl}/admin/directory/v1`;
  const odd = makeOddRecords();

  async function ask<T extends z.ZodType>(url: string, schema: T, more: Partial<SourceRequest> = {}) {
    return (await http.request({ url, auth: true, ...more })).json(schema) as z.infer<T>;
  }

  async function* pages<T extends z.ZodType<{ nextPageToken?: string | undefined }>>(
    url: string,
    schema: T,
    query: NonNullable<SourceRequest["query"]>,
    auth: RequestAuth = true,
    first?: string,
  ): AsyncGenerator<z.infer<T>, void> {
    const seen = new Set<string | undefined>();
    for (let pageToken = first; !seen.has(pageToken);) {
      seen.add(pageToken);
      const page = await ask(url, schema, { query: { ...query, pageToken }, auth });
      yield page;
      pageToken = page.nextPageToken;
      if (pageToken === undefined) return;
    }
    throw unavailable("Google keeps sending the same page.");
  }

  const directoryAuth = { scopes: DIRECTORY_SCOPES };

  const get = (id: string) =>
    ask(`${drive}/files/${encodeURIComponent(id)}`, DriveFile, { query: { fields: FILE_FIELDS, ...ALL } });

  return {
    /** Shared drives and files that were listed or changed, and could not be parsed. */
    odd,
    async me(): Promise<Me> {
      const { user } = await ask(`${drive}/about`, About, { query: { fields: "user" } });
      // Only available for an account that signed in.
      const answer = await http.request({
        url: `${apiUrl}/oauth2/v3/userinfo`,
        auth: true,
        allow: [400, 401, 403, 404],
      });
      const sub = answer.status === 200 ? UserInfo.safeParse(answer.json()).data?.sub : undefined;
      return { ...user, ...defined({ sub }) };
    },

    root: () => ask(`${drive}/files/root`, DriveFile, { query: { fields: "id,name" } }),
    get,
    /**
     * Returns a file; undefined if it doesn't exist, or isn't shared with this account.
     * @throws ApiError `source_forbidden`
     */
    async find(id: string): Promise<DriveFile | undefined> {
      if (!isFileId(id)) return undefined;
      try {
        return await get(id);
      } catch (error) {
        if (!isApiError(error, "source_not_found") && !isApiError(error, "source_gone")) throw error;
        return undefined;
      }
    },

    async drives(): Promise<SharedDrive[]> {
      const found: SharedDrive[] = [];
      const fields = "nextPageToken,drives(id,name,restrictions(domainUsersOnly,driveMembersOnly))";
      for await (const page of pages(`${drive}/drives`, Drives, { pageSize: 100, fields }))
        found.push(...odd.known(page.drives));
      return found.sort((a, b) => (a.id < b.id ? -1 : 1));
    },

    /**
     * Lists the matches in a shared drive, or in the account's own and shared files. `from` is the page at which the
     * listing starts.
     */
    async *list(q: string, driveId: string | undefined, from?: string, pageSize = PAGE) {
      const corpus = driveId === undefined ? { corpora: "user" } : { corpora: "drive", driveId };
      const fields = `nextPageToken,incompleteSearch,files(${FILE_FIELDS})`;
      const query = {
        q: `trashed=false and ${q}`,
        ...corpus,
        ...ALL,
        includeItemsFromAllDrives: true,
        pageSize,
        fields,
      };
      for await (const page of pages(`${drive}/files`, Files, query, true, from))
        yield { ...page, files: odd.known(page.files) };
    },

    async permissions(id: string): Promise<Permission[]> {
      const found: Permission[] = [];
      const query = { ...ALL, pageSize: 100, fields: `nextPageToken,permissions(${PERMISSION_FIELDS})` };
      for await (const page of pages(`${drive}/files/${encodeURIComponent(id)}/permissions`, Permissions, query))
        found.push(...page.permissions);
      return found;
    },

    async startToken(driveId: string | undefined): Promise<string> {
      const query = { ...ALL, driveId };
      return (await ask(`${drive}/changes/startPageToken`, StartToken, { query })).startPageToken;
    },

    /** Returns a page of changes. @throws ApiError `cursor_expired` for a token that Google no longer accepts */
    async changes(pageToken: string, driveId: string | undefined) {
      const fields = `nextPageToken,newStartPageToken,changes(changeType,removed,fileId,file(${FILE_FIELDS}))`;
      const query = {
        pageToken,
        driveId,
        ...ALL,
        includeItemsFromAllDrives: true,
        includeRemoved: true,
        pageSize: PAGE,
        fields,
      };
      const page = await ask(`${drive}/changes`, Changes, { query, expired: BAD_TOKEN });
      return { ...page, changes: odd.known(page.changes) };
    },

    /** Subscribes an address to Google's notifications of changes from now on. */
    watch(
      pageToken: string,
      driveId: string | undefined,
      channel: { id: string; address: string; token: string; expiration: number },
    ) {
      const query = { pageToken, driveId, ...ALL, includeItemsFromAllDrives: true, includeRemoved: true };
      const body = { ...channel, type: "web_hook", expiration: String(channel.expiration) };
      return ask(`${drive}/changes/watch`, Channel, { method: "POST", query, json: body });
    },
    async stopChannel(channel: { id: string; resourceId: string }): Promise<void> {
      // An expired channel no longer exists, which isn't an error.
      await http.request({
        method: "POST",
        url: `${drive}/channels/stop`,
        json: channel,
        auth: true,
        allow: [400, 404, 410],
      });
    },

    /**
     * Returns the id that permissions use for an email address; undefined if Google has no account with this address.
     */
    async permissionIdOf(email: string): Promise<string | undefined> {
      const url = `${apiUrl}/drive/v2/permissionIds/${encodeURIComponent(email)}`;
      const answer = await http.request({ url, auth: true, allow: [400, 404] });
      return answer.status === 200 ? answer.json(PermissionId).id : undefined;
    },

    download: (id: string, maxBytes: number): Promise<SourceStream> =>
      http.stream({ url: mediaUrl(id), auth: true, maxBytes, headers: { "accept-encoding": "identity" } }),
    export: (id: string, mimeType: string, maxBytes: number) =>
      http.request({ url: exportUrl(id, mimeType), auth: true, maxBytes }),

    /** Returns Google's reason for refusing a content. */
    async refusalOf(id: string, mimeType?: string): Promise<string | undefined> {
      const url = mimeType === undefined ? mediaUrl(id) : exportUrl(id, mimeType);
      const answer = await http
        .request({ url, auth: true, allow: [403], maxBytes: 16 * 1024 * 1024 })
        .catch(() => undefined);
      if (answer?.status !== 403) return undefined;
      return Refusal.safeParse(answer.json()).data?.error.errors.find(({ reason }) => reason !== undefined)?.reason;
    },

    /** Returns the verified domains of the organization. */
    async domains(): Promise<string[]> {
      const { domains } = await ask(`${directory}/customer/my_customer/domains`, Domains, { auth: directoryAuth });
      return domains.flatMap(({ domainName, verified }) => (verified === true ? [domainName.toLowerCase()] : []));
    },
    users: () =>
      pages(
        `${directory}/users`,
        DirectoryUsers,
        { customer: "my_customer", maxResults: 500, orderBy: "email" },
        directoryAuth,
      ),
    /** Lists the members of a group, including those of nested groups. */
    members(email: string) {
      const url = `${directory}/groups/${encodeURIComponent(email)}/members`;
      return pages(url, Members, { includeDerivedMembership: true, maxResults: DIRECTORY_PAGE }, directoryAuth);
    },
  };

  function mediaUrl(id: string): string {
    return `${drive}/files/${encodeURIComponent(id)}?alt=media&supportsAllDrives=true`;
  }
  function exportUrl(id: string, mimeType: string): string {
    return `${drive}/files/${encodeURIComponent(id)}/export?mimeType=${encodeURIComponent(mimeType)}`;
  }
}
export type DriveClient = ReturnType<typeof makeClient>;

/**
 * Does the same as `orNothing` for the directory, whose requests use a separate token that may be refused or belong to
 * another origin.
 */
export async function fromDirectory<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await orNothing(read);
  } catch (error) {
    if (!isApiError(error, "source_unauthorized") && !isApiError(error, "address_not_allowed")) throw error;
    return undefined;
  }
}
