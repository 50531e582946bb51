import { EntryCard } from "./entry.tsx";

/** The page of a link, opened without its secret: typed by hand, or loaded again. */
export function NoLink({ title }: { title: string }) {
  return (
    <EntryCard
      below={<a href="/">Go to the start</a>}
      lead="This page is opened by a link. Open the link again: its secret part is taken out of the address bar and is gone once the page is loaded anew."
      title={title}
    />
  );
}
