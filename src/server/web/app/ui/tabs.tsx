import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

/**
 * Pages about the same subject, of which one is shown. Arrow keys move through the tabs, which wrap if there is little
 * room.
 */
export function Tabs({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly { id: string; title: string; body: ReactNode }[];
}) {
  return (
    <Base.Root defaultValue={tabs[0]?.id}>
      <Base.List aria-label={label} className="border-line mb-4 flex flex-wrap gap-x-1 border-b">
        {tabs.map(({ id, title }) => (
          <Base.Tab
            className="text-muted hover:text-ink data-[active]:border-accent data-[active]:text-ink -mb-px rounded-t border-b-2 border-transparent px-2.5 py-1.5 font-medium outline-offset-[-2px]"
            key={id}
            value={id}
          >
            {title}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, body }) => (
        <Base.Panel className="space-y-4 outline-offset-4" key={id} value={id}>
          {body}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
