import type { Noun } from "#cli/line/command.ts";
import { listDeliveries, replay, testTarget } from "./events/deliveries.ts";
import {
  addTarget,
  listTargets,
  listTypes,
  pauseTarget,
  removeTarget,
  resumeTarget,
  rotateSecret,
  showTarget,
  updateTarget,
} from "./events/targets.ts";

export const events: Noun = {
  summary: "Events that are sent to your systems.",
  verbs: {
    list: listTargets,
    types: listTypes,
    show: showTarget,
    add: addTarget,
    update: updateTarget,
    pause: pauseTarget,
    resume: resumeTarget,
    test: testTarget,
    deliveries: listDeliveries,
    replay,
    "rotate-secret": rotateSecret,
    remove: removeTarget,
  },
};
