import type { Deadline } from "./deadline.ts";
import type { Filter } from "./filters.ts";
import type { Norm } from "./score.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";

/** What an evaluation works on: the segments with their filters, seen by one viewer. */
export interface SearchContext {
  segments: readonly SegmentView[];
  filters: readonly (Filter | undefined)[];
  /** What the viewer may see: a bit per document of each segment. */
  documents: readonly Uint32Array[];
  norm: Norm;
  deadline: Deadline;
}
