import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

/** A button that opens a list of acts; arrow keys walk it, Escape closes it. */
export function Menu({
  trigger,
  children,
  side,
}: {
  trigger: ReactElement;
  children: ReactNode;
  side?: "top" | "bottom";
}) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner align="start" className="z-40" side={side ?? "bottom"} sideOffset={4}>
          <Base.Popup className="bg-raised border-line shadow-lift max-w-72 min-w-52 rounded-lg border p-1 outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

const ITEM =
  "flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left outline-none select-none max-sm:min-h-10 " +
  "data-[highlighted]:bg-accent-soft data-[highlighted]:text-accent-strong cursor-pointer";

/** One act of a menu. */
export function MenuItem({ icon, onSelect, children }: { icon?: IconName; onSelect(): void; children: ReactNode }) {
  return (
    <Base.Item className={ITEM} onClick={onSelect}>
      {icon && <Icon name={icon} />}
      <span className="min-w-0 truncate">{children}</span>
    </Base.Item>
  );
}

/** One of several of which exactly one holds. */
export function MenuChoice<V extends string>({
  label,
  value,
  choices,
  onChoose,
}: {
  label: string;
  value: V;
  choices: readonly { value: V; label: string; icon?: IconName }[];
  onChoose(value: V): void;
}) {
  return (
    <Base.Group>
      <Base.GroupLabel className="text-muted px-2 pt-1.5 pb-1 text-xs font-medium">{label}</Base.GroupLabel>
      <Base.RadioGroup onValueChange={onChoose} value={value}>
        {choices.map((choice) => (
          <Base.RadioItem className={ITEM} closeOnClick key={choice.value} value={choice.value}>
            {choice.icon && <Icon name={choice.icon} />}
            <span className="min-w-0 flex-1 truncate">{choice.label}</span>
            <Base.RadioItemIndicator>
              <Icon name="check" />
            </Base.RadioItemIndicator>
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  );
}

/** A line between parts of a menu. */
export function MenuLine() {
  return <Base.Separator className="bg-line -mx-1 my-1 h-px" />;
}
