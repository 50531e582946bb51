import type { SourceItem } from "./item.ts";

type None = Extract<SourceItem["content"], { type: "none" }>;

export function none(reason: NonNullable<None["reason"]>): None {
  return { type: "none", reason };
}

export function textContent(text: string): SourceItem["content"] {
  return text === "" ? none("empty") : { type: "inline", text };
}
