import { createContext, use, useEffect, useId, useRef, useState, type ComponentProps, type ReactNode } from "react";
import { problemBesideFields } from "#server/web/app/data/problem.ts";
import { useAct, type Outcome } from "./act.ts";
import { Button, type ButtonKind } from "./button.tsx";
import { ProblemNotice } from "./notice.tsx";
import type { Choice } from "./picker.tsx";

interface FormState {
  errors: Readonly<Record<string, string>>;
}

const FormContext = createContext<FormState>({ errors: {} });

export interface FormProps<Result> extends Outcome<Result> {
  /** Submits the input. A `Problem` that it throws is shown next to the fields that it names, else above the button. */
  onSubmit(fields: FormData): Promise<Result>;
  /** The label of the button. */
  submit: string;
  submitKind?: ButtonKind;
  /** Shown next to the button, such as a link or a way back. */
  secondary?: ReactNode;
  isWide?: boolean;
  /** Clears the form after it was sent, because passwords must not stay. */
  resets?: boolean;
  children: ReactNode;
}

/** A form that submits, shows that it is busy, and shows the server's errors next to each field. */
export function Form<Result>({
  onSubmit,
  submit,
  submitKind = "primary",
  secondary,
  isWide = false,
  resets = false,
  children,
  onDone,
  ...outcome
}: FormProps<Result>) {
  const form = useRef<HTMLFormElement>(null);
  const [names, setNames] = useState<readonly string[]>([]);
  const { run, isBusy, problem } = useAct(onSubmit, {
    ...outcome,
    onDone(result) {
      if (resets) form.current?.reset();
      return onDone?.(result);
    },
  });

  // The first invalid field gets the focus, so that people don't have to search for it.
  useEffect(() => {
    if (problem === undefined) return;
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    // In a closed `details` element, the error would be hidden.
    for (let fold = wrong?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
    wrong?.focus();
  }, [problem]);

  return (
    <FormContext value={{ errors: problem?.fields ?? {} }}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          setNames([...event.currentTarget.elements].map((element) => element.getAttribute("name") ?? ""));
          run(new FormData(event.currentTarget));
        }}
        ref={form}
      >
        {children}
        <ProblemNotice problem={problem && problemBesideFields(problem, names)} />
        <div className={`flex flex-wrap items-center gap-x-4 gap-y-2 ${isWide ? "" : "pt-1"}`}>
          <Button className={isWide ? "w-full" : ""} isBusy={isBusy} kind={submitKind} type="submit">
            {submit}
          </Button>
          {secondary}
        </div>
      </form>
    </FormContext>
  );
}

interface FieldProps {
  name: string;
  label: string;
  hint?: ReactNode;
  /** The field is optional, which is shown next to the label. */
  isOptional?: boolean | undefined;
}

const CONTROL =
  "bg-surface border-edge placeholder:text-muted/80 w-full min-w-0 rounded-md border px-2.5 py-1.5 text-sm max-sm:min-h-10 " +
  "max-sm:text-base aria-invalid:border-danger disabled:opacity-60 [&[readonly]]:bg-sunken [&[readonly]]:text-muted";

/** A line of text. The browser completes nothing unless `autoComplete` says what the field contains. */
export function TextField({
  name,
  label,
  hint,
  isOptional,
  className = "",
  ...rest
}: FieldProps & ComponentProps<"input">) {
  return (
    <Field hint={hint} isOptional={isOptional} label={label} name={name}>
      {(control) => (
        <input
          autoComplete="off"
          required={!isOptional}
          {...rest}
          {...control}
          className={`${CONTROL} ${className}`}
          name={name}
        />
      )}
    </Field>
  );
}

/** A field for the email address with which a person signs in. */
export function EmailField(props: Partial<ComponentProps<typeof TextField>>) {
  return <TextField autoComplete="email" label="Email address" name="email" type="email" {...props} />;
}

/** A field for the name of a thing. */
export function NameField(props: { maxLength: number } & Partial<ComponentProps<typeof TextField>>) {
  return <TextField label="Name" name="name" {...props} />;
}

/** Lines of text. */
export function TextAreaField({
  name,
  label,
  hint,
  isOptional,
  className = "",
  ...rest
}: FieldProps & ComponentProps<"textarea">) {
  return (
    <Field hint={hint} isOptional={isOptional} label={label} name={name}>
      {(control) => (
        <textarea
          required={!isOptional}
          rows={3}
          spellCheck={false}
          {...rest}
          {...control}
          className={`${CONTROL} block ${className}`}
          name={name}
        />
      )}
    </Field>
  );
}

/** A password field. The password is hidden until the person chooses to show it. */
export function PasswordField({ name, label, hint, isOptional, ...rest }: FieldProps & ComponentProps<"input">) {
  const [isShown, setShown] = useState(false);
  return (
    <Field
      hint={hint ?? (rest.autoComplete === "new-password" ? NEW_PASSWORD : undefined)}
      isOptional={isOptional}
      label={label}
      name={name}
    >
      {(control) => (
        <div className="relative">
          <input
            maxLength={1024}
            required={!isOptional}
            {...rest}
            {...control}
            className={`${CONTROL} pr-16`}
            name={name}
            type={isShown ? "text" : "password"}
          />
          <button
            aria-label={isShown ? `Hide ${label.toLowerCase()}` : `Show ${label.toLowerCase()}`}
            className="text-muted hover:text-ink absolute inset-y-0 right-0 rounded-md px-2.5 text-xs font-medium"
            onClick={() => setShown(!isShown)}
            type="button"
          >
            {isShown ? "Hide" : "Show"}
          </button>
        </div>
      )}
    </Field>
  );
}

/** Shown before a new password is typed. The server checks the password. */
const NEW_PASSWORD = "Use at least 12 characters, such as a few unrelated words.";

interface SelectProps extends Omit<ComponentProps<"select">, "name" | "onChange"> {
  choices: readonly Choice[];
  onChoose?(value: string): void;
}

/** A field for one of a few choices. The browser's own control works on every device and with every screen reader. */
export function SelectField({ name, label, hint, choices, onChoose, ...rest }: FieldProps & SelectProps) {
  return (
    <Field hint={hint} label={label} name={name}>
      {(control) => (
        <select
          {...rest}
          {...control}
          className={`${CONTROL} pr-8`}
          name={name}
          onChange={(event) => onChoose?.(event.currentTarget.value)}
        >
          {choices.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Fields about the same subject, below its name. */
export function Fieldset({ legend, className, children }: { legend: string; className?: string; children: ReactNode }) {
  return (
    <fieldset className={className}>
      <legend className="mb-1 font-medium">{legend}</legend>
      {children}
    </fieldset>
  );
}

/** A checkbox, with the effect of checking it. */
export function CheckboxField({
  label,
  hint,
  ...rest
}: { label: string; hint?: ReactNode } & Omit<ComponentProps<"input">, "type">) {
  const { control, error } = useControl(rest.name, hint);
  return (
    <div className="flex items-start gap-2.5 py-1">
      <input {...rest} {...control} className="accent-accent mt-0.5 size-4 shrink-0" type="checkbox" />
      <div className="min-w-0 flex-1">
        <label className="block wrap-anywhere" htmlFor={control.id}>
          {label}
        </label>
        <Below control={control} error={error} hint={hint} />
      </div>
    </div>
  );
}

interface ControlProps {
  id: string;
  "aria-invalid": boolean | undefined;
  "aria-describedby": string | undefined;
}

/** Connects a control with its hint and the server's error about it, so that screen readers read both with it. */
function useControl(name = "", hint: ReactNode): { control: ControlProps; error: string | undefined } {
  const id = useId();
  const error = use(FormContext).errors[name];
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  return {
    control: {
      id,
      "aria-invalid": error !== undefined || undefined,
      "aria-describedby": described.length > 0 ? described.join(" ") : undefined,
    },
    error,
  };
}

/** The hint and the error of a control. */
function Below({
  control: { id },
  hint,
  error,
  className = "",
}: {
  control: ControlProps;
  hint: ReactNode;
  error: string | undefined;
  className?: string;
}) {
  return (
    <>
      {hint !== undefined && (
        <p className={`text-muted text-xs wrap-anywhere ${className}`} id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p className="text-danger mt-1 text-xs font-medium" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </>
  );
}

function Field({
  name,
  label,
  hint,
  isOptional,
  children,
}: FieldProps & { children: (control: ControlProps) => ReactNode }) {
  const { control, error } = useControl(name, hint);
  return (
    <div>
      <label className="mb-1 flex items-baseline justify-between gap-2 font-medium" htmlFor={control.id}>
        {label}
        {isOptional && <span className="text-muted text-xs font-normal">optional</span>}
      </label>
      {children(control)}
      <Below className="mt-1" control={control} error={error} hint={hint} />
    </div>
  );
}

/** Returns the trimmed text of a field; empty if there is no such field. */
export function text(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** Returns a password as typed, because spaces are significant. */
export function secret(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value : "";
}
