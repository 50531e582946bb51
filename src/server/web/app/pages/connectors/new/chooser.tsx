import { useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import type { BrowseAnswer, BrowseBody } from "#api/connector-records.ts";
import { count } from "#api/plural.ts";
import { browseQuery } from "#server/web/app/data/connectors.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { Button, IconButton } from "#server/web/app/ui/button.tsx";

type Node = BrowseAnswer["nodes"][number];

export interface ChooserProps {
  /** What the form says now; undefined while a field needs the person, which then has the focus. */
  readBody(): BrowseBody | undefined;
  included: readonly string[];
  onChange(included: readonly string[]): void;
}

/** What the source holds, as a tree: what is ticked is indexed, and all of it while nothing is. Stores nothing. */
export function Chooser({ readBody, included, onChange }: ChooserProps) {
  const [body, setBody] = useState<BrowseBody>();
  const [query, setQuery] = useState("");
  const wanted = useDeferredValue(query.trim());
  const browse = () => setBody(readBody() ?? body);
  return (
    <fieldset>
      <legend className="mb-1 font-medium">What to index</legend>
      <p className="text-muted mb-2 text-xs" aria-live="polite">
        {included.length === 0 ? "Everything. Browse to choose parts of it." : `${count(included.length)} chosen.`}
      </p>
      {body === undefined ? (
        <Button onClick={browse}>Browse</Button>
      ) : (
        <>
          <input
            aria-label="Find by name"
            autoComplete="off"
            className="bg-surface border-edge placeholder:text-muted/80 mb-2 w-full rounded-md border px-2.5 py-1.5 text-sm max-sm:min-h-10"
            onChange={(event) => setQuery(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
            placeholder="Find by name"
            type="search"
            value={query}
          />
          <div className="border-line max-h-80 overflow-y-auto rounded-md border px-3 py-2">
            <Level
              body={wanted === "" ? body : { ...body, query: wanted }}
              included={included}
              key={wanted}
              onChange={onChange}
              parent={null}
            />
          </div>
          <div className="mt-2 flex flex-wrap gap-2">
            <Button kind="quiet" onClick={browse}>
              Browse again
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

interface LevelProps extends Pick<ChooserProps, "included" | "onChange"> {
  body: BrowseBody;
  parent: string | null;
}

function Level({ body, parent, included, onChange }: LevelProps) {
  const query = useInfiniteQuery(browseQuery({ ...body, parent }));
  return (
    <LoadedPages query={query} rowsOf={({ nodes }) => nodes}>
      {(nodes) =>
        nodes.length === 0 ? (
          <p className="text-muted py-1">{body.query === undefined ? "Nothing here" : "Nothing found"}</p>
        ) : (
          <ul>
            {nodes.map((node) => (
              <Branch body={body} included={included} key={node.id} node={node} onChange={onChange} />
            ))}
          </ul>
        )
      }
    </LoadedPages>
  );
}

/** What is below a node that was found is shown whole. */
function withoutQuery({ query: _query, ...body }: BrowseBody): BrowseBody {
  return body;
}

function Branch({ node, ...rest }: Omit<LevelProps, "parent"> & { node: Node }) {
  const [isOpen, setOpen] = useState(false);
  const { included, onChange } = rest;
  const { id, title, selectable, expandable, count: items } = node;
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
              checked={included.includes(id)}
              className="accent-accent size-4 shrink-0"
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
          <Level parent={id} {...rest} body={withoutQuery(rest.body)} />
        </div>
      )}
    </li>
  );
}
