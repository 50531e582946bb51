import { z } from "zod";
import { cleanName } from "./names.ts";
import { type PageRecord, plainOf } from "./records.ts";

const Property = z.looseObject({ type: z.string() });
const Named = z.object({ name: z.string() });
const MAX_VALUE = 10_000;

/** Returns the title of a page, which is one of its properties. */
export function titleOf({ properties }: Pick<PageRecord, "properties">): string {
  for (const value of Object.values(properties)) {
    const property = Property.safeParse(value).data;
    if (property?.type === "title") return cleanName(plainOf(property["title"]));
  }
  return cleanName("");
}

/** Returns the other properties as list lines, in the form in which people see them in a row. */
export function propertyLines({ properties }: Pick<PageRecord, "properties">): string[] {
  return Object.entries(properties)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => {
      const property = Property.safeParse(value).data;
      if (!property || property.type === "title") return [];
      const shown = valueOf(property).replace(/\s+/g, " ").trim();
      return shown === "" ? [] : [`- ${cleanName(name)}: ${shown.slice(0, MAX_VALUE)}`];
    });
}

/**
 * Returns the text of a property's value.
 * @param isInner  true for a value of a rollup, since such a value contains no rollups
 */
function valueOf(property: z.infer<typeof Property>, isInner = false): string {
  const value = property[property.type];
  switch (property.type) {
    case "rich_text":
    case "title":
      return plainOf(value);
    case "number":
    case "url":
    case "email":
    case "phone_number":
    case "string":
      return typeof value === "string" || typeof value === "number" ? String(value) : "";
    case "boolean":
    case "checkbox":
      return typeof value === "boolean" ? (value ? "yes" : "no") : "";
    case "select":
    case "status":
      return nameOf(value);
    case "multi_select":
    case "people":
    case "files":
      return Array.isArray(value)
        ? value
            .map(nameOf)
            .filter((name) => name !== "")
            .join(", ")
        : "";
    case "date": {
      const { start, end } = DateValue.safeParse(value).data ?? {};
      return [start, end].filter((each) => typeof each === "string").join(" – ");
    }
    case "unique_id": {
      const { prefix, number } = UniqueId.safeParse(value).data ?? {};
      return number === undefined ? "" : prefix ? `${prefix}-${number}` : String(number);
    }
    case "formula":
    case "rollup": {
      const inner = Property.safeParse(value).data;
      if (!inner || isInner) return "";
      if (inner.type !== "array") return valueOf(inner, true);
      const list = Array.isArray(inner["array"]) ? inner["array"].slice(0, 100) : [];
      return list
        .flatMap((each) => Property.safeParse(each).data ?? [])
        .map((each) => valueOf(each, true))
        .filter((each) => each !== "")
        .join(", ");
    }
    default:
      return "";
  }
}

const DateValue = z.object({ start: z.string(), end: z.string().nullish() });
const UniqueId = z.object({ prefix: z.string().nullish(), number: z.number() });

function nameOf(value: unknown): string {
  return cleanName(Named.safeParse(value).data?.name ?? "", "");
}
