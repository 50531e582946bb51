import { createContext, use, useEffect, useId, useRef, useState, type ComponentProps, type ReactNode } from "react";
import { problemBesideFields, toProblem, type Problem } from "#server/web/app/data/problem.ts";
import { Button, type ButtonKind } from "./button.tsx";
import { ProblemNotice } from "./notice.tsx";

interface FormState {
  errors: Readonly<Record<string, string>>;
}

const FormContext = createContext<FormState>({ errors: {} });

export interface FormProps {
  /** Submits the input; a `Problem` that it throws is shown next to the fields it names, else above the button. */
  onSubmit(fields: FormData): Promise<unknown>;
  /** The label of the button. */
  submit: string;
  submitKind?: ButtonKind;
  /** Next to the button: a link, a way back. */
  secondary?: ReactNode;
  isWide?: boolean;
  /** Cleared after it was sent: passwords must not stay. */
  resets?: boolean;
  children: ReactNode;
}

/** A form that submits itself, waits, and shows the server's errors next to each field. */
export function Form({ onSubmit, submit, submitKind = "primary", secondary, isWide, resets, children }: FormProps) {
  const [failure, setFailure] = useState<{ problem: Problem; rest: Problem | undefined }>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const isRunning = useRef(false);

  // The first invalid field gets the focus, so that people don't have to search for it.
  useEffect(() => {
    if (failure === undefined) return;
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    // In a closed `details` element, no one would see the error.
    for (let fold = wrong?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
    wrong?.focus();
  }, [failure]);

  async function send(fields: FormData): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setFailure(undefined);
    try {
      await onSubmit(fields);
      if (resets === true) form.current?.reset();
    } catch (error) {
      const problem = toProblem(error);
      const names = [...(form.current?.elements ?? [])].map((element) => element.getAttribute("name") ?? "");
      setFailure({ problem, rest: problemBesideFields(problem, names) });
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  }

  return (
    <FormContext value={{ errors: failure?.problem.fields ?? {} }}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          void send(new FormData(event.currentTarget));
        }}
        ref={form}
      >
        {children}
        {failure?.rest && <ProblemNotice problem={failure.rest} />}
        <div className={`flex flex-wrap items-center gap-x-4 gap-y-2 ${isWide === true ? "" : "pt-1"}`}>
          <Button className={isWide === true ? "w-full" : ""} isBusy={isBusy} kind={submitKind} type="submit">
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
  /** Optional: shown next to the label. */
  isOptional?: boolean;
}

const CONTROL =
  "bg-surface border-edge placeholder:text-muted/80 w-full min-w-0 rounded-md border px-2.5 py-1.5 text-sm max-sm:min-h-10 " +
  "max-sm:text-base aria-invalid:border-danger disabled:opacity-60 [&[readonly]]:bg-sunken [&[readonly]]:text-muted";

/** A line of text. */
export function TextField({
  name,
  label,
  hint,
  isOptional,
  className = "",
  ...rest
}: FieldProps & ComponentProps<"input">) {
  return (
    <Field hint={hint} isOptional={isOptional === true} label={label} name={name}>
      {(control) => (
        <input
          required={isOptional !== true}
          {...rest}
          {...control}
          className={`${CONTROL} ${className}`}
          name={name}
        />
      )}
    </Field>
  );
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
    <Field hint={hint} isOptional={isOptional === true} label={label} name={name}>
      {(control) => (
        <textarea
          required={isOptional !== true}
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

/** The text of a file, such as a key: pasted, or read from the file. It stays here until the form is sent. */
export function FileField(props: FieldProps & ComponentProps<"textarea">) {
  const frame = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState("");

  async function take(file: File): Promise<void> {
    const area = frame.current?.querySelector("textarea");
    if (!area) return;
    setProblem(file.size > MAX_FILE_BYTES ? `${file.name} is too large to be a key.` : "");
    if (file.size <= MAX_FILE_BYTES) area.value = await file.text();
  }

  return (
    <div ref={frame}>
      <TextAreaField {...props} />
      <label className="text-accent focus-within:outline-accent mt-1.5 inline-flex cursor-pointer items-center rounded-md font-medium underline underline-offset-2 focus-within:outline-2 focus-within:outline-offset-2 max-sm:min-h-10">
        Choose a file
        <input
          aria-label={`File for ${props.label.toLowerCase()}`}
          className="sr-only"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            // Allows choosing the same file again after it was edited.
            event.currentTarget.value = "";
            if (file) void take(file);
          }}
          type="file"
        />
      </label>
      <p aria-live="polite" className="text-danger text-xs font-medium">
        {problem}
      </p>
    </div>
  );
}

const MAX_FILE_BYTES = 64_000;

/** A password: hidden until the person chooses to show it. */
export function PasswordField({ name, label, hint, isOptional, ...rest }: FieldProps & ComponentProps<"input">) {
  const [isShown, setShown] = useState(false);
  return (
    <Field
      hint={hint ?? (rest.autoComplete === "new-password" ? NEW_PASSWORD : undefined)}
      isOptional={isOptional === true}
      label={label}
      name={name}
    >
      {(control) => (
        <div className="relative">
          <input
            maxLength={1024}
            required={isOptional !== true}
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

/** Shown before a new one is typed; the server checks it. */
const NEW_PASSWORD = "Use at least 12 characters, such as a few unrelated words.";

export interface Choice {
  value: string;
  label: string;
}

/** One of a few choices. The browser's own control works on every device and with every screen reader. */
export function SelectField({
  name,
  label,
  hint,
  choices,
  ...rest
}: FieldProps & { choices: readonly Choice[] } & ComponentProps<"select">) {
  return (
    <Field hint={hint} label={label} name={name}>
      {(control) => (
        <select {...rest} {...control} className={`${CONTROL} pr-8`} name={name}>
          {choices.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A checkbox, with the meaning of checking it. */
export function CheckboxField({
  label,
  hint,
  ...rest
}: { label: string; hint?: string } & Omit<ComponentProps<"input">, "type">) {
  const id = useId();
  const error = use(FormContext).errors[rest.name ?? ""];
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  return (
    <div className="flex items-start gap-2.5 py-1">
      <input
        {...rest}
        aria-describedby={described.length > 0 ? described.join(" ") : undefined}
        aria-invalid={error !== undefined || undefined}
        className="accent-accent mt-0.5 size-4 shrink-0"
        id={id}
        type="checkbox"
      />
      <div className="min-w-0 flex-1">
        <label className="block wrap-anywhere" htmlFor={id}>
          {label}
        </label>
        {hint !== undefined && (
          <p className="text-muted text-xs wrap-anywhere" id={`${id}-hint`}>
            {hint}
          </p>
        )}
        {error !== undefined && (
          <p className="text-danger mt-1 text-xs font-medium" id={`${id}-error`} role="alert">
            {error}
          </p>
        )}
      </div>
    </div>
  );
}

interface ControlProps {
  id: string;
  "aria-invalid": boolean | undefined;
  "aria-describedby": string | undefined;
}

function Field({
  name,
  label,
  hint,
  isOptional,
  children,
}: FieldProps & { children: (control: ControlProps) => ReactNode }) {
  const id = useId();
  const error = use(FormContext).errors[name];
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  const control: ControlProps = {
    id,
    "aria-invalid": error !== undefined || undefined,
    "aria-describedby": described.length > 0 ? described.join(" ") : undefined,
  };
  return (
    <div>
      <label className="mb-1 flex items-baseline justify-between gap-2 font-medium" htmlFor={id}>
        {label}
        {isOptional === true && <span className="text-muted text-xs font-normal">optional</span>}
      </label>
      {children(control)}
      {hint !== undefined && (
        <p className="text-muted mt-1 text-xs wrap-anywhere" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p className="text-danger mt-1 text-xs font-medium" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** The text of a field, trimmed; empty when there is no such field. */
export function text(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** A password as typed: spaces count. */
export function secret(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value : "";
}
