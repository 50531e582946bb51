import { EntryCard } from "./entry.tsx";

/** The page of a link that was opened without its secret because it was typed by hand or reloaded. */
export function NoLink({ title }: { title: string }) {
  return (
    <EntryCard
      below={<a href="/">Go to the home page</a>}
      lead="Open the link from your message again. You can't reload this page, because kb removes the link's secret from the address bar."
      title={title}
    />
  );
}
