import { Parser } from "htmlparser2";
import { type MediaFacts, note, readDate } from "./facts.ts";

/** Reads an XMP packet, in which values can be elements or attributes. Never throws. */
export function readXmp(text: string, facts: MediaFacts): void {
  const found = new Map<string, string[]>();
  const add = (name: string, value: string) => {
    const line = value.trim();
    if (line !== "") found.set(name, [...(found.get(name) ?? []).slice(0, 100), line]);
  };
  const open: string[] = [];
  let words = "";
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        words = "";
        open.push(name);
        for (const [key, value] of Object.entries(attributes)) if (NAMES.has(key)) add(key, value);
      },
      ontext: (data) => void (words += data),
      onclosetag() {
        const name = open.pop() ?? "";
        // The items of a list are two levels below the element that names the list.
        const owner = name === "rdf:li" ? open.findLast((outer) => NAMES.has(outer)) : name;
        if (owner !== undefined && NAMES.has(owner)) add(owner, words);
        words = "";
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(text.slice(0, 1_000_000));
  const all = (name: string) => [...new Set(found.get(name) ?? [])].join(", ");
  note(facts, "title", found.get("dc:title")?.[0] ?? found.get("photoshop:Headline")?.[0]);
  note(facts, "description", found.get("dc:description")?.[0]);
  note(facts, "author", all("dc:creator"));
  note(facts, "keywords", all("dc:subject"));
  note(facts, "copyright", found.get("dc:rights")?.[0]);
  note(
    facts,
    "place",
    ["Iptc4xmpCore:Location", "photoshop:City", "photoshop:State", "photoshop:Country"]
      .map(all)
      .filter(Boolean)
      .join(", "),
  );
  note(facts, "created", readDate(found.get("photoshop:DateCreated")?.[0] ?? found.get("xmp:CreateDate")?.[0]));
}

const NAMES: ReadonlySet<string> = new Set([
  "dc:title",
  "dc:description",
  "dc:creator",
  "dc:subject",
  "dc:rights",
  "photoshop:Headline",
  "photoshop:City",
  "photoshop:State",
  "photoshop:Country",
  "photoshop:DateCreated",
  "xmp:CreateDate",
  "Iptc4xmpCore:Location",
]);
