import { useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useState } from "react";
import { cleanLine } from "#api/clean.ts";
import type { BrowseAnswer } from "#api/connector-records.ts";
import { MAX_SCOPE_TITLE_CHARS } from "#api/scope-title.ts";
import { browseQuery, type BrowseTarget } from "#server/web/app/data/connectors.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { Button, IconButton } from "#server/web/app/ui/button.tsx";
import { SearchField } from "#server/web/app/ui/search-field.tsx";
import { count } from "#api/plural.ts";

type Node = BrowseAnswer["nodes"][number];

export interface ChooserProps {
  /**
   * Returns the target to browse, from the form's current values; undefined while a field needs input. That field then
   * has the focus.
   */
  readTarget(): BrowseTarget | undefined;
  included: readonly string[];
  onChange(included: readonly string[]): void;
  /** Known names, each with the name of its parent before it. */
  titles: ReadonlyMap<string, string>;
  onLearn(titles: ReadonlyMap<string, string>): void;
  /** False = only screen readers get the chooser's title, because the page already shows a title. */
  isTitled?: false;
}

/** The source's content as a tree. Ticked entries are indexed; if nothing is ticked, everything is. Stores nothing. */
export function Chooser({ readTarget, included, onChange, titles, onLearn, isTitled }: ChooserProps) {
  const [target, setTarget] = useState<BrowseTarget>();
  const [query, setQuery] = useState("");
  const wanted = useDeferredValue(query.trim());
  const browse = () => setTarget(readTarget() ?? target);
  const learn = (nodes: readonly Node[]) => {
    const named = nodes.map((node) => [node.id, placedTitle(node, titles)] as const);
    if (named.some(([id, title]) => titles.get(id) !== title)) onLearn(new Map([...titles, ...named]));
  };
  return (
    <fieldset>
      <legend className={isTitled === false ? "sr-only" : "mb-1 font-medium"}>What to index</legend>
      <p className="text-muted mb-2 text-xs" aria-live="polite">
        {included.length > 0
          ? `${count(included.length)} chosen.`
          : target === undefined
            ? "Everything. Browse to choose parts of it."
            : "Everything, until you choose parts of it here."}
      </p>
      {included.length > 0 && <Chosen included={included} onChange={onChange} titles={titles} />}
      {target === undefined ? (
        <Button onClick={browse}>Browse</Button>
      ) : (
        <>
          <SearchField
            className="placeholder:text-muted/80 mb-2 max-sm:min-h-10"
            label="Find by name"
            onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
            onType={setQuery}
            value={query}
          />
          <div className="border-line max-h-80 overflow-y-auto rounded-md border px-3 py-2">
            <Level
              included={included}
              isWithin={false}
              key={wanted}
              learn={learn}
              onChange={onChange}
              parent={null}
              target={target}
              wanted={wanted}
            />
          </div>
          <div className="mt-2 flex flex-wrap gap-2">
            <Button kind="quiet" onClick={browse}>
              Reload
            </Button>
            {included.length > 0 && (
              <Button kind="quiet" onClick={() => onChange([])}>
                Index everything
              </Button>
            )}
          </div>
        </>
      )}
    </fieldset>
  );
}

/** Returns the names of the chosen entries in the form that the server stores. */
export function titlesOf(included: readonly string[], titles: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries(
    included.flatMap((id) => {
      const title = cleanLine(titles.get(id) ?? "", MAX_SCOPE_TITLE_CHARS);
      return title === "" ? [] : [[id, title] as const];
    }),
  );
}

/** Returns `acme/website`: a name after the names of its parents that are known. */
function placedTitle({ title, parent }: Node, titles: ReadonlyMap<string, string>): string {
  const holder = parent === null ? undefined : titles.get(parent);
  return holder === undefined || title.startsWith(`${holder}/`) ? title : `${holder}/${title}`;
}

/**
 * The chosen entries by name, including those hidden by a search or a closed branch. Only entries that the tree has
 * shown have names.
 */
function Chosen({ included, titles, onChange }: Pick<ChooserProps, "included" | "onChange" | "titles">) {
  return (
    <ul aria-label="Chosen" className="mb-2 flex flex-wrap gap-1.5">
      {included.map((id) => {
        const title = titles.get(id) ?? id;
        return (
          <li key={id}>
            <button
              aria-label={`Remove ${title}`}
              className="bg-accent-soft text-accent-strong hover:bg-ink/10 inline-flex min-h-6 items-center gap-1.5 rounded px-2 text-xs wrap-anywhere max-sm:min-h-8"
              onClick={() => onChange(included.filter((one) => one !== id))}
              type="button"
            >
              <bdi>{title}</bdi>
              <span aria-hidden="true">×</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

interface LevelProps extends Pick<ChooserProps, "included" | "onChange"> {
  target: BrowseTarget;
  parent: string | null;
  /** The part of a name that is searched for. */
  wanted: string;
  /** A parent is chosen, so this entry is chosen too. */
  isWithin: boolean;
  learn(nodes: readonly Node[]): void;
}

function Level({ target, parent, wanted, ...rest }: LevelProps) {
  const { learn } = rest;
  const query = useInfiniteQuery(browseQuery(target, { parent, ...(wanted !== "" && { query: wanted }) }));
  const { data } = query;
  // oxlint-disable-next-line react/exhaustive-deps -- `learn` only adds what is not known yet
  useEffect(() => data && learn(data), [data]);
  return (
    <LoadedPages query={query}>
      {(nodes) =>
        nodes.length === 0 ? (
          <p className="text-muted py-1">{wanted === "" ? "Nothing here" : "Nothing found"}</p>
        ) : (
          <ul>
            {nodes.map((node) => (
              <Branch
                isAlone={parent === null && nodes.length === 1}
                key={node.id}
                node={node}
                target={target}
                {...rest}
              />
            ))}
          </ul>
        )
      }
    </LoadedPages>
  );
}

/** A branch of the tree. Everything below a found node is shown. A node without siblings is open. */
function Branch({
  node,
  isAlone,
  isWithin,
  ...rest
}: Omit<LevelProps, "parent" | "wanted"> & { node: Node; isAlone: boolean }) {
  const { id, title, selectable, expandable, count: items } = node;
  const [isOpen, setOpen] = useState(isAlone && expandable);
  const { included, onChange } = rest;
  const isChosen = included.includes(id);
  return (
    <li>
      <div className="flex items-center gap-1">
        {expandable ? (
          <IconButton
            aria-expanded={isOpen}
            icon={isOpen ? "down" : "right"}
            label={`${isOpen ? "Close" : "Open"} ${title}`}
            onClick={() => setOpen(!isOpen)}
          />
        ) : (
          <span className="w-8 max-sm:w-10" />
        )}
        <label className="flex min-w-0 flex-1 items-center gap-2 py-1 wrap-anywhere">
          {selectable && (
            <input
              checked={isChosen || isWithin}
              className="accent-accent size-4 shrink-0"
              disabled={isWithin && !isChosen}
              onChange={(event) =>
                onChange(event.currentTarget.checked ? [...included, id] : included.filter((one) => one !== id))
              }
              type="checkbox"
            />
          )}
          <bdi>{title}</bdi>
          {items !== undefined && <span className="text-muted text-xs">{count(items)}</span>}
        </label>
      </div>
      {isOpen && (
        <div className="border-line ml-4 border-l pl-2">
          <Level isWithin={isWithin || isChosen} parent={id} wanted="" {...rest} />
        </div>
      )}
    </li>
  );
}
