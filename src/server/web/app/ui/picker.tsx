import type { ReactNode } from "react";

export type Choice = readonly [value: string, label: string];

interface PickerProps {
  label: string;
  value: string;
  onChoose(value: string): void;
  className?: string;
  /** `Options` elements, or groups of them. */
  children: ReactNode;
}

/** A control for one of a few choices outside a form, such as a filter. Screen readers get its label. */
export function Picker({ label, onChoose, className = PLAIN, ...rest }: PickerProps) {
  return (
    <select
      {...rest}
      aria-label={label}
      className={`min-h-8 rounded-md border px-2 max-sm:min-h-10 ${className}`}
      onChange={(event) => onChoose(event.currentTarget.value)}
    />
  );
}

/** The colours of a control in which no value is selected. */
export const PLAIN = "border-edge/60 bg-surface";

export function Options({ choices }: { choices: readonly Choice[] }) {
  return choices.map(([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));
}
