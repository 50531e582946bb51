import { z } from "zod";
import { PUSH_LIMITS } from "./lines.ts";
import { PushLine } from "./shape.ts";

/** Returns the JSON Schema of a pushed line, for `docs/push-line.schema.json`. */
export function makePushLineSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(PushLine, { io: "input" });
  return {
    $schema,
    title: "A line pushed to kb",
    description: `One JSON object per line, at most ${PUSH_LIMITS.maxLineBytes} bytes and ${PUSH_LIMITS.maxDepth} levels deep. See docs/sources/push.md for the rules that a schema can't express.`,
    ...schema,
  };
}
