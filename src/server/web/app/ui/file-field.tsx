import { useRef, useState, type ComponentProps } from "react";
import { TextAreaField } from "./form.tsx";

/**
 * A field for the text of a file, such as a key, which is pasted or read from the file. The text stays in the browser
 * until the form is sent.
 */
export function FileField(props: ComponentProps<typeof TextAreaField>) {
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
