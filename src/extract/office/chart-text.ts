import { type Block, ITEM } from "./blocks.ts";
import type { OfficePackage, Relationships } from "./package.ts";
import { xstring } from "./xstring.ts";

export type GraphicKind = "chart" | "diagram";

/** Reads the chart or diagram to which a relationship leads. */
export function readGraphic(file: OfficePackage, relationships: Relationships, kind: GraphicKind, id: string): Block[] {
  const part = relationships.get(id);
  if (part === undefined || part.isExternal) return [];
  return kind === "chart" ? readChart(file, part.target) : readDiagram(file, part.target);
}

/** Reads the words and values of a chart: its titles become a paragraph, each series a row of names and values. */
function readChart(file: OfficePackage, partName: string): Block[] {
  const chart = new ChartReader();
  file.walk(partName, chart);
  return chart.blocks();
}

/** Reads the words of a diagram (SmartArt), one paragraph for each of its shapes. */
function readDiagram(file: OfficePackage, partName: string): Block[] {
  const blocks: Block[] = [];
  let text = "";
  let isText = false;
  file.walk(partName, {
    open(name) {
      if (name === "dgm:pt") text = "";
      else if (name === "a:t") isText = true;
      else if (name === "a:p" && text !== "") text += "\n";
    },
    text: (data) => void (isText && text.length < MAX_LENGTH && (text += data)),
    close(name) {
      if (name === "a:t") isText = false;
      else if (name === "dgm:pt" && text.trim() !== "") blocks.push({ kind: "paragraph", text });
    },
    isDone: () => blocks.length > MAX_BLOCKS,
  });
  return blocks;
}

const MAX_LENGTH = 100_000;
const MAX_BLOCKS = 2_000;
const MAX_POINTS = 2_000;

class ChartReader {
  private readonly words: string[] = [];
  private readonly series: { name: string; categories: string[]; values: string[] }[] = [];
  /** Which list of the series is being filled: its name, the names of its points, or their values. */
  private target: "name" | "categories" | "values" | undefined;
  private value = "";
  private paragraph = "";
  private reading: "words" | "value" | undefined;

  open(name: string): void {
    if (name === "c:ser") this.series.push({ name: "", categories: [], values: [] });
    else if (name === "c:tx") this.target = "name";
    else if (name === "c:cat" || name === "c:xVal") this.target = "categories";
    else if (name === "c:val" || name === "c:yVal") this.target = "values";
    else if (name === "a:p") this.paragraph = "";
    else if (name === "a:t") this.reading = "words";
    else if (name === "c:v") {
      this.reading = "value";
      this.value = "";
    }
  }

  text(data: string): void {
    if (this.reading === "words" && this.paragraph.length < MAX_LENGTH) this.paragraph += data;
    else if (this.reading === "value" && this.value.length < 1_000) this.value += data;
  }

  close(name: string): void {
    if (name === "a:t" || name === "c:v") this.reading = undefined;
    if (name === "c:v") this.addValue();
    else if (name === "a:p" && this.paragraph.trim() !== "" && this.words.length < MAX_BLOCKS)
      this.words.push(this.paragraph.trim());
    else if (TARGETS.has(name)) this.target = undefined;
  }

  isDone(): boolean {
    return this.series.length > 200;
  }

  blocks(): Block[] {
    const blocks: Block[] = [];
    if (this.words.length > 0) blocks.push({ kind: "paragraph", text: `[chart: ${this.words.join(", ")}]` });
    for (const { name, categories, values } of this.series) {
      const points = values.map((value, index) => `${categories[index] ?? ""} ${rounded(value)}`.trim());
      const rest = categories.slice(values.length);
      const line = [...points, ...rest].join(", ");
      const text = name === "" ? line : line === "" ? name : `${name}: ${line}`;
      if (text !== "") blocks.push({ kind: "paragraph", text, ...ITEM });
    }
    return blocks;
  }

  private addValue(): void {
    const series = this.series.at(-1);
    const value = xstring(this.value).trim();
    if (series === undefined || this.target === undefined) return;
    if (this.target === "name") series.name = series.name === "" ? value : `${series.name} ${value}`;
    else if (series[this.target].length < MAX_POINTS) series[this.target].push(value);
  }
}

const TARGETS = new Set(["c:tx", "c:cat", "c:xVal", "c:val", "c:yVal"]);

/** Formats a number without the noise of its binary form. */
function rounded(value: string): string {
  const number = Number(value);
  return value === "" || !Number.isFinite(number) ? value : String(Number(number.toPrecision(12)));
}
