import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { placesOf } from "#api/clean.ts";
import type { FileRecord } from "#api/files.ts";
import { isOwnUrl } from "#api/own-url.ts";
import { sourcesQuery } from "#server/web/app/data/connectors.ts";
import { itemQuery, itemTextQuery } from "#server/web/app/data/item.ts";
import { sourceWords } from "#server/web/app/data/search-words.ts";
import { LoadedPage } from "#server/web/app/shell/loaded-page.tsx";
import { Breadcrumb, PageHeading } from "#server/web/app/shell/page.tsx";
import { Badge } from "#server/web/app/ui/bits.tsx";
import { buttonClass } from "#server/web/app/ui/button.tsx";
import { CopyButton } from "#server/web/app/ui/copy-field.tsx";
import { Icon } from "#server/web/app/ui/icon.tsx";
import { About } from "./about.tsx";
import { ItemText } from "./item-text.tsx";
import { textKindOf } from "./text-kind.ts";

/**
 * The permanent page of an item, `/i/<kbId>`: what the item is, where it comes from, who may see it, and its text,
 * shown by its type. A person who may not read the item gets the same page as for an item that doesn't exist.
 */
export function Page() {
  const { kbId = "" } = useParams({ strict: false });
  const text = useInfiniteQuery(itemTextQuery(kbId));
  return (
    <LoadedPage query={useQuery(itemQuery(kbId))}>
      {(file) => (
        <>
          <Place file={file} />
          <PageHeading action={<Acts file={file} />} title={file.title}>
            <Badges file={file} />
          </PageHeading>
          <div className="space-y-5">
            <About file={file} isMail={textKindOf(file) === "mail"} />
            <ItemText file={file} query={text} />
          </div>
        </>
      )}
    </LoadedPage>
  );
}

/** The source, the folders and the file's name. The title follows as the heading. */
function Place({ file }: { file: FileRecord }) {
  const places = placesOf(file);
  const source = sourceWords(file.source, useQuery(sourcesQuery).data?.sources);
  if (places.at(-1) === file.title) places.pop();
  return (
    <Breadcrumb>
      <ol className="flex flex-wrap items-center gap-x-1.5 gap-y-0.5">
        {[source, ...places].map((part, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- two folders may have the same name
          <li className="flex min-w-0 items-center gap-1.5" key={at}>
            {at > 0 && <span aria-hidden="true">/</span>}
            <bdi className="wrap-anywhere">{part}</bdi>
          </li>
        ))}
      </ol>
    </Breadcrumb>
  );
}

/** A task's key, its state and its labels. */
function Badges({ file }: { file: FileRecord }) {
  const { kind, key, status, labels } = file;
  const known = kind === "task" ? key : null;
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {known && <span className="text-ink font-mono text-[0.8125rem] wrap-anywhere">{known}</span>}
      <Badge>
        <span className="capitalize">{kind}</span>
      </Badge>
      {status && (
        <Badge tone={status === "done" ? "ok" : "accent"}>
          <span className="capitalize">{status.replaceAll("_", " ")}</span>
        </Badge>
      )}
      {labels.slice(0, MOST_LABELS).map((label) => (
        <Badge key={label}>
          <bdi className="wrap-anywhere">{label}</bdi>
        </Badge>
      ))}
    </span>
  );
}

const MOST_LABELS = 20;

function Acts({ file: { kbId, url } }: { file: FileRecord }) {
  return (
    <div className="flex flex-wrap gap-2">
      <CopyButton label="the link to this item" value={`${window.location.origin}/i/${kbId}`}>
        Copy link
      </CopyButton>
      {url && isWebAddress(url) && !isOwnUrl(url, window.location.origin) && (
        <a className={buttonClass("plain")} href={url} rel="noopener noreferrer" target="_blank">
          Open original
          <Icon name="external" />
        </a>
      )}
    </div>
  );
}

/** Whether a value becomes a link. Only web addresses do; other values from a source are shown as text. */
function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url);
}
