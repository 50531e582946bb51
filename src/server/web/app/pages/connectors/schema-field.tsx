import { FileField } from "#server/web/app/ui/file-field.tsx";
import {
  CheckboxField,
  Fieldset,
  PasswordField,
  SelectField,
  TextAreaField,
  TextField,
} from "#server/web/app/ui/form.tsx";
import { sentenceCase } from "#server/web/app/ui/sentence-case.ts";
import type { SchemaField as Field } from "./schema-fields.ts";

/** The maximum length of a one-line secret that a source accepts. */
const SECRET_CHARS = 4_096;

interface SchemaFieldProps {
  field: Field;
  /** The initial text, instead of the server's default. */
  preset?: string;
}

/** A field for a setting or a secret of a source, from the source's schema. */
export function SchemaField({ field, preset }: SchemaFieldProps) {
  const { name, title, description, isRequired, type, choices, fallback, isSecret } = field;
  const common = { name, label: title, ...(description !== undefined && { hint: description }) };
  switch (type) {
    case "yesNo":
      return <CheckboxField {...common} defaultChecked={fallback === true} value="yes" />;
    case "one":
      return (
        <SelectField
          {...common}
          choices={[
            ...(isRequired ? [] : [["", "Not set"] as const]),
            ...choices.map((choice) => [choice, choice] as const),
          ]}
          defaultValue={typeof fallback === "string" ? fallback : ""}
        />
      );
    case "some":
      return (
        <Fieldset legend={title}>
          {description && <p className="text-muted mb-1 text-xs">{description}</p>}
          {choices.map((choice) => (
            <CheckboxField
              defaultChecked={Array.isArray(fallback) && fallback.includes(choice)}
              key={choice}
              label={sentenceCase(choice)}
              name={name}
              value={choice}
            />
          ))}
        </Fieldset>
      );
    case "list":
      return (
        <TextAreaField
          {...common}
          defaultValue={Array.isArray(fallback) ? fallback.join("\n") : ""}
          hint={`${description ?? ""} One per line.`.trim()}
          isOptional={!isRequired}
        />
      );
    case "lines":
      return (
        <FileField
          {...common}
          autoComplete="off"
          className={`font-mono text-[0.8125rem] ${isSecret ? "[-webkit-text-security:disc] focus:[-webkit-text-security:none]" : ""}`}
          defaultValue={typeof fallback === "string" ? fallback : ""}
          isOptional={!isRequired}
          rows={5}
        />
      );
    case "number":
      return (
        <TextField
          {...common}
          defaultValue={typeof fallback === "number" ? fallback : ""}
          inputMode="decimal"
          isOptional={!isRequired}
          pattern="-?[0-9]+([.][0-9]+)?"
        />
      );
    case "text":
      return isSecret ? (
        <PasswordField {...common} autoComplete="off" isOptional={!isRequired} maxLength={SECRET_CHARS} />
      ) : (
        <TextField
          {...common}
          defaultValue={preset ?? (typeof fallback === "string" ? fallback : "")}
          isOptional={!isRequired}
          spellCheck={false}
        />
      );
  }
}

/** Fields for several settings. */
export function SchemaFields({ fields }: { fields: readonly Field[] }) {
  return fields.map((field) => <SchemaField field={field} key={field.key} />);
}
