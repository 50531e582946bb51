import type { ComponentProps } from "react";

interface SearchFieldProps extends Omit<ComponentProps<"input">, "onChange"> {
  label: string;
  onType(text: string): void;
}

/** A field for words to search for in the displayed list. Screen readers get its label. */
export function SearchField({ label, onType, className = "", ...rest }: SearchFieldProps) {
  return (
    <input
      autoComplete="off"
      placeholder={label}
      {...rest}
      aria-label={label}
      className={`bg-surface border-edge w-full rounded-md border px-2.5 py-1.5 text-sm ${className}`}
      onChange={(event) => onType(event.currentTarget.value)}
      type="search"
    />
  );
}
