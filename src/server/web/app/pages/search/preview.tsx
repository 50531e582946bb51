import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { itemQuery, itemTextQuery } from "#server/web/app/data/item.ts";
import { ItemText } from "#server/web/app/pages/item/item-text.tsx";
import { Loaded } from "#server/web/app/shell/loaded.tsx";

/** The text of an item below its result, in its own scroll area. */
export function Preview({ kbId, title }: { kbId: string; title: string }) {
  const text = useInfiniteQuery(itemTextQuery(kbId));
  return (
    <section aria-label={`Text of ${title}`} className="mt-3 max-h-96 overflow-y-auto">
      <Loaded query={useQuery(itemQuery(kbId))}>{(file) => <ItemText file={file} query={text} />}</Loaded>
    </section>
  );
}
