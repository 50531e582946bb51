import type { BrowseNode } from "#sources/contract.ts";
import { readableName } from "#sources/file-scope/folders.ts";
import { type DriveClient, type DriveContext, FOLDER_TYPE } from "./client.ts";
import { isFileId } from "./records.ts";
import { SHARED_WITH_ME } from "./tree.ts";

const PAGE = 200;

/** Lists drives, and the folders in them. */
export async function browseDrive(
  { config }: Pick<DriveContext, "config">,
  client: DriveClient,
  at: { parent: string | null; query?: string; cursor?: string },
): Promise<{ nodes: BrowseNode[]; nextCursor: string | null }> {
  const { parent, query, cursor } = at;
  const wanted = query?.trim().toLowerCase() ?? "";
  if (parent === null) {
    const drives = (await client.drives()).filter(({ id }) => config.drives.length === 0 || config.drives.includes(id));
    const { id } = await client.root();
    const places = [
      ...(config.myDrive
        ? [
            { id, name: "My Drive" },
            { id: SHARED_WITH_ME, name: "Shared with me" },
          ]
        : []),
      ...drives,
    ].filter(({ name }) => name.toLowerCase().includes(wanted));
    const from = cursor === undefined ? 0 : Math.max(0, places.findIndex((place) => place.id === cursor) + 1);
    const page = places.slice(from, from + PAGE);
    const nextCursor = places.length > from + page.length ? (page.at(-1)?.id ?? null) : null;
    return { nodes: page.map((place) => toNode(place, null, "drive")), nextCursor };
  }
  if (!isFileId(parent)) return { nodes: [], nextCursor: null };
  const where = parent === SHARED_WITH_ME ? "sharedWithMe=true" : `'${parent}' in parents`;
  const named = wanted === "" ? "" : ` and name contains '${wanted.replace(/['\\]/g, "\\$&")}'`;
  const drive = (await client.find(parent))?.driveId;
  const pages = client.list(`mimeType='${FOLDER_TYPE}' and ${where}${named}`, drive, cursor, PAGE);
  const { value } = await pages.next();
  const nodes = (value?.files ?? []).map((folder) => toNode(folder, parent, "folder"));
  return { nodes, nextCursor: value?.nextPageToken ?? null };
}

function toNode({ id, name }: { id: string; name: string }, parent: string | null, kind: string): BrowseNode {
  return { id, parent, title: readableName(name), kind, selectable: true, expandable: true };
}
